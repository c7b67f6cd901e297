/*
 * A line of the plain engine in 32 bits: half of word.h, so that a set of 16 ways is a cache line of the host and a
 * vector register. Internal to sim/.
 *
 *     bits 31..4   number of the line, see below
 *     bit  3       dirty
 *     bits 2..0    tag of the last store to the line, a usual tag
 *
 * Line numbers have up to 58 bits. They are renamed to 28 bits by regions of 2^20 neighbouring lines (64 MiB of 64-byte
 * lines): each touched region gets the next free number, and the number replaces the upper bits. The lower bits stay,
 * so with up to 2^20 sets, if their number is a power of two, the word shows the set number. 255 regions have numbers;
 * streams that touch more regions (16 GiB or more) need wide words.
 */
#ifndef SIM_COMPACT_H
#define SIM_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/plain/word.h"

enum {
    SIM_COMPACT_OWNER = SIM_USUAL_TAGS - 1,
    SIM_COMPACT_DIRTY = SIM_USUAL_TAGS,
    SIM_COMPACT_LINE_SHIFT = 4,
    SIM_COMPACT_ONE = 1 << SIM_COMPACT_LINE_SHIFT, /* words of a line differ by less */
    SIM_REGION_SHIFT = 20,
    SIM_MAX_REGIONS = 255,
    SIM_REGION_SLOT_BITS = 9,
    SIM_REGION_SLOTS = 1 << SIM_REGION_SLOT_BITS,
    SIM_RECENT_REGIONS = 16,
};

/* No line: not dirty, and in a 256th region. */
#define SIM_COMPACT_EMPTY (~(uint32_t)SIM_COMPACT_DIRTY)

_Static_assert(SIM_COMPACT_DIRTY << 1 == SIM_COMPACT_ONE, "owner and dirty bit fill what is below the line");
_Static_assert((SIM_MAX_REGIONS + 1) << SIM_REGION_SHIFT == 1 << 28, "a line number fills the rest of the word");

/* A region's name in words: region + 1 (0: none), and the clean word of the region's first line. */
struct sim_region_name {
    uint64_t region_1;
    uint32_t first_word;
};

/*
 * The known regions: a hash table with open addressing, less than half full, and a small table of recently used
 * regions.
 */
struct sim_regions {
    struct sim_region_name recent[SIM_RECENT_REGIONS]; /* by region modulo SIM_RECENT_REGIONS */
    struct sim_region_name slot[SIM_REGION_SLOTS];
    uint64_t region[SIM_MAX_REGIONS]; /* by number */
    unsigned n;
};

/* Returns the slot of a region (line number >> SIM_REGION_SHIFT), or the free slot for the region. */
static inline size_t sim_region_slot(const struct sim_regions *r, uint64_t region)
{
    size_t slot = (size_t)(region * 0x9e3779b97f4a7c15u >> (64 - SIM_REGION_SLOT_BITS));

    while (r->slot[slot].region_1 != region + 1 && r->slot[slot].region_1)
        slot = (slot + 1) % SIM_REGION_SLOTS;
    return slot;
}

/* Looks the region up in the whole table. A new region gets the next number. Returns false if all numbers are taken. */
static inline bool sim_region_admit(struct sim_regions *r, uint64_t region)
{
    struct sim_region_name *name = &r->slot[sim_region_slot(r, region)];

    if (!name->region_1 && r->n < SIM_MAX_REGIONS) {
        *name = (struct sim_region_name){ region + 1, r->n << (SIM_REGION_SHIFT + SIM_COMPACT_LINE_SHIFT) };
        r->region[r->n++] = region;
    }
    r->recent[region % SIM_RECENT_REGIONS] = *name;
    return name->region_1;
}

/* Returns the name of a named region. */
static inline const struct sim_region_name *sim_region_name(const struct sim_regions *r, uint64_t region)
{
    const struct sim_region_name *recent = &r->recent[region % SIM_RECENT_REGIONS];

    return recent->region_1 == region + 1 ? recent : &r->slot[sim_region_slot(r, region)];
}

static inline uint32_t sim_compact_clean(uint32_t id)
{
    return id << SIM_COMPACT_LINE_SHIFT;
}

static inline uint32_t sim_compact_id(uint32_t word)
{
    return word >> SIM_COMPACT_LINE_SHIFT;
}

/* Returns the word after a hit on the line of `old`: a store leaves its word, a load the old word. */
static inline uint32_t sim_compact_used(uint32_t old, uint32_t word)
{
    return word & SIM_COMPACT_DIRTY ? word : old;
}

/* Returns the wide word. */
static inline uint64_t sim_compact_widen(const struct sim_regions *r, uint32_t word)
{
    uint32_t id = sim_compact_id(word);
    uint64_t line;

    if (word == SIM_COMPACT_EMPTY)
        return SIM_WORD_EMPTY;
    line = r->region[id >> SIM_REGION_SHIFT] << SIM_REGION_SHIFT | (id & ((1u << SIM_REGION_SHIFT) - 1));
    return sim_word_clean(line) | (word & SIM_COMPACT_DIRTY ? SIM_WORD_DIRTY : 0) | (word & SIM_COMPACT_OWNER);
}

#endif
