/* The parts of records.h in portable C. */
#ifndef SIM_RECORDS_PORTABLE_H
#define SIM_RECORDS_PORTABLE_H

#include "sim/plain/records.h"

static inline struct block compare_block(const uint64_t *record, const struct record_masks *m)
{
    return compare_some(record, BLOCK_RECORDS, m);
}

/* Most records have the two shapes that came last. */
static inline void count_block(struct record_counts *counts, const uint64_t *record, uint64_t chosen)
{
    uint64_t last = record[0], other = record[0], n_last = 0, n_other = 0;

    for (; chosen; chosen &= chosen - 1) {
        uint64_t r = record[__builtin_ctzll(chosen)];

        if (!((r ^ last) & SHAPE_MASK)) {
            n_last++;
        } else if (!((r ^ other) & SHAPE_MASK)) {
            n_other++;
        } else {
            count_records(counts, other, n_other);
            other = last;
            n_other = n_last;
            last = r;
            n_last = 1;
        }
    }
    count_records(counts, last, n_last);
    count_records(counts, other, n_other);
}

#endif
