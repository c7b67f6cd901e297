/* The naive model's sets: ways, and the replacement policies of sim/replacement/replacement.h over the ways. */
#ifndef TESTS_SIM_NAIVE_POLICY_H
#define TESTS_SIM_NAIVE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine/machine.h"

struct naive_way {
    bool is_valid;
    uint64_t line;
    bool is_dirty;
    unsigned owner;
    bool is_unused_prefetch;
    unsigned asker;
    size_t by;                 /* a prefetched line: the place of the prefetcher in the level */
    uint64_t comes;            /* a prefetched line, in requests of the core */
    uint64_t last_use, filled; /* times */
    bool bit;                  /* bit-plru */
    bool points_up;            /* tree-plru: inner node i of the set is kept in way i, 1 <= i < n_ways */
    int value;                 /* rrip, qlru's age */
};

/* The state of a level's policy beyond the sets. */
struct naive_policy {
    struct sim_level shape;
    uint64_t time;
    uint64_t random;
    unsigned brrip_fills;
    int selector;
};

void naive_policy_init(struct naive_policy *p, const struct sim_level *shape);
void naive_policy_empty(struct naive_policy *p, struct naive_way *set); /* the set's start */
void naive_policy_hit(struct naive_policy *p, struct naive_way *set, uint32_t way);
void naive_policy_miss(struct naive_policy *p, struct naive_way *set);
uint32_t naive_policy_choose(struct naive_policy *p, struct naive_way *set); /* the way to fill */
void naive_policy_fill(struct naive_policy *p, struct naive_way *set, uint64_t set_index, uint32_t way);
void naive_policy_drop(struct naive_policy *p, struct naive_way *set, uint32_t way);

#endif
