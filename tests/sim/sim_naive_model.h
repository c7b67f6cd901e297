/*
 * The parts of the naive model; only the model's own files include the header. The modules on top of each other: lines,
 * prefetch, requests.
 */
#ifndef TESTS_SIM_NAIVE_MODEL_H
#define TESTS_SIM_NAIVE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"
#include "tests/sim/sim_naive_policy.h"

enum { NAIVE_QUEUE = 64, NAIVE_MAX_WATCHED = 64 };

/* A fully associative LRU cache: lines in order of use, and all lines ever asked for. */
struct naive_shadow {
    uint64_t *held; /* most recent first */
    size_t n_held;
    uint64_t *seen;
    size_t n_seen, max_seen;
};

/* A page or an instruction watched by a prefetcher, latest use first in the prefetcher's list. */
struct naive_watched {
    uint64_t key;
    int64_t seen[66]; /* the last different lines, latest first */
    unsigned n_seen;
    int direction;
    unsigned n_steps;
    bool has_asked;
    int64_t next_to_ask;
    bool footprint[64], before[64]; /* 32 is the line that opened the region */
    unsigned n_same;
};

struct naive_prefetcher {
    struct sim_prefetch p; /* no 0 left */
    struct naive_watched watched[NAIVE_MAX_WATCHED];
    unsigned n_watched;
};

struct naive_level {
    struct sim_level shape;
    struct naive_policy policy;
    struct naive_way *way; /* [n_sets][n_ways] */
    struct naive_way leaving;
    struct naive_shadow shadow;
    struct naive_prefetcher prefetcher[SIM_MAX_PREFETCHERS];
};

struct naive_wish {
    size_t k;
    uint64_t line;
    unsigned tag, phase;
    unsigned late;
    size_t by; /* place of the prefetcher in the level */
};

struct naive_tlb {
    uint64_t *page; /* [n_sets][n_ways], most recent first, 0: none, else page + 1 */
};

struct sim_naive {
    struct sim_sink sink;
    struct sim_machine m;
    size_t n_levels;
    struct naive_level level[SIM_MAX_LEVELS];
    struct naive_wish queue[NAIVE_QUEUE];
    size_t n_queue;
    struct naive_tlb tlb[SIM_MAX_TLBS];
    struct {
        uint64_t unit;
        unsigned owner;
    } buffer[SIM_MAX_COMBINING_BUFFERS];
    size_t n_buffers;
    uint64_t unit_bytes;
    uint64_t read_lately[SIM_MAX_RECENT_LINES], n_read; /* lines from memory, in turns; how many */
    uint64_t now;                                       /* lines of loads and stores so far */
    struct sim_stats stats[SIM_MAX_TAGS / SIM_USUAL_TAGS];
};

/* A request: its counter's tag and phase, and the levels that it missed as a read. */
struct naive_request {
    unsigned tag;
    unsigned phase;
    unsigned place; /* in the burst */
    bool is_prefetch;
    bool is_instructed; /* a prefetch instruction asks */
    bool is_walk;
    bool missed[SIM_MAX_LEVELS];
};

/* Bytes to be written. */
struct naive_data {
    uint64_t addr, bytes;
    bool is_store, is_eviction;
};

/* Returns the counts of a tag and a phase, or level k's counts. */
static inline struct sim_cell *naive_cell(struct sim_naive *s, unsigned tag, unsigned phase)
{
    return &s->stats[tag / SIM_USUAL_TAGS].cell[tag % SIM_USUAL_TAGS][phase];
}

static inline struct sim_level_counts *naive_counts(struct sim_naive *s, size_t k, unsigned tag, unsigned phase)
{
    return &naive_cell(s, tag, phase)->level[k];
}

/* Tells whether level k exists and is exclusive. */
static inline bool naive_is_exclusive(const struct sim_naive *s, size_t k)
{
    return k < s->n_levels && s->level[k].shape.inclusion == SIM_EXCLUSIVE;
}

#endif
