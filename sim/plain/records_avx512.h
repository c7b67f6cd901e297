/* The parts of records.h with AVX-512. */
#ifndef SIM_RECORDS_AVX512_H
#define SIM_RECORDS_AVX512_H

#include <immintrin.h>

#include "sim/plain/records.h"

static inline struct block compare_block(const uint64_t *record, const struct record_masks *m)
{
    const __m512i same = _mm512_set1_epi64((long long)m->same), set = _mm512_set1_epi64((long long)m->set);
    const __m512i in_line = _mm512_set1_epi64((long long)m->line_bytes - 1);
    const __m512i width = _mm512_set1_epi64(SIM_RECORD_MAX_BYTES - 1);
    struct block b = { 0 };

    for (unsigned i = 0; i < BLOCK_RECORDS; i += 8) {
        __m512i now = _mm512_loadu_si512(record + i);
        __m512i x = _mm512_xor_si512(now, _mm512_loadu_si512(record + i - 1));
        __m512i y = _mm512_xor_si512(now, _mm512_loadu_si512(record + i - 2));
        __m512i begin = _mm512_and_si512(_mm512_srli_epi64(now, SIM_RECORD_ADDRESS_SHIFT), in_line);
        __m512i more = _mm512_and_si512(_mm512_srli_epi64(now, SIM_RECORD_BYTES_SHIFT), width);

        b.repeats |= (uint64_t)_mm512_testn_epi64_mask(x, same) << i;
        b.returns |= (uint64_t)_mm512_testn_epi64_mask(y, same) << i;
        b.moves |= (uint64_t)_mm512_test_epi64_mask(x, set) << i;
        b.straddles |= (uint64_t)_mm512_cmpgt_epu64_mask(_mm512_add_epi64(begin, more), in_line) << i;
    }
    return b;
}

/* The shapes of eight records. */
static inline __m128i shapes_of(const uint64_t *record)
{
    return _mm512_cvtepi64_epi16(_mm512_loadu_si512(record));
}

static inline __m512i shapes_of_32(const uint64_t *record)
{
    __m512i shapes = _mm512_castsi128_si512(shapes_of(record));

    shapes = _mm512_inserti32x4(shapes, shapes_of(record + 8), 1);
    shapes = _mm512_inserti32x4(shapes, shapes_of(record + 16), 2);
    shapes = _mm512_inserti32x4(shapes, shapes_of(record + 24), 3);
    return _mm512_and_si512(shapes, _mm512_set1_epi16((short)SHAPE_MASK));
}

/* Makes a pass per shape; a block has few shapes. */
static inline void count_block(struct record_counts *counts, const uint64_t *record, uint64_t chosen)
{
    if (chosen != ~(uint64_t)0) { /* there may not be 64 */
        for (; chosen; chosen &= chosen - 1)
            count_records(counts, record[__builtin_ctzll(chosen)], 1);
        return;
    }
    const __m512i low = shapes_of_32(record), high = shapes_of_32(record + 32);

    while (chosen) {
        uint64_t first = record[__builtin_ctzll(chosen)];
        const __m512i shape = _mm512_set1_epi16((short)(first & SHAPE_MASK));
        uint64_t same = (uint64_t)_mm512_cmpeq_epi16_mask(high, shape) << 32 | _mm512_cmpeq_epi16_mask(low, shape);

        count_records(counts, first, (uint64_t)__builtin_popcountll(same));
        chosen &= ~same;
    }
}

#endif
