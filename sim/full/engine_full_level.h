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
#include "sim/full/pagemap.h"
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

/* Frames of pages, where they were looked up last. */
enum { SIM_FULL_FRAMES = 64 };

struct sim_full_frames {
    uint64_t page[SIM_FULL_FRAMES]; /* by its number modulo SIM_FULL_FRAMES; SIM_FULL_NO_LINE: none */
    uint64_t frame[SIM_FULL_FRAMES];
    unsigned page_shift;
    uint64_t seed;
};

/*
 * A set is a few words in a row:
 *
 *     the policy's        set_words of them
 *     prints              8 ways to a word: a byte made of the line's number, never 0; 0: invalid. A search compares
 *                         eight at once and looks only at lines whose print fits
 *     flags               8 ways to a word
 *     lines               a word per way; SIM_FULL_NO_LINE: invalid
 *     due                 likewise, if a prefetcher's lines come late: when a prefetched line comes
 */
struct sim_full_level {
    uint64_t *sets; /* [n_sets][stride], owned */
    size_t stride;
    size_t prints_at, flags_at, lines_at, due_at; /* words of a set */
    size_t n_prints;                              /* words of prints */
    uint64_t last_prints;                         /* the highest bits of those bytes of the last one that are ways */
    uint64_t n_sets;
    uint64_t set_mask; /* of a slice: its number of sets - 1 */
    bool has_mask;     /* all there is to finding a set */
    bool is_physical;
    bool has_slices; /* the same as has_mask, but for the slice and the frame */
    bool has_order;  /* lru of few ways: touched without asking the policy */
    bool has_tree;   /* tree-plru of few ways: likewise */
    uint32_t n_ways;
    uint32_t line_bytes;
    unsigned line_shift;
    unsigned slice_bits, slice_fold;
    bool is_exclusive, is_inclusive, is_classified;
    bool is_late;      /* has due */
    bool watches_hits; /* a prefetcher sees all requests */
    bool is_like_next; /* there is a level outside, with lines of the same size */
    uint64_t n_free;   /* invalid lines */
    uint64_t leaving;  /* a victim on its way out; SIM_FULL_NO_LINE: none */
    uint8_t leaving_flags;
    const struct sim_replacement *policy;
    struct sim_replacement_level memory; /* the policy's */
    const struct sim_level *shape;
    struct sim_shadow *shadow;                     /* owned; NULL if misses are not classified */
    struct sim_prefetch_state *prefetch;           /* [n_asks], owned; NULL if there are none */
    struct sim_prefetch asks[SIM_MAX_PREFETCHERS]; /* the shape's, resolved */
    size_t n_asks;
    struct sim_replacement_tree tree;
    struct sim_full_frames frames;
};

/* Where a line is, or would be. */
struct sim_full_place {
    uint64_t *words; /* the set's */
    uint64_t set;
    uint32_t way;
    bool is_hit;
};

/* Everything but the contents, of a zeroed object; the shape must outlive it. Returns 0 or -ENOMEM (release it then).
 */
int sim_full_level_init(struct sim_full_level *l, const struct sim_level *shape, unsigned page_shift,
                        uint64_t page_seed);
void sim_full_level_release(struct sim_full_level *l);
void sim_full_level_clear(struct sim_full_level *l);

/* Looks up the frame of a page and remembers it. */
void sim_full_find_frame(struct sim_full_frames *f, uint64_t page);

static inline uint64_t sim_full_physical(struct sim_full_frames *f, uint64_t line, unsigned line_shift)
{
    uint64_t addr = line << line_shift, page = addr >> f->page_shift;
    size_t i = page % SIM_FULL_FRAMES;

    if (page != f->page[i])
        sim_full_find_frame(f, page);
    return (f->frame[i] | (addr & (((uint64_t)1 << f->page_shift) - 1))) >> line_shift;
}

/* The bytes of a word that are 0: the highest bit of each. */
static inline uint64_t sim_full_zero_bytes(uint64_t word)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;

    return ~(((word & low) + low) | word | low);
}

static inline uint8_t sim_full_print(uint64_t line)
{
    uint8_t print = (uint8_t)(line * 0x9e3779b97f4a7c15u >> 56);

    return print ? print : 1;
}

static inline uint64_t sim_full_level_set(struct sim_full_level *l, uint64_t line)
{
    if (l->has_mask)
        return line & l->set_mask;
    if (l->is_physical)
        line = sim_full_physical(&l->frames, line, l->line_shift);
    if (l->has_slices)
        return sim_slice(line, l->slice_bits, l->slice_fold) * (l->set_mask + 1) + (line & l->set_mask);
    return sim_sliced_set(line, l->n_sets, (uint32_t)1 << l->slice_bits);
}

