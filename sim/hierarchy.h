/*
 * A hierarchy of caches that consumes bursts and counts.
 *
 * Semantics (those of Dinero IV with demand fetch, held by tests against a naive model)
 *   set index   (address / line_bytes) mod n_sets
 *   lookup      per line, inside out; a line missing in a level is filled into it (non-inclusive, non-exclusive: no
 *               level's eviction touches another level's copy)
 *   victim      the invalid way of lowest index, else the policy's choice (lru: least recently used; any read or
 *               write of a line makes it most recently used)
 *   writes      write-back and write-allocate at every level. A store that misses fetches the line (the core's read
 *               for ownership); a write-back that misses further out allocates without fetching, because it brings the
 *               whole line, unless that level's line is larger
 *   order       on a miss: the fetch goes out first, then the write-back of the dirty victim
 *   write-back  an ordinary write at the next level out: it counts, allocates and becomes most recently used
 *   straddling  an access that covers several lines touches them in address order, each with all its consequences
 *               before the next
 *   line sizes  a request (fetch or write-back) covers one line of the level inside. Where this level's lines are
 *               larger it is a request for the one line around it; where they are smaller it is one request per line
 *               covered, in address order, each with its consequences before the next
 *   the end     dirty lines stay until sim_hierarchy_flush()
 *
 * A load that straddles two lines makes two reads at the first level but at most one load miss per level: it misses a
 * level if any read made on its behalf missed there. Fetches caused by a write-back into larger lines are reads of the
 * write-back's tag and never load misses.
 */
#ifndef SIM_HIERARCHY_H
#define SIM_HIERARCHY_H

#include "sim/access.h"
#include "sim/machine.h"
#include "sim/stats.h"

struct sim_hierarchy; /* one simulation; not thread-safe, but distinct objects are independent */

/* Builds an empty hierarchy. Returns 0, -EINVAL if the machine does not validate, -ENOMEM. */
int sim_hierarchy_new(struct sim_hierarchy **h, const struct sim_machine *m);
void sim_hierarchy_free(struct sim_hierarchy *h); /* NULL is fine */

/* Where the accesses go; owned by h. */
struct sim_sink *sim_hierarchy_sink(struct sim_hierarchy *h);

/* Counts so far; owned by h, valid until the next call on h. */
const struct sim_stats *sim_hierarchy_stats(const struct sim_hierarchy *h);

void sim_hierarchy_clear_stats(struct sim_hierarchy *h); /* keeps the caches' contents: a warm start */
void sim_hierarchy_clear(struct sim_hierarchy *h);       /* empties the caches and the counts: a cold start */

/*
 * Writes every dirty line back, level by level from the core outwards, counted in the given phase; lines become clean
 * and stay. Within a level: sets in ascending order, each from its next victim to its last (lru: least recently used
 * line first).
 */
void sim_hierarchy_flush(struct sim_hierarchy *h, unsigned phase);

#endif
