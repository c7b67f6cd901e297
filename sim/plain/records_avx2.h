/* The parts of records.h with AVX2. */
#ifndef SIM_RECORDS_AVX2_H
#define SIM_RECORDS_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "sim/plain/records.h"

static inline __m256i load_4(const uint64_t *record)
{
    return _mm256_loadu_si256((const __m256i *)record);
}

/* Returns ones in the lanes without a bit of the mask. */
static inline __m256i lanes_without(__m256i x, __m256i mask)
{
    return _mm256_cmpeq_epi64(_mm256_and_si256(x, mask), _mm256_setzero_si256());
}

static inline uint64_t bit_per_lane(__m256i lanes)
{
    return (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(lanes));
}

static inline struct block compare_block(const uint64_t *record, const struct record_masks *m)
{
    const __m256i same = _mm256_set1_epi64x((long long)m->same), set = _mm256_set1_epi64x((long long)m->set);
    const __m256i in_line = _mm256_set1_epi64x((long long)m->line_bytes - 1);
    const __m256i width = _mm256_set1_epi64x(SIM_RECORD_MAX_BYTES - 1);
    struct block b = { 0 };
    uint64_t stays = 0;

    for (unsigned i = 0; i < BLOCK_RECORDS; i += 4) {
        __m256i now = load_4(record + i);
        __m256i x = _mm256_xor_si256(now, load_4(record + i - 1));
        __m256i y = _mm256_xor_si256(now, load_4(record + i - 2));
        __m256i begin = _mm256_and_si256(_mm256_srli_epi64(now, SIM_RECORD_ADDRESS_SHIFT), in_line);
        __m256i more = _mm256_and_si256(_mm256_srli_epi64(now, SIM_RECORD_BYTES_SHIFT), width);

        b.repeats |= bit_per_lane(lanes_without(x, same)) << i;
        b.returns |= bit_per_lane(lanes_without(y, same)) << i;
        stays |= bit_per_lane(lanes_without(x, set)) << i;
        b.straddles |= bit_per_lane(_mm256_sub_epi64(in_line, _mm256_add_epi64(begin, more))) << i;
    }
    b.moves = ~stays;
    return b;
}

/* Returns the shapes of 16 records; records 4 apart become neighbours. */
static inline __m256i shapes_of_16(const uint64_t *record)
{
    __m256i shapes = load_4(record);

    shapes = _mm256_blend_epi16(shapes, _mm256_slli_epi64(load_4(record + 4), 16), 0x22);
    shapes = _mm256_blend_epi16(shapes, _mm256_slli_epi64(load_4(record + 8), 32), 0x44);
    shapes = _mm256_blend_epi16(shapes, _mm256_slli_epi64(load_4(record + 12), 48), 0x88);
    return _mm256_and_si256(shapes, _mm256_set1_epi16((short)SHAPE_MASK));
}

/* Returns two bits per shape, of 32, that equals the wanted shape. */
static inline uint64_t find_shape(const __m256i shapes[2], __m256i wanted)
{
    uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(shapes[0], wanted));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(shapes[1], wanted));

    return (uint64_t)high << 32 | low;
}

/* Makes a pass per shape; a block has few shapes. */
static inline void count_block(struct record_counts *counts, const uint64_t *record, uint64_t chosen)
{
    __m256i shapes[4];
    uint16_t shape[BLOCK_RECORDS];
    uint64_t left[2] = { ~(uint64_t)0, ~(uint64_t)0 };

    if (chosen != ~(uint64_t)0) { /* there may not be 64 */
        for (; chosen; chosen &= chosen - 1)
            count_records(counts, record[__builtin_ctzll(chosen)], 1);
        return;
    }
    for (size_t i = 0; i < 4; i++)
        shapes[i] = shapes_of_16(record + 16 * i);
    memcpy(shape, shapes, sizeof shape);
    while (left[0] | left[1]) {
        uint64_t first = shape[left[0] ? __builtin_ctzll(left[0]) / 2 : 32 + __builtin_ctzll(left[1]) / 2];
        const __m256i wanted = _mm256_set1_epi16((short)first);
        uint64_t low = find_shape(shapes, wanted), high = find_shape(shapes + 2, wanted);

        count_records(counts, first, (uint64_t)(__builtin_popcountll(low) + __builtin_popcountll(high)) / 2);
        left[0] &= ~low;
        left[1] &= ~high;
    }
}

#endif
