/*
 * A minimal peer for `make bench-sim PEERS=` (sim/programs/bench_peer.h): a cache of one level, a list of lines for
 * each set, the most recently used first. FORGETS: the peer keeps no line, so that its misses are not ours;
 * LEVELS_AT_MOST: the peer takes only machines with at most LEVELS_AT_MOST levels.
 */
#include <stdlib.h>

#include "sim/programs/bench_peer.h"

#ifndef LEVELS_AT_MOST
#define LEVELS_AT_MOST 8
#endif

struct caches {
    struct sim_bench_peer_level level;
    uint64_t misses;
    uint64_t line[]; /* [n_sets][n_ways], plus 1; 0: none */
};

static void *create(const struct sim_bench_peer_level *level, size_t n_levels)
{
    struct caches *c =
        n_levels > LEVELS_AT_MOST ? NULL : calloc(1, sizeof *c + level->n_sets * level->n_ways * sizeof c->line[0]);

    if (c)
        c->level = *level;
    return c;
}

static void touch(struct caches *c, uint64_t line)
{
    uint64_t *set = c->line + line % c->level.n_sets * c->level.n_ways, before = line + 1;

    for (uint32_t i = 0; i < c->level.n_ways; i++) {
        uint64_t here = set[i];

        set[i] = before;
        if (here == line + 1)
            return;
        before = here;
    }
    c->misses++;
#ifdef FORGETS
    *set = 0;
#endif
}

static void feed(void *caches, const struct sim_bench_peer_access *access, size_t n)
{
    struct caches *c = caches;

    for (size_t i = 0; i < n; i++) {
        uint64_t last = (access[i].addr + access[i].bytes - 1) / c->level.line_bytes;

        for (uint64_t line = access[i].addr / c->level.line_bytes; line <= last; line++)
            touch(c, line);
    }
}

static uint64_t l1_misses(const void *caches)
{
    return ((const struct caches *)caches)->misses;
}

extern const struct sim_bench_peer sim_bench_peer;
const struct sim_bench_peer sim_bench_peer = { SIM_BENCH_PEER_VERSION, "lru", create, feed, l1_misses, free };
