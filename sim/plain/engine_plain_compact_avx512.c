/*
 * The plain engine with compact words and AVX-512: a set of up to 16 ways is searched and moved in one register,
 * without a branch on the place of the line.
 */
#include "sim/plain/engine_plain.h"

#ifdef __AVX512F__

#include <immintrin.h>

#include "sim/plain/records_avx512.h"

/*
 * The line at place p comes to the front: lanes 1..p take the lane before, further lanes stay. The lowest bit of
 * `found` is bit p, so found ^ (found - 1) is the mask of 0..p, and the move is a rotation by one lane under the mask.
 * A miss does the same with the last way's bit; a miss has a branch of its own, so that a miss need not wait for the
 * search.
 */
static inline struct sim_compact_use use_small(uint32_t *set, uint32_t last_way, uint32_t word)
{
    const __m256i words = _mm256_load_si256((const __m256i *)set);
    const __m256i wanted = _mm256_set1_epi32((int)word), differ = _mm256_xor_si256(words, wanted);
    uint32_t found = _mm256_cmplt_epu32_mask(differ, _mm256_set1_epi32(SIM_COMPACT_ONE));
    struct sim_compact_use use;

    if (!found) {
        use = (struct sim_compact_use){ set[__builtin_ctz(last_way)], false };
        _mm256_store_si256((__m256i *)set,
                           _mm256_mask_alignr_epi32(words, (__mmask8)(last_way ^ (last_way - 1)), words, wanted, 7));
    } else {
        use = (struct sim_compact_use){ set[__builtin_ctz(found)], true };
        _mm256_store_si256((__m256i *)set,
                           _mm256_mask_alignr_epi32(words, (__mmask8)(found ^ (found - 1)), words,
                                                    _mm256_set1_epi32((int)sim_compact_used(use.word, word)), 7));
    }
    return use;
}

static inline struct sim_compact_use use_group(uint32_t *set, uint32_t last_way, uint32_t word)
{
    const __m512i words = _mm512_load_si512(set);
    const __m512i wanted = _mm512_set1_epi32((int)word), differ = _mm512_xor_si512(words, wanted);
    uint32_t found = _mm512_cmplt_epu32_mask(differ, _mm512_set1_epi32(SIM_COMPACT_ONE));
    struct sim_compact_use use;

    if (!found) {
        use = (struct sim_compact_use){ set[__builtin_ctz(last_way)], false };
        _mm512_store_si512(set,
                           _mm512_mask_alignr_epi32(words, (__mmask16)(last_way ^ (last_way - 1)), words, wanted, 15));
    } else {
        use = (struct sim_compact_use){ set[__builtin_ctz(found)], true };
        _mm512_store_si512(set, _mm512_mask_alignr_epi32(words, (__mmask16)(found ^ (found - 1)), words,
                                                         _mm512_set1_epi32((int)sim_compact_used(use.word, word)), 15));
    }
    return use;
}

static inline uint32_t find_word(const uint32_t *set, uint32_t n_words, uint32_t word)
{
    const __m512i wanted = _mm512_set1_epi32((int)word);

    for (uint32_t i = 0; i < n_words; i += 16) {
        const __m512i differ = _mm512_xor_si512(_mm512_load_si512(set + i), wanted);
        uint32_t found = _mm512_cmplt_epu32_mask(differ, _mm512_set1_epi32(SIM_COMPACT_ONE));

        if (found)
            return i + (uint32_t)__builtin_ctz(found);
    }
    return n_words;
}

static inline uint64_t find_kind(const uint64_t *kinds, uint8_t kind)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(kinds), _mm512_set1_epi8((char)kind));
}

#include "sim/plain/engine_plain_compact_tmpl.h"
#include "sim/plain/engine_plain_bursts_tmpl.h"
#include "sim/plain/engine_plain_records_tmpl.h"

const struct sim_plain_variant sim_plain_compact_avx512 = {
    .name = "avx512",
    .isa = CPU_ISA_AVX512,
    .accept = accept,
    .records = records,
    .touch_listed = touch_listed,
    .settle = settle,
    .flush = flush,
};

#else

const struct sim_plain_variant sim_plain_compact_avx512 = { .name = "avx512" };

#endif
