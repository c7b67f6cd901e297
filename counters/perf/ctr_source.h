/*
 * A source of counts: the table of functions behind every session. ctr_source_perf is this computer's counters through
 * perf_event_open; tests have a fake computer, with counters that are dead, taken or lie.
 *
 * A source counts for the calling thread. Known work (ctr_loop.h) is run through the source, so that a source without
 * hardware can count the work too.
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
     * Opens n events (1 .. CTR_MAX_SET_EVENTS), stopped, to be on the counters together. Returns 0, or -errno with the
     * index of the refused event in *refused; -EINVAL: the events do not fit together.
     */
    int (*open)(void *context, const struct ctr_event_code *code, size_t n, void **set, size_t *refused);
    void (*close)(void *set); /* NULL is fine */

    /* Start counting from zero; stop; read the counts since the last start. Return 0 or -errno. */
    int (*start)(void *set);
    int (*stop)(void *set);
    int (*read)(void *set, struct ctr_counts *counts);

    /* Runs a loop on prepared memory. */
    void (*run)(void *context, const struct ctr_loop *loop, struct ctr_ground *ground);
};

extern const struct ctr_source ctr_source_perf;

#endif
