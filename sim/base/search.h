/*
 * Finds a word, or the least word, in an array: eight words per comparison in files compiled for AVX-512, four words
 * for AVX2. Internal.
 */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <stdint.h>

#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

/* The content of invalid ways: no line and no page has this number. */
#define SIM_FULL_NO_LINE UINT64_MAX

enum { SIM_SEARCH_GROUP = 8 }; /* words per comparison */

/* Returns a bit mask of the words of a group that equal the word. */
static inline uint32_t sim_search_compare(const uint64_t *group, uint64_t word)
{
#if defined __AVX512F__
    return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(group), _mm512_set1_epi64((long long)word));
#elif defined __AVX2__
    const __m256i wanted = _mm256_set1_epi64x((long long)word);
    const __m256i low = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)group), wanted);
    const __m256i high = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(group + 4)), wanted);

    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(low)) |
           (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4;
#else
    uint32_t same = 0;

    for (unsigned i = 0; i < SIM_SEARCH_GROUP; i++)
        same |= (uint32_t)(group[i] == word) << i;
    return same;
#endif
}

/* Returns the first index of a word among n words; -1: the word is absent. Reads up to a whole number of groups. */
static inline int32_t sim_search(const uint64_t *words, uint32_t n, uint64_t word)
{
    for (uint32_t i = 0; i < n; i += SIM_SEARCH_GROUP) {
        uint32_t same = sim_search_compare(words + i, word);

        if (same) {
            i += (uint32_t)__builtin_ctz(same);
            return i < n ? (int32_t)i : -1;
        }
    }
    return -1;
}

/* Returns the least of n words; n is a multiple of SIM_SEARCH_GROUP, and all words are below 2^63. */
static inline uint64_t sim_search_least(const uint64_t *words, uint32_t n)
{
#if defined __AVX2__
    __m256i least = _mm256_loadu_si256((const __m256i *)words);
    __m128i half, low;

    for (uint32_t i = 4; i < n; i += 4) {
        const __m256i other = _mm256_loadu_si256((const __m256i *)(words + i));

        least = _mm256_blendv_epi8(least, other, _mm256_cmpgt_epi64(least, other));
    }
    half = _mm256_extracti128_si256(least, 1);
    low = _mm256_castsi256_si128(least);
    low = _mm_blendv_epi8(low, half, _mm_cmpgt_epi64(low, half));
    half = _mm_unpackhi_epi64(low, low);
    return (uint64_t)_mm_cvtsi128_si64(_mm_blendv_epi8(low, half, _mm_cmpgt_epi64(low, half)));
#else
    uint64_t least = words[0];

    for (uint32_t i = 1; i < n; i++)
        least = words[i] < least ? words[i] : least;
    return least;
#endif
}

#endif
