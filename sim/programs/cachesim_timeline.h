/*
 * A run over its accesses (--timeline): a file in Chrome's trace event format, for chrome://tracing and Perfetto. A
 * simulation of caches has no time: a microsecond stands for a thousand accesses. Counters have the misses of each
 * level and the lines of memory in each interval; a slice is a phase of the trace, or all of a trace without phases.
 */
#ifndef SIM_CACHESIM_TIMELINE_H
#define SIM_CACHESIM_TIMELINE_H

#include "sim/hierarchy.h"
#include "sim/programs/cachesim_options.h"
#include "sim/base/why.h"

struct cachesim_timeline;

/* Watches a simulation: accesses to the sink go on to `next`, which simulates on h. Returns 0 or -ENOMEM. */
int cachesim_timeline_new(struct cachesim_timeline **t, const struct sim_machine *m, const struct sim_hierarchy *h,
                          struct sim_sink *next, const struct cachesim_options *o);
void cachesim_timeline_free(struct cachesim_timeline *t); /* NULL is fine */

struct sim_sink *cachesim_timeline_sink(struct cachesim_timeline *t);

/* Writes the file of --timeline. Returns 0, or -errno with a line in why. */
int cachesim_timeline_write(struct cachesim_timeline *t, struct sim_why why);

#endif
