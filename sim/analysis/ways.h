/*
 * All numbers of ways of a cache at once: the counts of machines of a single level with equal sets and lines and 1, 2,
 * ... ways, in a single pass over the accesses.
 *
 * Under least recently used, a set of w ways holds the last w used lines of the set: the line at place p of the set's
 * list is a hit for all caches of p ways or more (Mattson et al. 1970). A line is dirty in all caches with enough ways
 * to keep the line since its last store (Thompson and Smith, ACM TOCS 7, 1989), and the cache of p ways writes the line
 * back when the line moves from place p to place p + 1. Each access costs its place.
 */
#ifndef SIM_WAYS_H
#define SIM_WAYS_H

#include "sim/base/access.h"
#include "sim/base/stats.h"

enum { SIM_MAX_COUNTED_WAYS = 256 };

struct sim_ways; /* for the usual tags; not thread-safe; distinct objects are independent */

/* Tells whether the counts hold for a machine: a plain machine of a single level, with at most SIM_MAX_COUNTED_WAYS ways. */
bool sim_ways_counts_for(const struct sim_machine *m);

/* Returns 0; -EINVAL for 0 sets, lines that are no power of two, 0 or too many ways; -ENOMEM. */
int sim_ways_new(struct sim_ways **w, uint64_t n_sets, uint32_t line_bytes, uint32_t most_ways);
void sim_ways_free(struct sim_ways *w); /* NULL is fine */

struct sim_sink *sim_ways_sink(struct sim_ways *w); /* owned by w */

/* Returns the counts of the cache of n_ways ways, 1 <= n_ways <= most_ways: equal to a hierarchy's (hierarchy.h). */
void sim_ways_stats(const struct sim_ways *w, uint32_t n_ways, struct sim_stats *stats);

void sim_ways_clear_stats(struct sim_ways *w); /* keeps the caches' content */

#endif
