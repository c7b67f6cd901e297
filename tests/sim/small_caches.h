/*
 * Caches small enough to follow by hand, and accesses to the caches.
 *
 * Lines are named A, B, C, ... for line numbers 0, 1, 2, ... of LINE bytes. "L1 1x2" is a level of 1 set and 2 ways. A
 * set's contents are written most recently used first, dirty lines with a star: (B* A).
 */
#ifndef TESTS_SIM_SMALL_CACHES_H
#define TESTS_SIM_SMALL_CACHES_H

#include <inttypes.h>

#include "sim/hierarchy.h"
#include "tests/suites.h"

enum { LINE = 64, A = 0, B = LINE, C = 2 * LINE };

struct small_shape {
    uint64_t n_sets;
    uint32_t n_ways;
    uint32_t line_bytes;
};

/* Returns caches with LRU, the first level first; the caller frees the hierarchy. */
struct sim_hierarchy *small_build(const struct small_shape *shape, size_t n_levels);

#define BUILD(...)                                                                                                     \
    small_build((struct small_shape[]){ __VA_ARGS__ },                                                                 \
                sizeof((struct small_shape[]){ __VA_ARGS__ }) / sizeof(struct small_shape))

void touch(struct sim_hierarchy *h, enum sim_kind kind, uint64_t addr, uint32_t bytes);

/* Touches four bytes. */
void load(struct sim_hierarchy *h, uint64_t addr);
void store(struct sim_hierarchy *h, uint64_t addr);

/* Returns the sum over all tags and phases. */
struct sim_cell total(const struct sim_hierarchy *h);

/* Tells whether a load of addr hits the first level by the counts. The line becomes most recently used. */
bool hits_l1(struct sim_hierarchy *h, uint64_t addr);

#define EXPECT(actual, expected)                                                                                       \
    test_check((actual) == (uint64_t)(expected), "line %d: %s is %" PRIu64 ", expected %" PRIu64, __LINE__, #actual,   \
               (uint64_t)(actual), (uint64_t)(expected))

#endif
