/* First in, first out: as lru, but a hit is no use. */
#include "sim/replacement/replacement.h"

const struct sim_replacement sim_replacement_fifo = {
    .hit_settles = true,
    .hits_repeat = true,
    .set_words = sim_replacement_age_words,
    .clear = sim_replacement_age_clear,
    .hit = sim_replacement_ignore_hit,
    .fill = sim_replacement_age_fill,
    .victim = sim_replacement_age_victim,
};
