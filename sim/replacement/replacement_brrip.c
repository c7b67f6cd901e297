/* Bimodal re-reference interval prediction: most lines start where the next victim is sought. */
#include "sim/replacement/replacement.h"

uint8_t sim_replacement_brrip_value(struct sim_replacement_level *l)
{
    l->n_far = (l->n_far + 1) % 32;
    return l->n_far ? 3 : 2;
}

static void fill(struct sim_replacement_level *l, uint64_t *set, uint64_t set_index, uint32_t way)
{
    (void)set_index;
    ((uint8_t *)set)[way] = sim_replacement_brrip_value(l);
}

const struct sim_replacement sim_replacement_brrip = {
    .hit_settles = true,
    .hits_repeat = true,
    .set_words = sim_replacement_rrip_words,
    .clear = sim_replacement_rrip_clear,
    .hit = sim_replacement_rrip_hit,
    .fill = fill,
    .victim = sim_replacement_rrip_victim,
};
