/* Random, by splitmix64: a number per eviction, nothing per set. */
#include "sim/replacement/replacement.h"

static size_t set_words(uint32_t n_ways)
{
    (void)n_ways;
    return 0;
}

static void clear(const struct sim_replacement_level *l, uint64_t *set)
{
    (void)l;
    (void)set;
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)l;
    (void)set;
    (void)set_index;
    (void)way;
}

static uint32_t victim(struct sim_replacement_level *l, uint64_t *set)
{
    uint64_t z = l->random += 0x9e3779b97f4a7c15;

    (void)set;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ z >> 31) % l->n_ways);
}

const struct sim_replacement sim_replacement_random = {
    .hit_settles = true,
    .hits_repeat = true,
    .set_words = set_words,
    .clear = clear,
    .hit = sim_replacement_ignore_hit,
    .fill = fill,
    .victim = victim,
};
