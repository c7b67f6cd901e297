/*
 * The plain engine with AVX-512: a set of up to 16 ways is searched and moved in one or two registers, without a branch
 * on where the line was found.
 */
#include "sim/engine_plain.h"

#ifdef __AVX512F__

#include <immintrin.h>
#include <string.h>

/* Lanes whose word holds the line. */
static inline uint32_t lanes_with(__m512i words, __m512i clean)
{
    return _mm512_cmplt_epu64_mask(_mm512_xor_si512(words, clean), _mm512_set1_epi64(1 << SIM_WORD_LINE_SHIFT));
}

/*
 * The line at place p comes to the front: lanes 1..p take from the one before, the rest stay. The lowest bit of `lanes`
 * is p's, so lanes ^ (lanes - 1) is the mask of 0..p, and a rotation by one lane under that mask is the move.
 *
 * Both outcomes are branches, not selections: whoever asked branches on them anyway, and predicted, a fill waits for
 * nothing but the loads.
 */
static inline struct sim_plain_use use_8(uint64_t *set, uint32_t n_ways, uint64_t line, uint64_t keep, uint64_t put)
{
    const __m512i words = _mm512_load_si512(set);
    uint64_t clean = sim_word_clean(line);
    uint32_t lanes = lanes_with(words, _mm512_set1_epi64((long long)clean));
    struct sim_plain_use use = { .is_hit = lanes != 0 };
    __m512i moved;

    if (use.is_hit) {
        unsigned place = (unsigned)__builtin_ctz(lanes);

        use.word = set[place];
        moved = _mm512_mask_alignr_epi64(words, (__mmask8)(lanes ^ (lanes - 1)), words,
                                         _mm512_set1_epi64((long long)((use.word & keep) | put)), 7);
    } else {
        use.word = set[n_ways - 1];
        moved = _mm512_mask_alignr_epi64(words, (__mmask8)((1u << n_ways) - 1), words,
                                         _mm512_set1_epi64((long long)(clean | put)), 7);
    }
    _mm512_store_si512(set, moved);
    return use;
}

static inline struct sim_plain_use use_16(uint64_t *set, uint32_t n_ways, uint64_t line, uint64_t keep, uint64_t put)
{
    const __m512i low = _mm512_load_si512(set), high = _mm512_load_si512(set + 8);
    uint64_t clean = sim_word_clean(line);
    const __m512i wanted = _mm512_set1_epi64((long long)clean);
    uint32_t lanes = lanes_with(low, wanted) | lanes_with(high, wanted) << 8;
    struct sim_plain_use use = { .is_hit = lanes != 0 };
    __m512i low_moved, high_moved;

    if (use.is_hit) {
        unsigned place = (unsigned)__builtin_ctz(lanes);

        uint32_t up_to_place = lanes ^ (lanes - 1);

        use.word = set[place];
        low_moved = _mm512_mask_alignr_epi64(low, (__mmask8)up_to_place, low,
                                             _mm512_set1_epi64((long long)((use.word & keep) | put)), 7);
        high_moved = _mm512_mask_alignr_epi64(high, (__mmask8)(up_to_place >> 8), high, low, 7);
    } else {
        use.word = set[n_ways - 1];
        low_moved = _mm512_alignr_epi64(low, _mm512_set1_epi64((long long)(clean | put)), 7);
        high_moved = _mm512_mask_alignr_epi64(high, (__mmask8)((1u << (n_ways - 8)) - 1), high, low, 7);
    }
    _mm512_store_si512(set, low_moved);
    _mm512_store_si512(set + 8, high_moved);
    return use;
}

/* Any number of ways: searched a register at a time, moved word by word. Out of the way of the others' registers. */
static __attribute__((noinline)) struct sim_plain_use use_many(uint64_t *set, uint32_t n_ways, uint64_t line,
                                                               uint64_t keep, uint64_t put)
{
    uint64_t clean = sim_word_clean(line);
    const __m512i wanted = _mm512_set1_epi64((long long)clean);
    uint32_t place = n_ways - 1, lanes = 0;
    struct sim_plain_use use;

    for (uint32_t i = 0; i < n_ways && !lanes; i += 8) {
        lanes = lanes_with(_mm512_load_si512(set + i), wanted);
        if (lanes)
            place = i + (uint32_t)__builtin_ctz(lanes);
    }
    use = (struct sim_plain_use){ set[place], lanes != 0 };
    memmove(set + 1, set, place * sizeof *set);
    set[0] = ((use.is_hit ? use.word : clean) & keep) | put;
    return use;
}

static inline struct sim_plain_use use_line(const struct sim_plain_level *c, uint64_t *set, uint64_t line,
                                            uint64_t keep, uint64_t put)
{
    if (c->n_ways <= 8)
        return use_8(set, c->n_ways, line, keep, put);
    if (c->n_ways <= 16)
        return use_16(set, c->n_ways, line, keep, put);
    return use_many(set, c->n_ways, line, keep, put);
}

#define HAS_COMPARE_BLOCK
struct block;
struct record_masks;
static inline struct block compare_block(const uint64_t *record, const struct record_masks *m);

#include "sim/engine_plain_core.h"

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
        b.alternates |= (uint64_t)_mm512_mask_testn_epi64_mask(_mm512_test_epi64_mask(x, set), y, same) << i;
        b.straddles |= (uint64_t)_mm512_cmpgt_epu64_mask(_mm512_add_epi64(begin, more), in_line) << i;
    }
    return b;
}

/* Every CPU with these has lzcnt, which clang's builtin does not know. */
static bool runs_here(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

const struct sim_plain_variant sim_plain_variant_avx512 = {
    .name = "avx512",
    .runs_here = runs_here,
    .accept = accept,
    .records = records,
    .write_back = write_back,
};

#else

static bool runs_here(void)
{
    return false;
}

const struct sim_plain_variant sim_plain_variant_avx512 = { .name = "avx512", .runs_here = runs_here };

#endif
