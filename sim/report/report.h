/*
 * Prints the counts of a simulation: a table to look at, CSV, or JSON. The counters have the names of the members in
 * stats.h everywhere. Beside them stand the miss rates of a level in percent, called <rate>_% in the table and
 * <rate>_percent elsewhere; a rate of nothing is '-' in the table, an empty field in CSV, and absent in JSON.
 *
 *   load_miss    load_misses of all loads of the core: the paper's rate, without stores
 *   miss         read_misses and write_misses of all reads and writes that arrived at the level
 *   read_miss    read_misses of the reads
 *   write_miss   write_misses of the writes: at the first level stores, further out write-backs
 *
 *   table  the sum over everything; or a table for every tag and phase with counts, the sum, and a row for each tag
 *   CSV    '#' lines with the machine and the trace; then a row per tag, phase ("all": the sum) and place: "core", the
 *          caches, the TLBs, "memory"
 *   short  a sentence about who serves the loads, percentages of each level, and the tags with most misses: 25 lines
 *   JSON   an object: machine, trace, with by_tag an array of cells (cells with counts), and total
 *
 * If the machine states latencies, the estimate of estimate.h is added: the loads served by each level and by memory,
 * and their cycles; the lines delivered by each, for stores and prefetches, too, and their cycles (in CSV: empty for
 * TLBs; the sums in the row "core").
 *
 * Tags may have names: the table and JSON then show the names beside the numbers ("name"), CSV has a '#' line for each.
 *
 * Counters that the machine does not count (3C classes of an unclassified level, a core's write-backs) are left out of
 * the table and of JSON and are an empty field in CSV: never a 0.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/machine/machine.h"
#include "sim/base/stats.h"
#include "sim/trace/trace_reader.h"

enum sim_report_format {
    SIM_REPORT_TABLE,
    SIM_REPORT_CSV,
    SIM_REPORT_JSON,
    SIM_REPORT_SHORT,
};

/* The 95 % interval of a count of a sampled simulation: value +- pm. */
struct sim_report_interval {
    const char *name; /* as sim_counts_each() names counters */
    double value, pm;
};

/* A sampled simulation: the counts are estimates, but for loads, stores and bytes. */
struct sim_report_sample {
    const struct sim_report_interval *interval; /* [n]; the first has the wanted half width */
    size_t n;
    double simulated; /* simulated share of the accesses */
    double target;    /* wanted half width of the first interval, over the count */
};

struct sim_report {
    const struct sim_machine *machine;
    const char *machine_source;    /* sources of its values, a line each; NULL or "": none are printed */
    const struct sim_stats *stats; /* as many in a row as the tags need */
    unsigned n_tags;
    const char *trace_name;                 /* NULL: there was no trace */
    const struct sim_trace_counts *counts;  /* of the trace; NULL if trace_name is */
    bool is_partial;                        /* the trace was not simulated to its end */
    const struct sim_report_sample *sample; /* NULL: all accesses were simulated */
    bool by_tag;                            /* every tag and phase with counts, besides the sum */
    const char *const *tag_names;           /* [n_tags], NULL for a tag without a name; or NULL: tags have no names */
};

/* Prints a report. out stays the caller's and is flushed. Returns 0, or the error of writing as -errno. */
int sim_report_print(const struct sim_report *r, enum sim_report_format format, FILE *out);

/*
 * Shows every counter of a cell to visit, even counters that the machine does not count; visit may change the count.
 * name is "loads", "L1.read_misses", "tlb:L1.misses": the counter's name wherever all counters stand in a row.
 */
void sim_counts_each(const struct sim_machine *m, struct sim_cell *cell,
                     void (*visit)(void *ctx, const char *name, uint64_t *value), void *ctx);

#endif
