/*
 * What one level of the full engine holds: lines, what is known about each, the replacement policy's memory, and the
 * victim that is on its way out. It counts nothing and knows no other level (engine_full_path.h does). Internal.
 */
#ifndef SIM_ENGINE_FULL_LEVEL_H
#define SIM_ENGINE_FULL_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/access.h"
#include "sim/machine/machine.h"
#include "sim/prefetch/prefetch.h"
#include "sim/replacement/replacement.h"
#include "sim/full/shadow.h"

#define SIM_FULL_NO_LINE UINT64_MAX

/* What is known about a line: a byte beside its number. */
enum {
    SIM_FULL_OWNER = SIM_MAX_TAGS - 1, /* tag of the store that dirtied it last */
    SIM_FULL_DIRTY = 1 << 3,
    SIM_FULL_PREFETCHED = 1 << 4,                    /* and not used since */
    SIM_FULL_ASKER_SHIFT = 5,                        /* tag of the access that had it prefetched */
    SIM_FULL_DATA = SIM_FULL_DIRTY | SIM_FULL_OWNER, /* what travels with the line */
};

_Static_assert(SIM_FULL_OWNER < SIM_FULL_DIRTY && SIM_FULL_OWNER << SIM_FULL_ASKER_SHIFT <= UINT8_MAX,
               "a line's flags must fit into a byte");

struct sim_full_level {
    const struct sim_replacement *policy;
    struct sim_replacement_level memory; /* the policy's */
    uint64_t *state;                     /* the policy's, [n_sets][set_words], owned */
    size_t set_words;
    uint64_t *line; /* [n_sets][n_ways], owned; SIM_FULL_NO_LINE: invalid */
    uint8_t *flags; /* likewise */
    uint64_t n_sets;
    uint64_t set_mask; /* n_sets - 1 if that is a mask for a plain index, else 0 */
    uint32_t n_ways;
    uint32_t line_bytes;
    unsigned line_shift;
    bool is_exclusive, is_inclusive, is_classified;
    const struct sim_level *shape;
    struct sim_shadow *shadow;                     /* owned; NULL if misses are not classified */
    struct sim_prefetch_state *prefetch;           /* [SIM_MAX_PREFETCHERS], owned; NULL if there are none */
    struct sim_prefetch asks[SIM_MAX_PREFETCHERS]; /* the shape's, resolved */
    bool watches_hits;                             /* one of them sees all requests */
    uint64_t *due;    /* [n_sets][n_ways], owned: when a prefetched line comes; NULL if all come at once */
    uint64_t leaving; /* a victim on its way out; SIM_FULL_NO_LINE: none */
    uint8_t leaving_flags;
    unsigned page_shift;
    uint64_t page_seed;
    uint64_t page, frame; /* the last translation; page SIM_FULL_NO_LINE: none */
};

/* Where a line is, or would be. */
struct sim_full_place {
    uint64_t set;
    uint64_t first; /* way of the set, as an index of line[] */
    uint32_t way;
    bool is_hit;
};

/* Everything but the contents, of a zeroed object; the shape must outlive it. Returns 0 or -ENOMEM (release it then).
 */
int sim_full_level_init(struct sim_full_level *l, const struct sim_level *shape, unsigned page_shift,
                        uint64_t page_seed);
void sim_full_level_release(struct sim_full_level *l);
void sim_full_level_clear(struct sim_full_level *l);

/* The set of a line, where that takes more than a mask. */
uint64_t sim_full_level_hashed_set(struct sim_full_level *l, uint64_t line);

static inline struct sim_full_place sim_full_level_find(struct sim_full_level *l, uint64_t line)
{
    struct sim_full_place p = { .set = l->set_mask ? line & l->set_mask : sim_full_level_hashed_set(l, line) };

    p.first = p.set * l->n_ways;
    while (p.way < l->n_ways && l->line[p.first + p.way] != line)
        p.way++;
    p.is_hit = p.way < l->n_ways;
    return p;
}

static inline uint64_t *sim_full_level_state(const struct sim_full_level *l, uint64_t set)
{
    return l->state + set * l->set_words;
}

static inline uint8_t *sim_full_level_flags(const struct sim_full_level *l, const struct sim_full_place *p)
{
    return &l->flags[p->first + p->way];
}

/* Tells the policy that a line that is there was used. */
static inline void sim_full_level_touch(struct sim_full_level *l, const struct sim_full_place *p)
{
    l->policy->hit(&l->memory, sim_full_level_state(l, p->set), p->way);
}

/* Takes a line that is there out and returns its flags. */
uint8_t sim_full_level_remove(struct sim_full_level *l, const struct sim_full_place *p);

/* Puts a line that is not there in, clean, and notes its way. What it replaces, if anything, is then leaving. */
void sim_full_level_insert(struct sim_full_level *l, uint64_t line, struct sim_full_place *p);

/* The dirty way of a set to be written back next, or n_ways. */
uint32_t sim_full_level_next_dirty(const struct sim_full_level *l, uint64_t set);

#endif
