/*
 * Blocks of records, as the plain engine takes them: what its front-end (engine_plain_records_tmpl.h) and the parts of
 * that which differ from one instruction set to the next have in common. Internal. A variant defines, before it
 * includes the front-end (records_portable.h does, in portable C)
 *
 *   compare_block(record, m)             BLOCK_RECORDS records and the two before each, record[-1] and record[-2]
 *   count_block(counts, record, chosen)  counts the records of a block that a bit is set for, and reads no others
 */
#ifndef SIM_RECORDS_H
#define SIM_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/record.h"

enum {
    BLOCK_RECORDS = 64,
    CLASS_MASK = (1 << SIM_RECORD_BYTES_SHIFT) - 1,   /* kind, tag and phase of a record */
    SHAPE_MASK = (1 << SIM_RECORD_ADDRESS_SHIFT) - 1, /* and width */
};

_Static_assert(SHAPE_MASK <= UINT16_MAX, "vectors compare shapes of 16 bits");

/* Says what the records of a block are to the ones before them: a bit per record, the first in bit 0. */
struct block {
    uint64_t repeats;   /* same line, kind, tag, phase and width as the record before */
    uint64_t returns;   /* the same as the record before that one */
    uint64_t moves;     /* another set than the record before; never set where that cannot be read off */
    uint64_t straddles; /* more than one line */
};

struct record_masks {
    uint64_t same; /* what two accesses of one line, kind, tag, phase and width have in common */
    uint64_t set;  /* the set number in a record; 0 if it is no field of bits */
    uint64_t line_bytes;
};

static inline unsigned straddles(uint64_t record, const struct record_masks *m)
{
    return (sim_record_addr(record) & (m->line_bytes - 1)) + sim_record_bytes(record) > m->line_bytes;
}

/* Compares n records with the two before each, in portable C. */
static inline struct block compare_some(const uint64_t *record, size_t n, const struct record_masks *m)
{
    struct block b = { 0 };

    for (size_t i = 0; i < n; i++) {
        uint64_t x = record[i] ^ record[(ptrdiff_t)i - 1], y = record[i] ^ record[(ptrdiff_t)i - 2];

        b.repeats |= (uint64_t) !(x & m->same) << i;
        b.returns |= (uint64_t) !(y & m->same) << i;
        b.moves |= (uint64_t) !!(x & m->set) << i;
        b.straddles |= (uint64_t)straddles(record[i], m) << i;
    }
    return b;
}

/* Records counted by kind, tag and phase, their low bits; to be added to the statistics at the end. */
struct record_counts {
    uint64_t n[CLASS_MASK + 1];
    uint64_t bytes[CLASS_MASK + 1];
};

static inline void count_records(struct record_counts *counts, uint64_t record, uint64_t n)
{
    counts->n[record & CLASS_MASK] += n;
    counts->bytes[record & CLASS_MASK] += n * sim_record_bytes(record);
}

#endif
