/* Static re-reference interval prediction, and what all three of its family share: a byte per way, 0..3. */
#include <string.h>

#include "sim/replacement/replacement.h"

enum { RRIP_FAR = 3 };

size_t sim_replacement_rrip_words(uint32_t n_ways)
{
    return ((size_t)n_ways + 7) / 8;
}

void sim_replacement_rrip_clear(const struct sim_replacement_level *l, uint64_t *set)
{
    memset(set, RRIP_FAR, l->n_ways);
}

void sim_replacement_rrip_hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    (void)l;
    ((uint8_t *)set)[way] = 0;
}

uint32_t sim_replacement_rrip_victim(struct sim_replacement_level *l, uint64_t *set)
{
    uint8_t *value = (uint8_t *)set;
    uint32_t farthest = 0;
    uint8_t missing;

    for (uint32_t w = 1; w < l->n_ways; w++)
        farthest = value[w] > value[farthest] ? w : farthest;
    missing = (uint8_t)(RRIP_FAR - value[farthest]);
    for (uint32_t w = 0; missing && w < l->n_ways; w++)
        value[w] = (uint8_t)(value[w] + missing);
    return farthest;
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)l;
    (void)set_index;
    ((uint8_t *)set)[way] = RRIP_FAR - 1;
}

const struct sim_replacement sim_replacement_srrip = {
    .hit_settles = true,
    .hits_repeat = true,
    .set_words = sim_replacement_rrip_words,
    .clear = sim_replacement_rrip_clear,
    .hit = sim_replacement_rrip_hit,
    .fill = fill,
    .victim = sim_replacement_rrip_victim,
};
