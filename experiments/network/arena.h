/*
 * A memory planner: gives blocks, each with a first and a last step, offsets in an arena. Blocks with a common step do
 * not overlap.
 *
 * To find the smallest arena is NP-hard. Blocks are put one by one, each into the smallest gap that is free during the
 * block's life, in several orders. Then blocks with the highest ends are put earlier, for a bounded number of tries.
 * The smallest arena wins; no arena is smaller than the largest set of blocks needed at once.
 */
#ifndef EXPERIMENTS_NETWORK_ARENA_H
#define EXPERIMENTS_NETWORK_ARENA_H

#include <stddef.h>

enum { NET_ARENA_ALIGN = 64 };

struct net_block {
    size_t bytes;       /* any, also 0 */
    size_t first, last; /* the block's steps, first <= last */
    size_t offset;      /* the block's place: a multiple of NET_ARENA_ALIGN */
};

struct net_arena {
    size_t bytes;          /* the need of all blocks */
    size_t alive_bytes;    /* the largest sum of blocks needed at once, each rounded up to the alignment */
    const char *heuristic; /* the order of this arena */
};

/* Puts n blocks. Returns 0, or -EOVERFLOW if the blocks do not fit an address space. */
int net_arena_plan(struct net_arena *a, struct net_block *block, size_t n);

#endif
