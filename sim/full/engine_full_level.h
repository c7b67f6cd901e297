/*
 * A level of the full engine: lines with their flags, the replacement policy's memory, and the victim on its way out. A
 * level counts nothing and knows no further level (engine_full_path_tmpl.h does). Internal.
 */
#ifndef SIM_ENGINE_FULL_LEVEL_H
#define SIM_ENGINE_FULL_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/base/search.h"
#include "sim/base/stats.h"
#include "sim/full/pagemap.h"
#include "sim/full/shadow.h"
#include "sim/machine/machine.h"
#include "sim/prefetch/prefetch_state.h"
#include "sim/replacement/replacement.h"

/* The flags of a line: 16 bits beside the line's number. */
enum {
    SIM_FULL_OWNER = SIM_MAX_TAGS - 1, /* tag of the last store to the line */
    SIM_FULL_DIRTY = SIM_MAX_TAGS,
    SIM_FULL_PLACE_AT = 7,
    SIM_FULL_PREFETCHED = 7 << SIM_FULL_PLACE_AT,    /* and not used since: by the prefetcher of this place, from 1 */
    SIM_FULL_ASKER_SHIFT = 10,                       /* tag of the access that caused the prefetch */
    SIM_FULL_DATA = SIM_FULL_DIRTY | SIM_FULL_OWNER, /* flags that travel with the line */
};

_Static_assert(SIM_FULL_OWNER < SIM_FULL_DIRTY && SIM_FULL_DIRTY < 1 << SIM_FULL_PLACE_AT &&
                   SIM_N_PREFETCHERS << SIM_FULL_PLACE_AT <= SIM_FULL_PREFETCHED &&
                   SIM_FULL_PREFETCHED < 1 << SIM_FULL_ASKER_SHIFT &&
                   SIM_FULL_OWNER << SIM_FULL_ASKER_SHIFT <= UINT16_MAX,
               "a line's flags must fit into 16 bits");

/* How a request finds its line, as far as prefetchers see a difference (enum sim_prefetch_on). */
enum sim_full_sight {
    SIM_FULL_SEEN_HIT,
    SIM_FULL_SEEN_FIRST_USE, /* of a prefetched line */
    SIM_FULL_SEEN_AHEAD,     /* missed by a prefetch of a level inside */
    SIM_FULL_SEEN_MISS,      /* missed by anything else */
    SIM_FULL_SIGHTS,
};

/* A prefetcher of a level, and the limits of its requests. */
struct sim_full_asker {
    struct sim_prefetch p; /* resolved */
    unsigned block_shift;  /* of the level */
    unsigned stay_shift;   /* log2 of the lines of a block: requested lines must stay in the block; 63: no limit */
    uint64_t mask;         /* of a line's number: addresses wrap where pages are crossed */
    uint64_t by;           /* level, `late` and index, as in struct sim_full_wanted */
    struct sim_prefetch_counts *counts;
    struct sim_prefetch_state state;
};

enum { SIM_FULL_FRAMES = 256, SIM_FULL_QUEUE = 64 };

/* A recently looked-up page. */
struct sim_full_frame {
    uint64_t page;  /* SIM_FULL_NO_LINE: none */
    uint64_t first; /* first line of the page's frame */
    uint64_t slice; /* slice of the first line */
};

/* Says how a level finds the set of a line. */
struct sim_full_index {
    uint64_t n_sets; /* of a slice */
    uint64_t mask;   /* n_sets - 1, if has_power */
    bool has_power;  /* n_sets is a power of two */
    bool has_mask;   /* and the mask is all there is to finding a set */
    bool is_physical;
    unsigned line_shift, page_shift, slice_bits;
    unsigned page_lines_shift;   /* log2 of the lines in a page; 0 if lines are longer */
    unsigned fold, fold_in_page; /* for sim_slice_fold, of a line's number, and of the line's number within a page */
    uint64_t seed;
    struct sim_full_frame frame[SIM_FULL_FRAMES]; /* by the page's number modulo SIM_FULL_FRAMES */
};

/*
 * A set is a row of words: the lines; if prefetched lines come late, the times at which lines come; the policy's words;
 * the flags, 4 ways to a word.
 */
