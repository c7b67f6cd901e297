/*
 * Reports the progress of a trace and the rest of its time, on standard error. On a terminal: a line that is rewritten
 * every second. Else: a line after the first second, if more than a minute is to go, and then a line every minute. If
 * the length is unknown, the first line comes after ten seconds.
 *
 * The length of a pass comes from the file: the accesses that a binary trace announces at its end (a few bytes may
 * stand for thousands of millions), or the bytes of other traces. For a pipe, a compressed file and a traced program
 * only the done part is known.
 */
#ifndef SIM_CACHESIM_PROGRESS_H
#define SIM_CACHESIM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sim/trace/trace.h"

struct cachesim_progress {
    const char *trace;
    double per_pass; /* accesses or bytes; 0: unknown */
    bool is_in_bytes;
    bool is_on_terminal;
    bool has_line; /* on the terminal */
    uint64_t passes;
    uint64_t pass;   /* number of the current pass */
    uint64_t done;   /* of this pass */
    uint64_t unseen; /* how much was done since the clock was looked at */
    double next_s;   /* when something is said again, from the start */
    struct timespec start;
};

/* Starts the report; path: the trace's file, "-" if its size says nothing. */
void cachesim_progress_start(struct cachesim_progress *p, const char *trace, const char *path,
                             enum sim_trace_format format, uint64_t passes);
void cachesim_progress_pass(struct cachesim_progress *p, uint64_t pass);
void cachesim_progress_add(struct cachesim_progress *p, uint64_t accesses);
void cachesim_progress_read(struct cachesim_progress *p, uint64_t bytes);

/* Takes the line off the terminal. */
void cachesim_progress_end(struct cachesim_progress *p);

#endif
