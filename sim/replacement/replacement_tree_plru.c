/*
 * Tree pseudo-LRU: a binary tree over the ways, with a bit per inner node for the half of the next victim (0: the
 * lower). A use makes every node on the way's path point to the opposite half. Nodes as in a heap: the root is bit 1,
 * the children of node n are 2n and 2n + 1, way w is node n_ways + w.
 */
#include "sim/replacement/replacement.h"

static size_t set_words(uint32_t n_ways)
{
    return (n_ways + 63) / 64;
}

static void clear(const struct sim_replacement_level *l, uint64_t *set)
{
    for (size_t i = 0; i < set_words(l->n_ways); i++)
        set[i] = 0;
}

static void hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    for (uint32_t node = l->n_ways + way; node > 1; node /= 2) {
        uint32_t parent = node / 2;
        uint64_t bit = (uint64_t)1 << (parent % 64);

        if (node % 2)
            set[parent / 64] &= ~bit;
        else
            set[parent / 64] |= bit;
    }
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    hit(l, set, way);
}

static uint32_t victim(struct sim_replacement_level *l, uint64_t *set)
{
    uint32_t node = 1;

    while (node < l->n_ways)
        node = 2 * node + (uint32_t)(set[node / 64] >> (node % 64) & 1);
    return node - l->n_ways;
}

void sim_replacement_tree_init(struct sim_replacement_tree *t, uint32_t n_ways)
{
    struct sim_replacement_level l = { .n_ways = n_ways };

    for (uint32_t way = 0; way < n_ways; way++) {
        uint64_t from_none = 0, from_all = ~(uint64_t)0;

        hit(&l, &from_none, way);
        hit(&l, &from_all, way);
        t->set[way] = from_none;
        t->keep[way] = from_none ^ from_all; /* bits that a use leaves unchanged */
    }
}

const struct sim_replacement sim_replacement_tree_plru = {
    .hit_settles = true,
    .hits_repeat = true,
    .needs_power_of_two_ways = true,
    .set_words = set_words,
    .clear = clear,
    .hit = hit,
    .fill = fill,
    .victim = victim,
};
