/*
 * Lists of touches: what a front-end has made of accesses, to be made elsewhere, in several shards of the caches at
 * once (engine_plain_threads.c). Internal to sim/.
 *
 * A shard has every n-th block of the ring's places (engine_plain_sweeps_tmpl.h): no line of one shard meets a line of
 * another in a set of any level. What shards have in common is only a load that covers lines of several of them: it
 * misses a level once, however many of its lines do. Such loads have numbers; each shard notes how deep it had to look
 * for its part.
 */
#ifndef SIM_LISTS_H
#define SIM_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/record.h"

enum {
    SIM_MAX_SHARDS = 8,
    SIM_LISTED_SEVERAL_SHIFT = SIM_RECORD_BYTES_SHIFT,  /* below it kind, tag and phase as in a record */
    SIM_LISTED_SPLIT_SHIFT,                             /* the number of a load that several shards share; 0: of none */
    SIM_LISTED_SEVERAL = 1 << SIM_LISTED_SEVERAL_SHIFT, /* the lines are one load's */
    SIM_MAX_SPLITS = 1 << 22,
};

/* Some lines in a row, each touched once; no more than a block of SIM_PLAIN_RANGE, and of one region. */
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

/* Holds what a shard keeps of loads that it shares. */
struct sim_splits {
    uint8_t *depth;  /* by number in the batch: the levels that its part missed */
    uint32_t before; /* numbers of the lists before */
    uint32_t last;   /* the load that was touched last, and ... */
    uint64_t part;   /* ... whether a line of it was missing */
};

#endif
