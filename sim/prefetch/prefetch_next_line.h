#ifndef SIM_PREFETCH_NEXT_LINE_H
#define SIM_PREFETCH_NEXT_LINE_H

#include "sim/prefetch/prefetch_state.h"

static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_next_line_learn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    (void)e;
    return (struct sim_prefetch_lines){ .which = sim_prefetch_first_bits(p->degree), .first = line + 1, .step = 1 };
}

static const struct sim_prefetcher sim_prefetch_next_line = {
    .name = "next_line",
    .takes = SIM_PREFETCH_TAKES_DEGREE | SIM_PREFETCH_TAKES_ON | SIM_PREFETCH_TAKES_PAGES | SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1, .on = SIM_PREFETCH_ON_MISS, .pages = SIM_PREFETCH_STAYS },
};

#endif
