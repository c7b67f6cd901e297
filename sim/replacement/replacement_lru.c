/* Least recently used, and the functions shared with fifo: see sim_replacement_age_* in replacement.h. */
#include "sim/replacement/replacement.h"

static bool is_ordered(uint32_t n_ways)
{
    return n_ways <= SIM_REPLACEMENT_MAX_ORDERED;
}

size_t sim_replacement_age_words(uint32_t n_ways)
{
    return is_ordered(n_ways) ? 1 : n_ways;
}

void sim_replacement_age_clear(const struct sim_replacement_level *l, uint64_t *set)
{
    if (is_ordered(l->n_ways)) {
        set[0] = 0xfedcba9876543210u;
        return;
    }
    for (uint32_t w = 0; w < l->n_ways; w++)
        set[w] = 0;
}

static void use(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    if (is_ordered(l->n_ways))
        set[0] = sim_replacement_order_use(set[0], way);
    else
        set[way] = ++l->clock;
}

void sim_replacement_age_fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    use(l, set, way);
}

uint32_t sim_replacement_age_victim(struct sim_replacement_level *l, uint64_t *set)
{
    uint32_t oldest = 0;

    if (is_ordered(l->n_ways))
        return sim_replacement_order_oldest(set[0], l->n_ways);
    for (uint32_t w = 1; w < l->n_ways; w++)
        oldest = set[w] < set[oldest] ? w : oldest;
    return oldest;
}

bool sim_replacement_age_is_older(const struct sim_replacement_level *l, const uint64_t *set, uint32_t a, uint32_t b)
{
    if (is_ordered(l->n_ways))
        return sim_replacement_order_place(set[0], a) > sim_replacement_order_place(set[0], b);
    return set[a] < set[b];
}

const struct sim_replacement sim_replacement_lru = {
    .hit_settles = true,
    .hits_repeat = true,
    .set_words = sim_replacement_age_words,
    .clear = sim_replacement_age_clear,
    .hit = use,
    .fill = sim_replacement_age_fill,
    .victim = sim_replacement_age_victim,
};
