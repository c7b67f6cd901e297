/*
 * Replacement policies: who leaves a full set. One file each (policy_<name>.c), looked up by name.
 *
 * A set is an array of 64-bit words owned by the cache: one word per way first, then whatever the policy wants to
 * remember. A way's word holds a line number and what is known about that line:
 *
 *     bits 63..5   line number (address / line size; addresses have SIM_ADDRESS_BITS bits)
 *     bit  4       always 0: free for a policy or a prefetcher to come
 *     bit  3       dirty
 *     bits 2..0    tag of the store that last dirtied it
 *
 * A policy may keep the words in any order it likes; nothing outside it relies on a line staying in its place.
 *
 * What every policy must guarantee, because the engine multiplies instead of repeating (hierarchy.c):
 *   - a hit neither brings a line into the set nor pushes one out;
 *   - a sequence of hits, done twice, leaves the set as it was after doing it once (so a repeated hit changes nothing).
 */
#ifndef SIM_POLICY_H
#define SIM_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/access.h"

enum {
    SIM_WORD_OWNER = SIM_MAX_TAGS - 1,
    SIM_WORD_DIRTY = 8,
    SIM_WORD_LINE_SHIFT = 5,
};

/* No line: not dirty, and a line number of 59 bits, which no address of 58 reaches even with 1-byte lines. */
#define SIM_WORD_EMPTY (~(uint64_t)SIM_WORD_DIRTY)

_Static_assert(SIM_WORD_OWNER < SIM_WORD_DIRTY, "the owner needs its bits below the dirty bit");
_Static_assert(SIM_ADDRESS_BITS + SIM_WORD_LINE_SHIFT < 64, "the empty word's line number must stay out of reach");

static inline uint64_t sim_word_clean(uint64_t line)
{
    return line << SIM_WORD_LINE_SHIFT;
}

static inline uint64_t sim_word_dirtied(uint64_t word, unsigned owner)
{
    return (word & ~(uint64_t)SIM_WORD_OWNER) | SIM_WORD_DIRTY | owner;
}

static inline uint64_t sim_word_line(uint64_t word)
{
    return word >> SIM_WORD_LINE_SHIFT;
}

static inline bool sim_word_is_dirty(uint64_t word)
{
    return word & SIM_WORD_DIRTY;
}

static inline unsigned sim_word_owner(uint64_t word)
{
    return (unsigned)(word & SIM_WORD_OWNER);
}

/* What using a line did to its set. */
struct sim_use {
    uint64_t *word;  /* where the line now is; clean if it was filled. Valid until the set is used again */
    uint64_t victim; /* the word pushed out by a fill; SIM_WORD_EMPTY if the line hit or the way was free */
    bool is_hit;
};

struct sim_policy {
    const char *name;

    /* A hit on the set's first word changes nothing, whatever happened before: the caller may skip it. */
    bool front_is_settled;

    /* Words that a set takes, at least n_ways; all of them start as SIM_WORD_EMPTY. */
    size_t (*set_words)(uint32_t n_ways);

    /* Uses a line: refreshes it if it is there, else fills it into a free way or over a victim. */
    struct sim_use (*use)(uint64_t *set, uint32_t n_ways, uint64_t line);
};

extern const struct sim_policy sim_policy_lru;

/* The policy of that name, or NULL. */
const struct sim_policy *sim_policy_find(const char *name);

#endif
