/* Bit pseudo-LRU, also called NRU or MRU: word 0 counts the set bits, the bits follow, one per way. */
#include "sim/replacement/replacement.h"

static size_t set_words(uint32_t n_ways)
{
    return 1 + ((size_t)n_ways + 63) / 64;
}

static void clear(const struct sim_replacement_level *l, uint64_t *set)
{
    for (size_t i = 0; i < set_words(l->n_ways); i++)
        set[i] = 0;
}

static void hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    uint64_t *word = &set[1 + way / 64];
    uint64_t bit = (uint64_t)1 << (way % 64);

    if (*word & bit)
        return;
    if (set[0] + 1 == l->n_ways)
        clear(l, set);
    *word |= bit;
    set[0]++;
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    hit(l, set, way);
}

static uint32_t victim(struct sim_replacement_level *l, uint64_t *set)
{
    for (uint32_t w = 0; w < l->n_ways; w++) {
        if (!(set[1 + w / 64] >> (w % 64) & 1))
            return w;
    }
    return 0; /* a single way keeps its bit */
}

const struct sim_replacement sim_replacement_bit_plru = {
    .hit_settles = true,
    .set_words = set_words,
    .clear = clear,
    .hit = hit,
    .fill = fill,
    .victim = victim,
};
