#ifndef SIM_PREFETCH_NEXT_LINE_H
#define SIM_PREFETCH_NEXT_LINE_H

#include "sim/prefetch/prefetch_state.h"

static inline int sim_prefetch_next_line_ask(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                                             const struct sim_prefetch_request *r, int64_t *want)
{
    (void)s;
    for (size_t i = 0; i < p->degree; i++)
        want[i] = r->line + 1 + (int64_t)i;
    return p->degree;
}

static const struct sim_prefetcher sim_prefetch_next_line = {
    .name = "next_line",
    .takes = SIM_PREFETCH_TAKES_DEGREE | SIM_PREFETCH_TAKES_ON | SIM_PREFETCH_TAKES_PAGES | SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_NEXT_LINE, .degree = 1, .on = SIM_PREFETCH_ON_MISS, .pages = SIM_PREFETCH_STAYS },
};

#endif
