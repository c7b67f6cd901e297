/*
 * The timing estimate (estimate.h) in a report: for every source of loads (the caches, the memory) the served loads,
 * their cost, and the sum of SConv Eq. 6. Left out if the machine states no latencies. Internal to report.c.
 */
#ifndef SIM_REPORT_ESTIMATE_H
#define SIM_REPORT_ESTIMATE_H

#include <stddef.h>
#include <stdio.h>

#include "sim/analysis/estimate.h"

/* A block of a table; nothing without an estimate. */
void sim_report_estimate_table(const struct sim_machine *m, const struct sim_cell *cell, FILE *out);

/* The columns' names, and the fields of a row, each with its comma before; empty if they do not apply. */
void sim_report_estimate_csv_names(FILE *out);
void sim_report_estimate_csv_core(const struct sim_machine *m, const struct sim_cell *cell, FILE *out);
void sim_report_estimate_csv_source(const struct sim_machine *m, const struct sim_cell *cell, size_t source, FILE *out);
void sim_report_estimate_csv_none(FILE *out);

/* A member "estimate" with the comma before; nothing without an estimate. */
void sim_report_estimate_json(const struct sim_machine *m, const struct sim_cell *cell, FILE *out);

#endif
