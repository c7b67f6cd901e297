#ifndef SIM_PREFETCH_STRIDE_H
#define SIM_PREFETCH_STRIDE_H

#include "sim/prefetch/prefetch_state.h"

static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_stride_learn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    int64_t step = e->last == SIM_PREFETCH_NOWHERE ? 0 : (int64_t)((uint64_t)line - (uint64_t)e->last);

    e->last = line;
    if (step != e->stride.step)
        e->stride.n_same = 0;
    e->stride.step = step;
    e->stride.n_same = (uint8_t)(e->stride.n_same + (step && e->stride.n_same < p->train));
    return (struct sim_prefetch_lines){ .which = e->stride.n_same < p->train ? 0 : sim_prefetch_first_bits(p->degree),
                                        .first = (int64_t)((uint64_t)line + (uint64_t)step * p->distance),
                                        .step = step };
}

static const struct sim_prefetcher sim_prefetch_stride = {
    .name = "stride",
    .takes = SIM_PREFETCH_TAKES_DEGREE | SIM_PREFETCH_TAKES_DISTANCE | SIM_PREFETCH_TAKES_TRAIN |
             SIM_PREFETCH_TAKES_KEY | SIM_PREFETCH_TAKES_ENTRIES | SIM_PREFETCH_TAKES_ON | SIM_PREFETCH_TAKES_PAGES |
             SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_STRIDE,
               .degree = 1,
               .distance = 1,
               .train = 3,
               .key = SIM_PREFETCH_BY_TAG,
               .entries = 8,
               .on = SIM_PREFETCH_ON_ALL,
               .pages = SIM_PREFETCH_STAYS },
};

#endif
