/*
 * A run over its accesses (--timeline): a file in Chrome's trace event format, which chrome://tracing and Perfetto
 * open. There is no time in a simulation of caches: a microsecond stands for a thousand accesses. Counters say how many
 * misses of each level and lines of memory each interval had; a slice is a phase of the trace, or all of a trace
 * without phases.
 */
#ifndef SIM_CACHESIM_TIMELINE_H
#define SIM_CACHESIM_TIMELINE_H

#include "sim/hierarchy.h"
#include "sim/programs/cachesim_options.h"
#include "sim/base/why.h"

struct cachesim_timeline;

/* Watches a simulation: what goes into the sink goes on to `next`, which simulates on h. Returns 0 or -ENOMEM. */
int cachesim_timeline_new(struct cachesim_timeline **t, const struct sim_machine *m, const struct sim_hierarchy *h,
                          struct sim_sink *next, const struct cachesim_options *o);
void cachesim_timeline_free(struct cachesim_timeline *t); /* NULL is fine */

struct sim_sink *cachesim_timeline_sink(struct cachesim_timeline *t);

/* Writes the file of --timeline. Returns 0, or -errno with one line in why. */
int cachesim_timeline_write(struct cachesim_timeline *t, struct sim_why why);

#endif
