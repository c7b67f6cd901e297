/*
 * The short report, for a terminal: at most 25 lines of 100 columns. A sentence says who serves the loads; a table has
 * the loads and misses of each level in percent. Internal to report.c, but for the parts of the report.
 */
#ifndef SIM_REPORT_SHORT_H
#define SIM_REPORT_SHORT_H

#include <stdio.h>

#include "sim/report/report.h"

/* Prints a short report, on behalf of sim_report_print. */
void sim_report_short(const struct sim_report *r, FILE *out);

#endif
