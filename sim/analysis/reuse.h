/*
 * Finds the hits of a stream of accesses in caches of every size, and the size of the stream's working set: two sinks
 * that need no machine.
 *
 * Both count uses of lines. An access uses every line that the access touches, in address order; prefetches are left
 * out; addresses count modulo 2^SIM_ADDRESS_BITS. Lines are numbered by address / line_bytes, a power of two. A sink
 * cannot return an error: the first error (-ENOMEM) is kept, and all later accesses are ignored.
 *
 * sim_reuse: the reuse distance of a use is the number of distinct lines used since the last use of the line; a first
 * use has no distance and is cold. A fully associative LRU cache of n lines hits exactly the uses with a distance below
 * n, so the histogram of distances holds the miss-ratio curve (stackdist.h). A use belongs to the tag of its access.
 * Costs O(log m) per use, m the number of distinct lines, and O(m) memory.
 *
 * sim_wss: the working set at time t with window T is the set of lines used by the last T accesses (Denning, The
 * working set model for program behavior, CACM 11, 1968). Its size is reported at t = T, 2T, ..., and for the rest at
 * the end. Costs O(1) per use and O(size of the largest working set) memory.
 */
#ifndef SIM_REUSE_H
#define SIM_REUSE_H

#include <stdint.h>

#include "sim/base/access.h"

enum { SIM_ALL_TAGS = SIM_MAX_TAGS }; /* as a tag: the sum over all */

struct sim_reuse; /* not thread-safe; distinct objects are independent */

/* For the usual tags. 0, -EINVAL if line_bytes is not a power of two, or -ENOMEM. */
int sim_reuse_new(struct sim_reuse **r, uint32_t line_bytes);

/* For tags below n_tags, 1 to SIM_MAX_TAGS, else -EINVAL; memory grows with n_tags. */
int sim_reuse_new_tags(struct sim_reuse **r, uint32_t line_bytes, unsigned n_tags);
void sim_reuse_free(struct sim_reuse *r); /* NULL is fine */
struct sim_sink *sim_reuse_sink(struct sim_reuse *r);
int sim_reuse_error(const struct sim_reuse *r); /* 0 or -ENOMEM: the counts are incomplete */

/*
 * Return all uses; first uses; uses at a distance. tag is below SIM_MAX_TAGS, or SIM_ALL_TAGS; tags from n_tags on have
 * no uses.
 */
uint64_t sim_reuse_uses(const struct sim_reuse *r, unsigned tag);
uint64_t sim_reuse_cold(const struct sim_reuse *r, unsigned tag);
uint64_t sim_reuse_at(const struct sim_reuse *r, unsigned tag, uint64_t distance);

/* Returns the largest distance so far plus 1. O(1). */
uint64_t sim_reuse_distances(const struct sim_reuse *r);

/*
 * A point of the miss-ratio curves. Walk the points from small to large caches in O(distances) altogether:
 *
 *     struct sim_mrc_point p;
 *     for (sim_mrc_start(r, &p); sim_mrc_next(r, &p);)
 *         ... p.n_lines, p.misses[tag] ...
 *
 * The first point is a cache of no lines, which misses everything; further points are the sizes at which any curve
 * falls.
 */
struct sim_mrc_point {
    uint64_t n_lines;                  /* size of the cache */
    uint64_t misses[SIM_MAX_TAGS + 1]; /* by tag; [SIM_ALL_TAGS]: all; with cold misses */
    uint64_t next;                     /* the walk's own */
};

void sim_mrc_start(const struct sim_reuse *r, struct sim_mrc_point *p);
int sim_mrc_next(const struct sim_reuse *r, struct sim_mrc_point *p); /* 1, or 0 past the last */

struct sim_wss_window {
    uint64_t end;                     /* accesses up to and with the window */
    uint64_t n_accesses;              /* T, or less in the last window */
    uint64_t lines[SIM_MAX_TAGS + 1]; /* distinct lines used, by tag of the use; [SIM_ALL_TAGS]: by any */
};

struct sim_wss;

/* Calls window() at the end of every window_accesses accesses. 0, -EINVAL (line not a power of two, window 0), -ENOMEM.
 */
int sim_wss_new(struct sim_wss **w, uint32_t line_bytes, uint64_t window_accesses,
                void (*window)(void *ctx, const struct sim_wss_window *w), void *ctx);
void sim_wss_free(struct sim_wss *w); /* NULL is fine */
struct sim_sink *sim_wss_sink(struct sim_wss *w);

/* Reports the remaining accesses, if any, as a window. Returns 0 or -ENOMEM: windows are missing. */
int sim_wss_finish(struct sim_wss *w);

#endif
