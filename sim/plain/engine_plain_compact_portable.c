/* The plain engine with compact words, in portable C. Searching and moving are a single pass. */
#include "sim/plain/engine_plain.h"
#include "sim/plain/records_portable.h"

static inline __attribute__((always_inline)) struct sim_compact_use use_ways(uint32_t *set, const uint32_t n_ways,
                                                                             uint32_t word)
{
    uint32_t moved = set[0];

    if ((moved ^ word) < SIM_COMPACT_ONE) {
        set[0] = sim_compact_used(moved, word);
        return (struct sim_compact_use){ moved, true };
    }
#pragma GCC unroll 16
    for (uint32_t i = 1; i < n_ways; i++) {
        uint32_t old = set[i];

        set[i] = moved;
        if ((old ^ word) < SIM_COMPACT_ONE) {
            set[0] = sim_compact_used(old, word);
            return (struct sim_compact_use){ old, true };
        }
        moved = old;
    }
    set[0] = word;
    return (struct sim_compact_use){ moved, false };
}

static inline struct sim_compact_use use_small(uint32_t *set, uint32_t last_way, uint32_t word)
{
    return last_way == 1 << 7 ? use_ways(set, 8, word) : use_ways(set, 1 + (uint32_t)__builtin_ctz(last_way), word);
}

static inline struct sim_compact_use use_group(uint32_t *set, uint32_t last_way, uint32_t word)
{
    return last_way == 1 << 15 ? use_ways(set, 16, word) : use_ways(set, 1 + (uint32_t)__builtin_ctz(last_way), word);
}

static inline uint32_t find_word(const uint32_t *set, uint32_t n_words, uint32_t word)
{
    uint32_t i = 0;

    while (i < n_words && (set[i] ^ word) >= SIM_COMPACT_ONE)
        i++;
    return i;
}

/* In each byte of x ^ wanted, only a zero byte leaves its highest bit clear; a product gathers the bits of a word. */
static inline uint64_t find_kind(const uint64_t *kinds, uint8_t kind)
{
    const uint64_t ones = ~(uint64_t)0 / 255, low = ones * 127;
    uint64_t found = 0;

    for (size_t i = 0; i < SIM_PLAIN_KINDS / 8; i++) {
        uint64_t differ = kinds[i] ^ ones * kind;
        uint64_t same = ~(((differ & low) + low) | differ | low) >> 7;

        found |= (same * 0x0102040810204080u >> 56) << 8 * i;
    }
    return found;
}

#include "sim/plain/engine_plain_compact_tmpl.h"
#include "sim/plain/engine_plain_bursts_tmpl.h"
#include "sim/plain/engine_plain_records_tmpl.h"

const struct sim_plain_variant sim_plain_compact_portable = {
    .name = "portable",
    .isa = CPU_ISA_NONE,
    .accept = accept,
    .records = records,
    .touch_listed = touch_listed,
    .settle = settle,
    .flush = flush,
};
