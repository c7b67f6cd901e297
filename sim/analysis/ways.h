/*
 * All numbers of ways of a cache at once: what machines of one level count whose caches have the same sets and lines,
 * and 1, 2, ... ways, in one pass over the accesses.
 *
 * Under least recently used, a set of w ways holds the w lines of the set that were used last: the line at place p of
 * the set's list is a hit for all caches of p ways or more (Mattson et al. 1970). A line is dirty in all caches of at
 * least so many ways as kept it since it was last written (Thompson and Smith, ACM TOCS 7, 1989), and is written back
 * by the cache of p ways when it moves from place p to place p + 1. Each access costs its place.
 */
#ifndef SIM_WAYS_H
#define SIM_WAYS_H

#include "sim/base/access.h"
#include "sim/base/stats.h"

enum { SIM_MAX_COUNTED_WAYS = 256 };

struct sim_ways; /* for the usual tags; not thread-safe; distinct objects are independent */

/* Tells whether a machine is one that this counts for: a plain one of one level, with at most that many ways. */
bool sim_ways_counts_for(const struct sim_machine *m);

/* Returns 0; -EINVAL for 0 sets, lines that are no power of two, 0 or too many ways; -ENOMEM. */
int sim_ways_new(struct sim_ways **w, uint64_t n_sets, uint32_t line_bytes, uint32_t most_ways);
void sim_ways_free(struct sim_ways *w); /* NULL is fine */

struct sim_sink *sim_ways_sink(struct sim_ways *w); /* owned by w */

/* Gets what the cache of so many ways has counted, 1 <= n_ways <= most_ways: equal to a hierarchy's (hierarchy.h). */
void sim_ways_stats(const struct sim_ways *w, uint32_t n_ways, struct sim_stats *stats);

void sim_ways_clear_stats(struct sim_ways *w); /* keeps what the caches hold */

#endif
