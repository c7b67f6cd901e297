/*
 * All prefetchers, so that an engine can have their code in its own: a call through a pointer for each request costs as
 * much as what most of them do.
 */
#ifndef SIM_PREFETCH_KINDS_H
#define SIM_PREFETCH_KINDS_H

#include "sim/prefetch/prefetch_next_line.h"
#include "sim/prefetch/prefetch_pair.h"
#include "sim/prefetch/prefetch_region.h"
#include "sim/prefetch/prefetch_stream.h"
#include "sim/prefetch/prefetch_stride.h"

/* Notes a request and returns what to prefetch. p has no 0 left in it (sim_prefetch_resolve). */
static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_ask(struct sim_prefetch_state *s, const struct sim_prefetch *p, const struct sim_prefetch_request *r)
{
#define SIM_PREFETCH_ASK(upper, lower)                                                                                 \
    case SIM_PREFETCH_##upper:                                                                                         \
        return sim_prefetch_##lower##_ask(s, p, r);
    switch (p->kind) {
        SIM_PREFETCH_KINDS(SIM_PREFETCH_ASK)
    default:
        return (struct sim_prefetch_lines){ 0 };
    }
#undef SIM_PREFETCH_ASK
}

#endif
