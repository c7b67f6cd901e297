#ifndef SIM_PREFETCH_REGION_H
#define SIM_PREFETCH_REGION_H

#include <assert.h>

#include "sim/prefetch/prefetch_state.h"

enum { REGION_MIDDLE = SIM_MAX_REGION_DISTANCE };

/* Returns the footprint's bit for a line at an offset from the line that opened the region, which has no bit itself. */
static inline uint64_t region_bit(int64_t offset)
{
    assert(offset);
    return (uint64_t)1 << (offset + REGION_MIDDLE);
}

static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_region_learn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    struct sim_prefetch_lines lines = { .first = line - REGION_MIDDLE, .step = 1 };
    bool is_new = e->last == SIM_PREFETCH_NOWHERE;
    int64_t offset = is_new ? 0 : line - e->last;

    if (!is_new && offset >= -p->distance && offset <= p->distance) {
        lines.passes = !(region_bit(offset) & ~e->region.footprint);
        e->region.footprint |= region_bit(offset);
        return lines;
    }
    if (e->region.footprint != e->region.before)
        e->region.n_same = 0;
    else
        e->region.n_same = (uint8_t)(e->region.n_same + (!is_new && e->region.n_same < p->train));
    e->last = line;
    e->region.before = e->region.footprint;
    e->region.footprint = 0;
    if (e->region.n_same >= p->train && __builtin_popcountll(e->region.before) <= p->degree)
        lines.which = e->region.before;
    return lines;
}

static const struct sim_prefetcher sim_prefetch_region = {
    .name = "region",
    .takes = SIM_PREFETCH_TAKES_DEGREE | SIM_PREFETCH_TAKES_DISTANCE | SIM_PREFETCH_TAKES_TRAIN |
             SIM_PREFETCH_TAKES_KEY | SIM_PREFETCH_TAKES_ENTRIES | SIM_PREFETCH_TAKES_ON | SIM_PREFETCH_TAKES_PAGES |
             SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_REGION,
               .degree = 4,
               .distance = 16,
               .train = 1,
               .key = SIM_PREFETCH_BY_TAG,
               .entries = 8,
               .on = SIM_PREFETCH_ON_MISS,
               .pages = SIM_PREFETCH_STAYS },
};

#endif
