/*
 * Blocks of records: definitions shared by the plain engine's front-end of records (engine_plain_records_tmpl.h) and
 * its parts for each instruction set. Internal. A variant defines, before the front-end is included (records_portable.h
 * has the portable C)
 *
 *   compare_block(record, m)             compares BLOCK_RECORDS records with the two before each: record[-1],
 *                                        record[-2]
 *   count_block(counts, record, chosen)  counts the chosen records of a block, and reads no further records
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

/* Comparison of a block's records with the records before: a bit per record, the first record in bit 0. */
struct block {
    uint64_t repeats;   /* equal line, kind, tag, phase and width as the record before */
    uint64_t returns;   /* equal to the record two before */
    uint64_t moves;     /* another set than the record before; never set if a record does not show its set */
    uint64_t straddles; /* several lines */
};

struct record_masks {
    uint64_t same; /* mask of line, kind, tag, phase and width */
    uint64_t set;  /* mask of the set number; 0 if the set number is no field of bits */
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
