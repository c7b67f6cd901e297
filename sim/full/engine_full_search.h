/*
 * Finds where a word is among the words of a set: eight at a time in one comparison where the file that includes this
 * is compiled for AVX-512, four for AVX2. Internal.
 */
#ifndef SIM_ENGINE_FULL_SEARCH_H
#define SIM_ENGINE_FULL_SEARCH_H

#include <stdint.h>

#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

/* No line and no page, which invalid ways hold; and what stands where there is no way. */
#define SIM_FULL_NO_LINE UINT64_MAX
#define SIM_FULL_NO_WAY (UINT64_MAX - 1)

enum { SIM_FULL_GROUP = 8 }; /* words that are compared at once */

/* Those of a group that are the word, as bits. */
static inline uint32_t sim_full_compare(const uint64_t *group, uint64_t word)
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

    for (unsigned i = 0; i < SIM_FULL_GROUP; i++)
        same |= (uint32_t)(group[i] == word) << i;
    return same;
#endif
}

/* The first place of a word among n, a multiple of SIM_FULL_GROUP; -1 if it is not there. */
static inline int32_t sim_full_search(const uint64_t *words, uint32_t n, uint64_t word)
{
    for (uint32_t i = 0; i < n; i += SIM_FULL_GROUP) {
        uint32_t same = sim_full_compare(words + i, word);

        if (same)
            return (int32_t)(i + (uint32_t)__builtin_ctz(same));
    }
    return -1;
}

#endif
