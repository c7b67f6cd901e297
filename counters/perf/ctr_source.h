/*
 * Describes where counts come from: a table of functions behind every session. ctr_source_perf is this computer's
 * counters through perf_event_open; tests have a computer made up, with counters that are dead, taken or lie.
 *
 * A source counts for the calling thread. Known work (ctr_loop.h) is run through it, so that a source that is no
 * hardware can count it too.
 */
#ifndef CTR_SOURCE_H
#define CTR_SOURCE_H

#include <stddef.h>

#include "counters/perf/ctr_perf.h"

struct ctr_ground;
struct ctr_loop;

struct ctr_source {
    const char *name; /* "perf_event" */
    void *context;    /* handed to open and run */

    /*
     * Opens n events (1 .. CTR_MAX_SET_EVENTS) that are on the counters together, stopped. Returns 0, or -errno with
     * the index of the refused event in *refused; -EINVAL: these events do not fit together.
     */
    int (*open)(void *context, const struct ctr_event_code *code, size_t n, void **set, size_t *refused);
    void (*close)(void *set); /* NULL is fine */

    /* Counting starts from zero, or ends; what was counted since the last start. Return 0 or -errno. */
    int (*start)(void *set);
    int (*stop)(void *set);
    int (*read)(void *set, struct ctr_counts *counts);

    /* Runs a loop on prepared memory. */
    void (*run)(void *context, const struct ctr_loop *loop, struct ctr_ground *ground);
};

extern const struct ctr_source ctr_source_perf;

#endif
