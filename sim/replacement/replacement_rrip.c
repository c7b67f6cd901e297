/*
 * Re-reference interval prediction: static, bimodal (most lines start as the next victim), and dynamic (a few sets of
 * either kind duel, all further sets follow the winner). A byte per way, 0..3; the kinds differ by the value after a
 * fill.
 */
#include <string.h>

#include "sim/replacement/replacement.h"

enum { RRIP_FAR = 3, SELECTOR_MIDDLE = 511, SELECTOR_MAX = 1023 };

static size_t set_words(uint32_t n_ways)
{
    return ((size_t)n_ways + 7) / 8;
}

static void clear(const struct sim_replacement_level *l, uint64_t *set)
{
    memset(set, RRIP_FAR, l->n_ways);
}

static void hit(struct sim_replacement_level *l, uint64_t *set, uint32_t way)
{
    (void)l;
    ((uint8_t *)set)[way] = 0;
}

static uint32_t victim(struct sim_replacement_level *l, uint64_t *set)
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

static void fill_static(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)l;
    (void)set_index;
    ((uint8_t *)set)[way] = RRIP_FAR - 1;
}

static void fill_bimodal(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    l->n_far = (l->n_far + 1) % 32;
    ((uint8_t *)set)[way] = l->n_far ? RRIP_FAR : RRIP_FAR - 1;
}

static void fill_dynamic(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    const uint64_t period = l->n_sets / 32 > 2 ? l->n_sets / 32 : 2, place = set_index % period;
    const bool is_bimodal = place > 1 ? l->selector > SELECTOR_MIDDLE : place == 1;

    if (place == 0 && l->selector < SELECTOR_MAX)
        l->selector++;
    else if (place == 1 && l->selector > 0)
        l->selector--;
    (is_bimodal ? fill_bimodal : fill_static)(l, set, set_index, way);
}

#define RRIP(name, fill_)                                                                                              \
    const struct sim_replacement sim_replacement_##name = { .hit_settles = true,                                       \
                                                            .hits_repeat = true,                                       \
                                                            .set_words = set_words,                                    \
                                                            .clear = clear,                                            \
                                                            .hit = hit,                                                \
                                                            .fill = fill_,                                             \
                                                            .victim = victim };

RRIP(srrip, fill_static)
RRIP(brrip, fill_bimodal)
RRIP(drrip, fill_dynamic)
