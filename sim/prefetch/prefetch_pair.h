#ifndef SIM_PREFETCH_PAIR_H
#define SIM_PREFETCH_PAIR_H

#include "sim/prefetch/prefetch_state.h"

static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_pair_learn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    (void)e, (void)p;
    return (struct sim_prefetch_lines){ .which = 1, .first = line ^ 1 };
}

static const struct sim_prefetcher sim_prefetch_pair = {
    .name = "pair",
    .takes = SIM_PREFETCH_TAKES_ON | SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_PAIR, .on = SIM_PREFETCH_ON_MISS, .pages = SIM_PREFETCH_STAYS },
};

#endif
