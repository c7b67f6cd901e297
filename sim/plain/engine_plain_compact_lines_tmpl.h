/* Where compact words are, and the word of a line: sets, and names of regions. Part of engine_plain_compact_tmpl.h. */
#include <string.h>

#include "sim/plain/engine_plain.h"

#define ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

enum {
    REGION_LINES = 1 << SIM_REGION_SHIFT,
    FLAGS = SIM_COMPACT_ONE - 1, /* dirty bit and owner of a word */
};

/* The set's number times 16, for the line of this word. */
static inline size_t set_number_16(const struct sim_plain_sets *s, uint32_t word)
{
    uint32_t id = sim_compact_id(word);

    if (s->has_mask)
        return word & s->mask;
    return (s->region_set[id >> SIM_REGION_SHIFT] + (id & (REGION_LINES - 1))) % s->n_sets * (size_t)16;
}

static inline uint32_t *set_of(const struct sim_plain_sets *s, uint32_t word)
{
    size_t set = set_number_16(s, word);

    if (s->size == SIM_PLAIN_SMALL)
        return s->words + set / 2;
    if (s->size == SIM_PLAIN_GROUP)
        return s->words + set;
    return s->words + set / 16 * s->set_words;
}

/* Out of the way of the others' registers. */
static __attribute__((noinline)) struct sim_compact_use use_many(uint32_t *set, uint32_t n_words, uint32_t n_ways,
                                                                 uint32_t word)
{
    uint32_t place = find_word(set, n_words, word), last = place < n_words ? place : n_ways - 1;
    struct sim_compact_use use = { set[last], place < n_words };

    memmove(set + 1, set, last * sizeof *set);
    set[0] = use.is_hit ? sim_compact_used(use.word, word) : word;
    return use;
}

static inline struct sim_compact_use use_line(const struct sim_plain_sets *s, uint32_t *set, uint32_t word)
{
    if (s->size == SIM_PLAIN_SMALL)
        return use_small(set, s->last_way, word);
    if (s->size == SIM_PLAIN_GROUP)
        return use_group(set, s->last_way, word);
    return use_many(set, s->set_words, s->n_ways, word);
}

static void place_region(struct sim_plain *h, unsigned number, uint64_t region)
{
    for (struct sim_plain_level *c = h->level; c < h->level + h->n_levels; c++)
        c->region_set[number] = (uint32_t)((region << SIM_REGION_SHIFT) % c->n_sets);
}

/* Admits a region that is not among the recent regions, and makes the region recent. */
static __attribute__((noinline)) bool admit_other_region(struct sim_plain *h, uint64_t region)
{
    unsigned n = h->regions.n;
    bool has_name = sim_region_admit(&h->regions, region);

    if (h->regions.n != n) {
        place_region(h, n, region);
        for (struct sim_plain *f = h->pack.follower; f; f = f->pack.next)
            place_region(f, n, region);
    }
    return has_name;
}

/* Returns the region's name, a new name if need be; NULL: no names are left. */
static inline const struct sim_region_name *admit_region(struct sim_plain *h, uint64_t region)
{
    const struct sim_region_name *recent = &h->regions.recent[region % SIM_RECENT_REGIONS];

    return recent->region_1 == region + 1 || admit_other_region(h, region) ? recent : NULL;
}

/* Returns the clean word of a line, by its region's name. */
static inline uint32_t line_word(const struct sim_region_name *name, uint64_t line)
{
    return (uint32_t)(line & (REGION_LINES - 1)) << SIM_COMPACT_LINE_SHIFT | name->first_word;
}

/* Tells whether lines from first to last, perhaps around the end of the address space, can be touched. */
static inline bool admit_lines(struct sim_plain *h, uint64_t first, uint64_t last)
{
    const uint64_t mask = ADDRESS_MASK >> h->level[0].line_shift >> SIM_REGION_SHIFT;
    uint64_t region = first >> SIM_REGION_SHIFT, end = last >> SIM_REGION_SHIFT;

    if (((end - region) & mask) > SIM_MAX_REGIONS)
        return false;
    for (;; region = (region + 1) & mask) {
        if (!admit_region(h, region))
            return false;
        if (region == end)
            return true;
    }
}
