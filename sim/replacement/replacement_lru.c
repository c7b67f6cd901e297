/* Least recently used: a word per way, the time of its last use. */
#include "sim/replacement/replacement.h"

size_t sim_replacement_age_words(uint32_t n_ways)
{
    return n_ways;
}

void sim_replacement_age_clear(const struct sim_replacement_level *l, uint64_t *set)
{
    for (uint32_t w = 0; w < l->n_ways; w++)
        set[w] = 0;
}

static void hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    set[way] = ++l->clock;
}

void sim_replacement_age_fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    set[way] = ++l->clock;
}

uint32_t sim_replacement_age_victim(struct sim_replacement_level *l, uint64_t *set)
{
    uint32_t oldest = 0;

    for (uint32_t w = 1; w < l->n_ways; w++)
        oldest = set[w] < set[oldest] ? w : oldest;
    return oldest;
}

const struct sim_replacement sim_replacement_lru = {
    .hit_settles = true,
    .set_words = sim_replacement_age_words,
    .clear = sim_replacement_age_clear,
    .hit = hit,
    .fill = sim_replacement_age_fill,
    .victim = sim_replacement_age_victim,
};
