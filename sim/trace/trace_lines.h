/* From a line of a text trace to at most two accesses: the scanners behind trace_reader.h. */
#ifndef SIM_TRACE_LINES_H
#define SIM_TRACE_LINES_H

#include "sim/trace/trace_reader.h"

enum { SIM_MAX_LINE_RUNS = 2 };

/* A line to scan, and the result. */
struct sim_line {
    const char *at;  /* within the line; on failure, at the offending value */
    const char *end; /* of the line; *end is '\n' */
    const struct sim_trace_options *options;
    struct sim_trace_counts *counts; /* fetches and Valgrind's lines go here; accesses do not */
    const char *what;                /* on failure: the fault */
    bool is_valgrinds;               /* lackey: a line of Valgrind's own */
    bool is_end;                     /* lackey: Valgrind tells of the program's end here */
    size_t n_runs;
    struct sim_run run[SIM_MAX_LINE_RUNS];
};

/* Scans a line of the format, not binary. Returns 0 or -EINVAL with what and at set. */
int sim_line_scan(struct sim_line *l);

/*
 * Tells whether a line, or the start of a long line, is skipped: a comment, or one of Valgrind's lines in a lackey
 * trace.
 */
bool sim_line_is_skipped(const struct sim_line *l);

/* Tells whether a run stays within one half of the address space; see trace_reader.h. */
bool sim_run_fits(const struct sim_run *r);

#endif
