/*
 * The full engine's inside: what its parts share. Internal.
 *
 *   engine_full.c            life, flushing
 *   engine_full_walk.c       bursts, cut into accesses and lines
 *   engine_full_access.c     an access, or its part in one line, with all that it causes
 *   engine_full_path.c       a request on its way out through the levels: fetches, writes, victims
 *   engine_full_level.c      what one level holds
 *   engine_full_prefetch.c   what prefetchers ask for, waiting in a queue
 *   engine_full_combine.c    write-combining buffers
 *   engine_full_tlb.c        TLBs
 */
#ifndef SIM_ENGINE_FULL_H
#define SIM_ENGINE_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/bursts.h"
#include "sim/engine.h"
#include "sim/full/engine_full_level.h"
#include "sim/machine/machine.h"
#include "sim/stats.h"

#define SIM_FULL_ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

enum { SIM_FULL_QUEUE = 64 };

enum { SIM_FULL_TLB_HINTS = 256 };

struct sim_full_tlb {
    uint64_t *page;                    /* [n_sets][n_ways], owned */
    uint64_t *used;                    /* likewise */
    uint32_t hint[SIM_FULL_TLB_HINTS]; /* by page number modulo SIM_FULL_TLB_HINTS: where such a page was last */
    uint64_t clock;
    uint64_t n_sets;
    uint32_t n_ways;
};

/* A line that a prefetcher asked for. */
struct sim_full_wanted {
    uint64_t line;
    uint8_t level;
    uint8_t tag;
    uint8_t phase;
    uint8_t late;
};

struct sim_full_buffer {
    uint64_t unit;
    uint8_t owner; /* tag */
};

struct sim_full {
    struct sim_hierarchy base; /* first */
    struct sim_machine machine;
    size_t n_levels;
    struct sim_full_level level[SIM_MAX_LEVELS];
    struct sim_full_tlb tlb[SIM_MAX_TLBS];
    uint64_t last_page;
    unsigned page_shift;
    struct sim_full_wanted queue[SIM_FULL_QUEUE];
    size_t queue_first, queue_length;
    struct sim_full_buffer buffer[SIM_MAX_COMBINING_BUFFERS]; /* the oldest first */
    size_t n_buffers;
    unsigned unit_shift;            /* log2 of what a buffer covers: the longest line of all levels */
    bool walks_loads, walks_stores; /* which bursts_tmpl.h can take, see walks() */
    bool hits_repeat;               /* of the first level's policy */
    uint64_t n_requests;            /* lines of loads and stores at the first level: the time that prefetches take */
    uint64_t n_changes; /* grows with whatever the same accesses, made again, would not do again: see bursts_tmpl.h */
    struct sim_bursts bursts;
    struct sim_stats stats;
};

/* On whose account something happens; how far out its reads had to go: misses at all levels before. */
struct sim_full_request {
    struct sim_cell *cell;
    uint32_t tag; /* words, all of them: bytes would be put together, and then waited for */
    uint32_t phase;
    uint32_t source;
    uint32_t run; /* what stands for the instruction: tag, phase and place in the burst in one number */
    bool is_prefetch;
    bool is_walk; /* of a page table */
};

/* For an access of the core: of the run at this place of its burst. */
static inline struct sim_full_request sim_full_request_by(struct sim_full *e, unsigned tag, unsigned phase,
                                                          unsigned place)
{
    return (struct sim_full_request){
        .cell = &e->stats.cell[tag][phase],
        .tag = tag,
        .phase = phase,
        .run = (tag * SIM_MAX_PHASES + phase) * SIM_MAX_BURST_RUNS + place,
    };
}

static inline struct sim_full_request sim_full_request_of(struct sim_full *e, unsigned tag, unsigned phase)
{
    return sim_full_request_by(e, tag, phase, 0);
}

#endif
