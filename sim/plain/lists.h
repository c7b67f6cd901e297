/*
 * Lists of touches: a front-end makes lists of accesses, and several shards of the caches make the touches at once
 * (engine_plain_threads.c). Internal to sim/.
 *
 * A shard has every n-th block of the ring's places (engine_plain_sweeps_tmpl.h): lines of different shards are in
 * different sets of every level. Shards share only loads whose lines are in several shards: such a load misses a level
 * once, however many of its lines do. Shared loads have numbers; each shard notes the depth of the load's misses in the
 * shard.
 */
#ifndef SIM_LISTS_H
#define SIM_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/record.h"

enum {
    SIM_MAX_SHARDS = 8,
    SIM_LISTED_SEVERAL_SHIFT = SIM_RECORD_BYTES_SHIFT,  /* the lower bits are kind, tag and phase as in a record */
    SIM_LISTED_SPLIT_SHIFT,                             /* the number of a load that several shards share; 0: none */
    SIM_LISTED_SEVERAL = 1 << SIM_LISTED_SEVERAL_SHIFT, /* the lines belong to a single load */
    SIM_MAX_SPLITS = 1 << 22,
};

/* Consecutive lines of a region, each touched once; at most a block of SIM_PLAIN_RANGE lines. */
struct sim_listed {
    uint64_t line;
    uint32_t n;
    uint32_t who;
};

struct sim_list {
    struct sim_listed *touch;
    size_t n, room;
};

struct sim_lists {
    unsigned n_shards, block_shift; /* lines of a block */
    struct sim_list shard[SIM_MAX_SHARDS];
    uint8_t *split_who;          /* of loads that shards share, by number: tag and phase as in a record */
    size_t n_splits, split_room; /* [0] is no load */
    int err;                     /* -ENOMEM: some touches are missing */
};

/* Loads that a shard shares. */
struct sim_splits {
    uint8_t *depth;  /* by number in the batch: levels that the load missed in this shard */
    uint32_t before; /* numbers of the lists before */
    uint32_t last;   /* the load touched last */
    uint64_t part;   /* marks for the load's next request */
};

#endif