/* Prints of ways that there are not are 0, as if invalid. */
static inline struct sim_full_place sim_full_level_find(struct sim_full_level *l, uint64_t line)
{
    struct sim_full_place p = { .set = sim_full_level_set(l, line) };
    uint64_t wanted = sim_full_print(line) * 0x0101010101010101u;
    const uint64_t *print, *lines;

    p.words = l->sets + p.set * l->stride;
    print = p.words + l->prints_at;
    lines = p.words + l->lines_at;
    for (uint32_t i = 0; i < l->n_ways; i += 8) {
        for (uint64_t found = sim_full_zero_bytes(*print++ ^ wanted); found; found &= found - 1) {
            p.way = i + (uint32_t)__builtin_ctzll(found) / 8;
            if (lines[p.way] == line) {
                p.is_hit = true;
                return p;
            }
        }
    }
    return p;
}

/* Whether a line is the most recently used of its set; finds it then. Only lru of few ways can tell. */
static inline bool sim_full_level_is_front(struct sim_full_level *l, uint64_t line, struct sim_full_place *p)
{
    if (!l->has_order)
        return false;
    p->set = sim_full_level_set(l, line);
    p->words = l->sets + p->set * l->stride;
    p->way = p->words[0] & 15;
    return (p->is_hit = p->words[l->lines_at + p->way] == line);
}

static inline uint64_t *sim_full_level_line(const struct sim_full_level *l, const struct sim_full_place *p)
{
    return &p->words[l->lines_at + p->way];
}

static inline uint8_t *sim_full_level_flags(const struct sim_full_level *l, const struct sim_full_place *p)
{
    return (uint8_t *)(p->words + l->flags_at) + p->way;
}

static inline uint64_t *sim_full_level_due(const struct sim_full_level *l, const struct sim_full_place *p)
{
    return &p->words[l->due_at + p->way];
}

/* Tells the policy that a line that is there was used. */
static inline void sim_full_level_touch(struct sim_full_level *l, const struct sim_full_place *p)
{
    if (l->has_order) {
        if ((p->words[0] & 15) != p->way)
            p->words[0] = sim_replacement_order_use(p->words[0], p->way);
    } else if (l->has_tree) {
        p->words[0] = sim_replacement_tree_use(&l->tree, p->words[0], p->way);
    } else {
        l->policy->hit(&l->memory, p->words, p->way);
    }
}

/* Takes a line that is there out and returns its flags. */
uint8_t sim_full_level_remove(struct sim_full_level *l, const struct sim_full_place *p);

/* The same as sim_full_level_insert, of any level. */
void sim_full_level_insert_any(struct sim_full_level *l, uint64_t line, struct sim_full_place *p);

/* A line's print; 0 for none. */
static inline void sim_full_level_set_print(const struct sim_full_level *l, const struct sim_full_place *p,
                                            uint8_t print)
{
    uint64_t *word = &p->words[l->prints_at + p->way / 8];
    unsigned shift = p->way % 8 * 8;

    *word = (*word & ~((uint64_t)UINT8_MAX << shift)) | (uint64_t)print << shift;
}

/* Puts a line that is not there in, clean, and notes its way. What it replaces, if anything, is then leaving. */
static inline void sim_full_level_insert(struct sim_full_level *l, uint64_t line, struct sim_full_place *p)
{
    uint8_t *flags;

    if (l->n_free || !(l->has_order || l->has_tree)) {
        sim_full_level_insert_any(l, line, p);
        return;
    }
    p->way = l->has_order ? sim_replacement_order_oldest(p->words[0], l->n_ways)
                          : sim_replacement_tree_victim(p->words[0], l->n_ways);
    p->words[0] = l->has_order ? sim_replacement_order_move(p->words[0], 4 * (l->n_ways - 1), p->way)
                               : sim_replacement_tree_use(&l->tree, p->words[0], p->way);
    flags = sim_full_level_flags(l, p);
    l->leaving = *sim_full_level_line(l, p);
    l->leaving_flags = *flags;
    *flags = 0;
    *sim_full_level_line(l, p) = line;
    sim_full_level_set_print(l, p, sim_full_print(line));
}

/* Whether the set has a dirty line; which one is to be written back next. */
bool sim_full_level_next_dirty(const struct sim_full_level *l, uint64_t set, struct sim_full_place *p);

#endif
