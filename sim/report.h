/*
 * Prints what a simulation counted: a table to look at, CSV, or JSON. The counters have the names of the members in
 * stats.h everywhere, plus, in the table, load_miss_% = 100 * load_misses / loads.
 *
 *   table  the sum over everything, or a table for every tag and phase that has counts, and the sum
 *   CSV    '#' lines that say what was simulated; then one row per tag, phase ("all": the sum) and place: "core", the
 *          caches, the TLBs, "memory"
 *   JSON   one object: machine, trace, total, or with by_tag an array of cells, the last of
 *          which is the sum
 *
 * Where the machine states latencies, what estimate.h makes of the counts comes along: how many loads each level and
 * the memory served, and the cycles that this would cost (in CSV: empty for TLBs; sconv_eq6_cycles in the row "core").
 *
 * What the machine does not count (3C classes of an unclassified level, a core's write-backs) is left out of the table
 * and of JSON and is an empty field in CSV: never a 0.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/machine.h"
#include "sim/stats.h"
#include "sim/trace_reader.h"

enum sim_report_format {
    SIM_REPORT_TABLE,
    SIM_REPORT_CSV,
    SIM_REPORT_JSON,
};

struct sim_report {
    const struct sim_machine *machine;
    const struct sim_stats *stats;
    const char *trace_name;                /* NULL: there was no trace */
    const struct sim_trace_counts *counts; /* of the trace; NULL if trace_name is */
    bool by_tag;                           /* every tag and phase that has counts, besides the sum */
};

/* Prints one report. out stays the caller's and is flushed. Returns 0 or the error of writing as -errno. */
int sim_report_print(const struct sim_report *r, enum sim_report_format format, FILE *out);

#endif
