/* Lines of all reports about the machine and the trace, each behind a prefix. */
#ifndef SIM_REPORT_PARTS_H
#define SIM_REPORT_PARTS_H

#include <stdio.h>

#include "sim/report/report.h"

void sim_report_machine(const struct sim_report *r, const char *prefix, FILE *out);
void sim_report_trace(const struct sim_report *r, const char *prefix, FILE *out);

#endif
