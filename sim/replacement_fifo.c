/* First in, first out: a word per way, the time of its fill. */
#include "sim/replacement.h"

static size_t set_words(uint32_t n_ways)
{
    return n_ways;
}

static void clear(const struct sim_replacement_level *l, uint64_t *set)
{
    for (uint32_t w = 0; w < l->n_ways; w++)
        set[w] = 0;
}

static void hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    (void)l;
    (void)set;
    (void)way;
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    set[way] = ++l->clock;
}

static uint32_t victim(struct sim_replacement_level *l, uint64_t *set)
{
    uint32_t oldest = 0;

    for (uint32_t w = 1; w < l->n_ways; w++)
        oldest = set[w] < set[oldest] ? w : oldest;
    return oldest;
}

const struct sim_replacement sim_replacement_fifo = {
    .name = "fifo",
    .hit_settles = true,
    .set_words = set_words,
    .clear = clear,
    .hit = hit,
    .fill = fill,
    .victim = victim,
};
