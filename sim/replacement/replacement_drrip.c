/* Dynamic re-reference interval prediction: a few sets of either kind duel, the others follow the winner. */
#include "sim/replacement/replacement.h"

enum { SELECTOR_MIDDLE = 511, SELECTOR_MAX = 1023 };

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    uint64_t period = l->n_sets / 32 > 2 ? l->n_sets / 32 : 2;
    uint64_t place = set_index % period;
    bool is_far = place == 1;

    if (place == 0 && l->selector < SELECTOR_MAX)
        l->selector++;
    else if (place == 1 && l->selector > 0)
        l->selector--;
    if (place > 1)
        is_far = l->selector > SELECTOR_MIDDLE;
    ((uint8_t *)set)[way] = is_far ? sim_replacement_brrip_value(l) : 2;
}

const struct sim_replacement sim_replacement_drrip = {
    .hit_settles = true,
    .hits_repeat = true,
    .set_words = sim_replacement_rrip_words,
    .clear = sim_replacement_rrip_clear,
    .hit = sim_replacement_rrip_hit,
    .fill = fill,
    .victim = sim_replacement_rrip_victim,
};
