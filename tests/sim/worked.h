/*
 * Examples worked by hand: a machine, and words for accesses and for the counts after the accesses. An engine and the
 * naive model do the accesses, and both must end with equal counts.
 *
 *     l1 s1 n1 p1     load, store, store past the caches, or prefetch 4 bytes of line 1 (n and p: 16 bytes)
 *     l1+60x8         load 8 bytes at byte 60 of line 1
 *     h1 m1           load line 1, which must hit or miss L1
 *     f               flush
 *     L2.reads=6      a count: of a level, of the cell (loads), tlb1.misses, of L1's first prefetcher
 *                     (prefetcher.asked), of prefetch instructions (software.asked)
 */
#ifndef TESTS_SIM_WORKED_H
#define TESTS_SIM_WORKED_H

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"

struct worked {
    const char *name;
    struct sim_machine machine;
    const char *words;
};

/* Levels with LRU: sets, ways, and further members of struct sim_level. */
#define LRU_OF(line, sets, ways, ...)                                                                                  \
    {                                                                                                                  \
        .policy = "lru", .n_sets = sets, .n_ways = ways, .line_bytes = line, __VA_ARGS__                               \
    }
#define LRU(...) LRU_OF(64, __VA_ARGS__)
#define ONE(...) .n_levels = 1, .level = { LRU(__VA_ARGS__) }
#define TWO(l1_ways, l2_ways, ...) .n_levels = 2, .level = { LRU(1, l1_ways, ), LRU(1, l2_ways, __VA_ARGS__) }

/* Tries all examples; engine NULL: the engine that a user would get. */
void worked_try(const struct worked *example, size_t n, const struct sim_engine *engine);

#endif
