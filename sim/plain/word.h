/*
 * A line of the plain engine in 64 bits. Internal to sim/.
 *
 *     bits 63..7   line number (address / line size; addresses have SIM_ADDRESS_BITS bits)
 *     bit  6       dirty
 *     bits 5..0    tag of the last store to the line
 */
#ifndef SIM_WORD_H
#define SIM_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/access.h"

enum {
    SIM_WORD_OWNER = SIM_MAX_TAGS - 1,
    SIM_WORD_DIRTY = SIM_MAX_TAGS,
    SIM_WORD_LINE_SHIFT = 7,
    SIM_WORD_MIN_LINE_BYTES = 4, /* the numbers of shorter lines do not fit */
};

/* No line: not dirty, with a line number of 57 bits that no address of 58 bits reaches with lines of 4 bytes. */
#define SIM_WORD_EMPTY (~(uint64_t)SIM_WORD_DIRTY)

_Static_assert(SIM_WORD_OWNER < SIM_WORD_DIRTY, "the owner needs its bits below the dirty bit");
_Static_assert(SIM_ADDRESS_BITS - 2 + SIM_WORD_LINE_SHIFT < 64, "the empty word's line number must stay out of reach");
_Static_assert(SIM_WORD_DIRTY << 1 == 1 << SIM_WORD_LINE_SHIFT, "line numbers begin above the dirty bit");

static inline uint64_t sim_word_clean(uint64_t line)
{
    return line << SIM_WORD_LINE_SHIFT;
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
