/*
 * What the plain engine knows of one line, in 64 bits. Internal to sim/.
 *
 *     bits 63..5   line number (address / line size; addresses have SIM_ADDRESS_BITS bits)
 *     bit  4       always 0
 *     bit  3       dirty
 *     bits 2..0    tag of the store that last dirtied it
 */
#ifndef SIM_WORD_H
#define SIM_WORD_H

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

#endif
