/*
 * A run of cachesim: the trace goes, pass by pass, to the taker of its accesses. A trace that will take more than a
 * minute is announced on standard error, with an estimate, one second after its start.
 *
 * A signal may ask for the end (cachesim_signal.h): then the counts are the counts of the accesses before, and every
 * report says that they are partial.
 */
#ifndef SIM_CACHESIM_SESSION_H
#define SIM_CACHESIM_SESSION_H

#include "sim/programs/cachesim_options.h"
#include "sim/programs/cachesim_progress.h"
#include "sim/programs/cachesim_ranges.h"
#include "sim/hierarchy.h"

enum { CACHESIM_BAD_OUTPUT = 1, CACHESIM_BAD_INPUT = 2 }; /* exit statuses */

struct cachesim_session {
    struct cachesim_options options;
    struct sim_sink *sink;              /* of whatever takes the accesses */
    struct cachesim_ranges ranges;      /* put before the sink */
    unsigned n_tags;                    /* tags with counts of their own */
    const int *sink_error;              /* if not NULL: reading ends when the error is not 0 */
    void (*clear_stats)(void *counter); /* forgets the counts of a simulation so far */
    void *counter;
    uint64_t warmup_left;
    uint64_t n_simulated;           /* accesses, of all passes */
    struct sim_trace_counts counts; /* of one pass */
    FILE *maps; /* mappings from the source of the last pass; the caller closes the file. NULL: none */
    struct cachesim_progress progress;
    int exit_status; /* after a failure */
    char why[1024];
};

/* Keeps "what, value" and the exit status. Returns -EINVAL. */
int cachesim_fail(struct cachesim_session *s, int exit_status, const char *what, const char *value);

/* Reads the ranges, should there be any: before anything is made to count in. Returns as cachesim_run_passes. */
int cachesim_tell_apart(struct cachesim_session *s);

/* Makes the caches of a valid machine. Returns as cachesim_run_passes: memory may not suffice. */
int cachesim_hierarchy(struct cachesim_session *s, struct sim_hierarchy **hierarchy, const struct sim_machine *m);

/*
 * Sends the trace to s->sink as often as the options say, or until a signal asks for the end. Returns 0, or -errno with
 * s->why and s->exit_status set.
 */
int cachesim_run_passes(struct cachesim_session *s);

/* Checks that standard output took everything. err: an earlier error, 0 or -errno. Returns as cachesim_run_passes. */
int cachesim_check_stdout(struct cachesim_session *s, int err);

#endif