struct sim_full_level {
    uint64_t *rows;                     /* [n_sets][stride], and as much as a search reads beyond, owned */
    uint64_t *kept;                     /* likewise, owned: the rows before a skipped part of a stream; NULL: none */
    bool has_kept;                      /* kept is of the current skipped part */
    size_t stride;                      /* words of a row */
    size_t due_at, policy_at, flags_at; /* words before */
    uint32_t n_ways;
    bool has_order; /* lru of few ways: touched without asking the policy */
    bool has_tree;  /* tree-plru of few ways: likewise */
    bool is_exclusive, is_inclusive, is_classified;
    bool is_late;      /* has due */
    bool is_like_next; /* there is a level outside, with lines of equal size */
    bool is_small;     /* the set is a part of the line's number; two groups of ways at most */
    uint32_t way_bits; /* the ways, if is_small */
    bool is_simple;    /* clean victims concern no level: no inclusive level outside, no exclusive level next outside */
    uint16_t leaving_flags;
    uint32_t line_bytes;
    unsigned line_shift;
    uint64_t n_free;  /* invalid lines */
    uint64_t leaving; /* the victim on its way out; SIM_FULL_NO_LINE: none */
    const struct sim_replacement *policy;
    const struct sim_level *shape;
    struct sim_shadow *shadow;    /* owned; NULL if misses are not classified */
    unsigned block_shift;         /* log2 of the lines in a block of prefetchers */
    struct sim_full_asker *asker; /* [n_askers], owned; NULL if there are none */
    size_t n_askers;
    struct sim_full_asker *seer[SIM_FULL_SIGHTS][SIM_MAX_PREFETCHERS + 1]; /* by kind of request; NULL last */
    struct sim_replacement_tree tree;
    struct sim_replacement_level policy_level; /* the policy's memory of all sets */
    struct sim_full_index index;
};

/* Says where a line is, or would be: small enough for registers. */
struct sim_full_place {
    uint64_t *row; /* row of the line's set */
    int32_t way;   /* -1: the line is absent */
};

/*
 * Sets all members but the contents, of a zeroed level; the shape must outlive the level. Returns 0 or -ENOMEM (then
 * release the level).
 */
int sim_full_level_init(struct sim_full_level *l, const struct sim_level *shape, unsigned page_shift,
                        uint64_t page_seed);
void sim_full_level_release(struct sim_full_level *l);
void sim_full_level_clear(struct sim_full_level *l);

/* Keeps the content for sim_full_level_bring_back(), unless most ways are invalid or memory does not suffice. */
void sim_full_level_keep(struct sim_full_level *l);

/* Puts a set's kept lines in place of the lines, and returns the row: clean, with the policy's memory. */
uint64_t *sim_full_level_bring_back(struct sim_full_level *l, uint64_t set);

/* Finds and remembers the frame of a page. */
void sim_full_find_frame(struct sim_full_index *x, uint64_t page);

static inline const struct sim_full_frame *sim_full_frame(struct sim_full_index *x, uint64_t page)
{
    const struct sim_full_frame *f = &x->frame[page % SIM_FULL_FRAMES];

    if (page != f->page)
        sim_full_find_frame(x, page);
    return f;
}

/* Returns a set by its slice and a physical line number. */
static inline uint64_t sim_full_set_of_slice(const struct sim_full_index *x, uint64_t slice, uint64_t line)
{
    return slice * x->n_sets + (x->has_power ? line & x->mask : line % x->n_sets);
}

/* The hash of a physical line is the XOR of two hashes: the frame's, and the line's within the frame. */
static inline uint64_t sim_full_set_in(const struct sim_full_index *x, const struct sim_full_frame *f, uint64_t line)
{
    uint64_t in_page = line & (((uint64_t)1 << x->page_lines_shift) - 1);

    return sim_full_set_of_slice(x, f->slice ^ sim_slice(in_page, x->slice_bits, x->fold_in_page), f->first | in_page);
}

static inline uint64_t sim_full_set(struct sim_full_index *x, uint64_t line)
{
    if (x->has_mask)
        return line & x->mask;
    if (x->is_physical)
        return sim_full_set_in(x, sim_full_frame(x, line >> x->page_lines_shift), line);
    return sim_full_set_of_slice(x, sim_slice(line, x->slice_bits, x->fold), line);
}

static inline uint64_t *sim_full_level_row(const struct sim_full_level *l, uint64_t set)
{
    return l->rows + set * l->stride;
}

static __attribute__((noinline, unused)) struct sim_full_place sim_full_level_find_any(struct sim_full_level *l,
                                                                                       uint64_t line)
{
    uint64_t *row = sim_full_level_row(l, sim_full_set(&l->index, line));

    return (struct sim_full_place){ row, sim_search(row, l->n_ways, line) };
}

/* Finds a line in a physically indexed level. The line's page is mostly among the recent pages. */
static __attribute__((noinline, unused)) struct sim_full_place sim_full_level_find_physical(struct sim_full_level *l,
                                                                                            uint64_t line)
{
    const uint64_t page = line >> l->index.page_lines_shift;
    uint64_t *row;

    if (l->index.frame[page % SIM_FULL_FRAMES].page != page)
        return sim_full_level_find_any(l, line);
    row = sim_full_level_row(l, sim_full_set_in(&l->index, &l->index.frame[page % SIM_FULL_FRAMES], line));
    return (struct sim_full_place){ row, sim_search(row, l->n_ways, line) };
}

/* Finds a line in a level with is_small. */
static inline __attribute__((always_inline)) struct sim_full_place
sim_full_level_find_small(const struct sim_full_level *l, uint64_t line)
{
    uint64_t *row = l->rows + (line & l->index.mask) * l->stride;
    uint32_t same = sim_search_compare(row, line);

    if (l->n_ways > SIM_SEARCH_GROUP)
        same |= sim_search_compare(row + SIM_SEARCH_GROUP, line) << SIM_SEARCH_GROUP;
    same &= l->way_bits;
    return (struct sim_full_place){ row, same ? __builtin_ctz(same) : -1 };
}

