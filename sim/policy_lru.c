/*
 * Least recently used. The words are kept in order of use, most recent first, free ways last: a hit moves its word to
 * the front, a fill pushes the last word out. Searching and moving are one pass; a known number of ways makes it 10 to
 * 20 % faster, hence the cases.
 */
#include "sim/policy.h"

static size_t set_words(uint32_t n_ways)
{
    return n_ways;
}

static inline __attribute__((always_inline)) struct sim_use use_one(uint64_t *set, const uint32_t n_ways, uint64_t line)
{
    uint64_t moved = set[0];

    if (sim_word_line(moved) == line)
        return (struct sim_use){ set, SIM_WORD_EMPTY, true };
#pragma GCC unroll 16
    for (uint32_t i = 1; i < n_ways; i++) {
        uint64_t word = set[i];

        set[i] = moved;
        if (sim_word_line(word) == line) {
            set[0] = word;
            return (struct sim_use){ set, SIM_WORD_EMPTY, true };
        }
        moved = word;
    }
    set[0] = sim_word_clean(line);
    return (struct sim_use){ set, moved, false };
}

static struct sim_use use(uint64_t *set, uint32_t n_ways, uint64_t line)
{
    switch (n_ways) {
    case 8:
        return use_one(set, 8, line);
    case 16:
        return use_one(set, 16, line);
    default:
        return use_one(set, n_ways, line);
    }
}

const struct sim_policy sim_policy_lru = {
    .name = "lru",
    .front_is_settled = true,
    .set_words = set_words,
    .use = use,
};
