/*
 * The plain engine with compact words and AVX2: a set of up to 8 ways is searched and moved in one register, a set of
 * up to 16 ways in two, the second only if the line is not in the first.
 */
#include "sim/plain/engine_plain.h"

#ifdef __AVX2__

#include <immintrin.h>

#include "sim/plain/records_avx2.h"

/* A bit per word of the line wanted. */
static inline uint32_t find_in_8(__m256i words, __m256i wanted)
{
    const __m256i differ = _mm256_srli_epi32(_mm256_xor_si256(words, wanted), SIM_COMPACT_LINE_SHIFT);

    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(differ, _mm256_setzero_si256())));
}

/* Returns ones in lanes 0..last. */
static inline __m256i lanes_to(uint32_t last)
{
    static const int32_t ones_then_zeros[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };

    return _mm256_loadu_si256((const __m256i *)(ones_then_zeros + 7 - last));
}

/* Moves each lane up, and the last lane to the first. */
static inline __m256i rotate_8(__m256i words)
{
    return _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
}

/* Puts a word in front of 8 words; lanes before `last` move up, and lane `last` is lost. */
static inline void push_8(uint32_t *set, __m256i words, uint32_t last, __m256i front)
{
    const __m256i moved = _mm256_blend_epi32(rotate_8(words), front, 1);

    _mm256_store_si256((__m256i *)set, _mm256_blendv_epi8(words, moved, lanes_to(last)));
}

static inline struct sim_compact_use use_small(uint32_t *set, uint32_t last_way, uint32_t word)
{
    const __m256i words = _mm256_load_si256((const __m256i *)set), wanted = _mm256_set1_epi32((int)word);
    uint32_t found = find_in_8(words, wanted), place = (uint32_t)__builtin_ctz(found ? found : last_way);
    struct sim_compact_use use = { set[place], found != 0 };

    if (!found)
        push_8(set, words, place, wanted);
    else
        push_8(set, words, place, _mm256_set1_epi32((int)sim_compact_used(use.word, word)));
    return use;
}

static inline struct sim_compact_use use_group(uint32_t *set, uint32_t last_way, uint32_t word)
{
    const __m256i near = _mm256_load_si256((const __m256i *)set), far = _mm256_load_si256((const __m256i *)set + 1);
    const __m256i wanted = _mm256_set1_epi32((int)word);
    uint32_t found = find_in_8(near, wanted), place;
    struct sim_compact_use use;

    if (found) {
        use = (struct sim_compact_use){ set[__builtin_ctz(found)], true };
        push_8(set, near, (uint32_t)__builtin_ctz(found), _mm256_set1_epi32((int)sim_compact_used(use.word, word)));
        return use;
    }
    found = find_in_8(far, wanted) << 8;
    place = (uint32_t)__builtin_ctz(found ? found : last_way);
    use = (struct sim_compact_use){ set[place], found != 0 };
    if (place >= 8)
        push_8(set + 8, far, place - 8, rotate_8(near));
    push_8(set, near, place >= 8 ? 7 : place,
           found ? _mm256_set1_epi32((int)sim_compact_used(use.word, word)) : wanted);
    return use;
}

static inline uint32_t find_word(const uint32_t *set, uint32_t n_words, uint32_t word)
{
    const __m256i wanted = _mm256_set1_epi32((int)word);

    for (uint32_t i = 0; i < n_words; i += 8) {
        uint32_t found = find_in_8(_mm256_load_si256((const __m256i *)(set + i)), wanted);

        if (found)
            return i + (uint32_t)__builtin_ctz(found);
    }
    return n_words;
}

static inline uint64_t find_kind(const uint64_t *kinds, uint8_t kind)
{
    const __m256i wanted = _mm256_set1_epi8((char)kind), *half = (const __m256i *)kinds;
    uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(half), wanted));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(half + 1), wanted));

    return (uint64_t)high << 32 | low;
}

#include "sim/plain/engine_plain_compact_tmpl.h"
#include "sim/plain/engine_plain_bursts_tmpl.h"
#include "sim/plain/engine_plain_records_tmpl.h"

const struct sim_plain_variant sim_plain_compact_avx2 = {
    .name = "avx2",
    .isa = CPU_ISA_AVX2,
    .accept = accept,
    .records = records,
    .touch_listed = touch_listed,
    .settle = settle,
    .flush = flush,
};

#else

const struct sim_plain_variant sim_plain_compact_avx2 = { .name = "avx2" };

#endif
