/*
 * One set-associative cache level: where a line's set is, and its words. It neither counts nor talks to other levels;
 * hierarchy.c does. Line numbers are address >> line_shift.
 */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine.h"
#include "sim/policy.h"

struct sim_cache {
    const struct sim_policy *policy;
    uint64_t *words; /* n_sets * set_words, owned */
    uint64_t n_sets;
    uint64_t set_mask; /* n_sets - 1, if has_mask */
    size_t set_words;
    uint32_t n_ways;
    uint32_t line_bytes;
    unsigned line_shift;
    bool has_mask; /* the number of sets is a power of two */
};

/* Builds an empty cache of a level that validates. Returns 0, -EINVAL for an unknown policy, or -ENOMEM. */
int sim_cache_init(struct sim_cache *c, const struct sim_level *l);
void sim_cache_release(struct sim_cache *c); /* a zeroed or released object is fine */
void sim_cache_clear(struct sim_cache *c);   /* empties it */

/* The words of the set that a line belongs to. */
static inline uint64_t *sim_cache_set(const struct sim_cache *c, uint64_t line)
{
    uint64_t set = c->has_mask ? line & c->set_mask : line % c->n_sets;

    return c->words + set * c->set_words;
}

/* Uses a line, filling it if it is missing. */
static inline struct sim_use sim_cache_use(struct sim_cache *c, uint64_t line)
{
    return c->policy->use(sim_cache_set(c, line), c->n_ways, line);
}

#endif