static inline __attribute__((always_inline)) struct sim_full_place sim_full_level_find(struct sim_full_level *l,
                                                                                       uint64_t line)
{
    if (l->is_small)
        return sim_full_level_find_small(l, line);
    return l->index.is_physical ? sim_full_level_find_physical(l, line) : sim_full_level_find_any(l, line);
}

/* Prefetches, for the host, the row of a line. */
static inline void sim_full_level_expect(struct sim_full_level *l, uint64_t line)
{
    const uint64_t *row = sim_full_level_row(l, sim_full_set(&l->index, line));

    for (size_t i = 0; i < l->stride; i += SIM_SEARCH_GROUP)
        __builtin_prefetch(row + i, 1);
}

static inline bool sim_full_is_hit(struct sim_full_place p)
{
    return p.way >= 0;
}

static inline uint64_t *sim_full_level_line(struct sim_full_place p)
{
    return &p.row[p.way];
}

static inline uint64_t *sim_full_level_memory(const struct sim_full_level *l, struct sim_full_place p)
{
    return p.row + l->policy_at;
}

static inline uint16_t *sim_full_level_flags(const struct sim_full_level *l, struct sim_full_place p)
{
    return (uint16_t *)(void *)(p.row + l->flags_at) + p.way;
}

static inline uint64_t *sim_full_level_due(const struct sim_full_level *l, struct sim_full_place p)
{
    return &p.row[l->due_at + (size_t)p.way];
}

/* Tells the policy about a hit, in a level with has_order or has_tree. */
static inline void sim_full_level_touch_small(const struct sim_full_level *l, struct sim_full_place p)
{
    uint64_t *memory = sim_full_level_memory(l, p);
    uint32_t way = (uint32_t)p.way;

    if (!l->has_order)
        *memory = sim_replacement_tree_use(&l->tree, *memory, way);
    else if ((*memory & 15) != way)
        *memory = sim_replacement_order_use(*memory, way);
}

/* Tells whether sim_full_level_touch_small() would change nothing. */
static inline bool sim_full_level_is_last(const struct sim_full_level *l, struct sim_full_place p)
{
    const uint64_t memory = *sim_full_level_memory(l, p);
    uint32_t way = (uint32_t)p.way;

    return l->has_order ? (memory & 15) == way : sim_replacement_tree_use(&l->tree, memory, way) == memory;
}

/* Tells the policy about a hit. */
static inline void sim_full_level_touch(struct sim_full_level *l, struct sim_full_place p)
{
    if (l->has_order || l->has_tree)
        sim_full_level_touch_small(l, p);
    else
        l->policy->hit(&l->policy_level, sim_full_level_memory(l, p), (uint32_t)p.way);
}

/* Removes a present line and returns its flags. */
uint16_t sim_full_level_remove(struct sim_full_level *l, struct sim_full_place p);

/* Does the same as sim_full_level_insert, for any level. */
int32_t sim_full_level_insert_any(struct sim_full_level *l, uint64_t line, uint64_t *row);

/* Returns the victim's way in a full set, and makes the way the most recently used. */
static inline uint32_t sim_full_level_victim(const struct sim_full_level *l, uint64_t *memory)
{
    uint32_t way;

    if (l->has_order) {
        way = sim_replacement_order_oldest(*memory, l->n_ways);
        *memory = sim_replacement_order_move(*memory, 4 * (l->n_ways - 1), way);
    } else {
        way = sim_replacement_tree_victim(*memory, l->n_ways);
        *memory = sim_replacement_tree_use(&l->tree, *memory, way);
    }
    return way;
}

/*
 * Inserts an absent line, clean, and returns its way. A replaced line is then `leaving`, unless is_simple and the line
 * has no flags.
 */
static inline int32_t sim_full_level_insert(struct sim_full_level *l, uint64_t line, uint64_t *row)
{
    struct sim_full_place p = { row, -1 };
    uint16_t *flags;

    if (!(l->has_order || l->has_tree))
        return sim_full_level_insert_any(l, line, row);
    if (l->n_free)
        p.way = sim_search(row, l->n_ways, SIM_FULL_NO_LINE);
    if (sim_full_is_hit(p)) {
        l->n_free--;
        sim_full_level_touch(l, p);
        flags = sim_full_level_flags(l, p);
    } else {
        p.way = (int32_t)sim_full_level_victim(l, sim_full_level_memory(l, p));
        flags = sim_full_level_flags(l, p);
        if (*flags || !l->is_simple) {
            l->leaving = *sim_full_level_line(p);
            l->leaving_flags = *flags;
        }
    }
    *flags = 0;
    *sim_full_level_line(p) = line;
    return p.way;
}

/* Tells whether p's set has a dirty line; stores in p the dirty line that is written back next. */
bool sim_full_level_next_dirty(const struct sim_full_level *l, struct sim_full_place *p);

#endif
