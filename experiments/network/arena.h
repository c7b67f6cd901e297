/*
 * A memory planner: blocks that are needed from one step to another get offsets in one arena, so that no two lie over
 * each other while both are needed.
 *
 * To find the smallest arena is NP-hard. Blocks are put one by one, each into the smallest gap that is free all its
 * life, in several orders; blocks that end highest are then put earlier, for a bounded number of tries. The least arena
 * is taken; none can be smaller than the largest set that is needed at once.
 */
#ifndef EXPERIMENTS_NETWORK_ARENA_H
#define EXPERIMENTS_NETWORK_ARENA_H

#include <stddef.h>

enum { NET_ARENA_ALIGN = 64 };

struct net_block {
    size_t bytes;       /* any, also 0 */
    size_t first, last; /* steps that need it, first <= last */
    size_t offset;      /* where it is put: a multiple of NET_ARENA_ALIGN */
};

struct net_arena {
    size_t bytes;          /* what all blocks need */
    size_t alive_bytes;    /* the largest sum of blocks that are needed at once, rounded up to the alignment each */
    const char *heuristic; /* the order that found it */
};

/* Puts n blocks. Returns 0, or -EOVERFLOW if they do not fit an address space. */
int net_arena_plan(struct net_arena *a, struct net_block *block, size_t n);

#endif
