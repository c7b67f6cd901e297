#include "sim/prefetch/prefetch.h"

static size_t ask(struct sim_prefetch_state *s, const struct sim_prefetch *p, const struct sim_prefetch_request *r,
                  int64_t *want)
{
    (void)p;
    s->n_changes++;
    want[0] = r->line ^ 1;
    return 1;
}

extern const struct sim_prefetcher sim_prefetch_pair;
const struct sim_prefetcher sim_prefetch_pair = {
    .name = "pair",
    .takes = SIM_PREFETCH_TAKES_ON | SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_PAIR, .on = SIM_PREFETCH_ON_MISS, .pages = SIM_PREFETCH_STAYS },
    .ask = ask,
};
