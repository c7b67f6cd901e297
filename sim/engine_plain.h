/*
 * The plain engine's inside: what its variants (engine_plain_core.h, built once per instruction set) share. Internal.
 */
#ifndef SIM_ENGINE_PLAIN_H
#define SIM_ENGINE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine.h"
#include "sim/word.h"

enum { SIM_PLAIN_GROUP_WAYS = 8 }; /* a set is padded to whole host cache lines of so many words */

/*
 * A level. A set's words (word.h says what is in one) are in order of use, most recent first, free ways last, then
 * padding that is never touched and holds SIM_WORD_EMPTY.
 */
struct sim_plain_level {
    uint64_t *words;   /* n_sets * set_words, owned */
    uint64_t set_mask; /* n_sets - 1, if has_mask */
    uint64_t n_sets;
    size_t set_words;
    uint32_t n_ways;
    uint32_t line_bytes;
    unsigned line_shift;
    bool has_mask; /* the number of sets is a power of two */
};

/* How often each short cut was taken: for tests, which must exercise all of them. Kept by clear_stats, too. */
struct sim_plain_paths {
    uint64_t settled_times;       /* repetitions multiplied instead of walked */
    uint64_t quiet_times;         /* repetitions in which only the runs that moved were walked */
    uint64_t walked_times;        /* the others */
    uint64_t runs_by_line;        /* placements of runs taken line by line */
    uint64_t runs_by_stride;      /* ... access by access, none straddling */
    uint64_t runs_by_access;      /* ... access by access, in general */
    uint64_t merged_records;      /* repeats of the record before */
    uint64_t alternating_records; /* repeats of the record before that */
    uint64_t straddling_records;
    uint64_t lone_records; /* looked up one by one */
};

/* What using a line did to its set. */
struct sim_plain_use {
    uint64_t word; /* a hit: the word found; a fill: the word pushed out, SIM_WORD_EMPTY if the way was free */
    bool is_hit;
};

struct sim_plain {
    struct sim_hierarchy base; /* first: see engine.h */
    const struct sim_plain_variant *variant;
    size_t n_levels;
    bool has_equal_lines; /* all levels' lines are of one size */
    struct sim_plain_level level[SIM_MAX_LEVELS];
    uint64_t n_l1_misses; /* line misses of the first level since creation */
    struct sim_plain_paths paths;
    struct sim_stats stats;
};

struct sim_plain_variant {
    const char *name;
    bool (*runs_here)(void);
    void (*accept)(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);
    void (*records)(struct sim_hierarchy *h, const uint64_t *record, size_t n);
    void (*write_back)(struct sim_plain *h, size_t k, uint64_t victim, unsigned phase);
};

extern const struct sim_plain_variant sim_plain_variant_portable;
extern const struct sim_plain_variant sim_plain_variant_avx512; /* runs nowhere if it was not compiled for x86-64 */

/* The plain engine bound to its portable variant, for tests. */
extern const struct sim_engine sim_engine_portable;

static inline const struct sim_plain_paths *sim_plain_paths(const struct sim_hierarchy *h)
{
    return &((const struct sim_plain *)h)->paths;
}

#endif
