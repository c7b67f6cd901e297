/*
 * All prefetchers, so that an engine can inline their code: a call through a pointer for each request costs as much as
 * the work of most prefetchers.
 */
#ifndef SIM_PREFETCH_KINDS_H
#define SIM_PREFETCH_KINDS_H

#include <assert.h>

#include "sim/prefetch/prefetch_next_line.h"
#include "sim/prefetch/prefetch_pair.h"
#include "sim/prefetch/prefetch_region.h"
#include "sim/prefetch/prefetch_stream.h"
#include "sim/prefetch/prefetch_stride.h"

/* Learns from a request for a line other than its entry's last line, and returns the lines to prefetch. */
static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_learn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
#define SIM_PREFETCH_LEARN(upper, lower)                                                                               \
    case SIM_PREFETCH_##upper:                                                                                         \
        return sim_prefetch_##lower##_learn(e, p, line);
    switch (p->kind) {
        SIM_PREFETCH_KINDS(SIM_PREFETCH_LEARN)
    default:
        return (struct sim_prefetch_lines){ 0 };
    }
#undef SIM_PREFETCH_LEARN
}

/* Notes a request and returns the lines to prefetch. p has entries, and is resolved, without zeros (sim_prefetch_resolve). */
static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_ask(struct sim_prefetch_state *s, const struct sim_prefetch *p, const struct sim_prefetch_request *r)
{
    const uint64_t key = sim_prefetch_key(p, r);
    struct sim_prefetch_entry *e;

    assert(sim_prefetch_has_entries(p->kind));
    if (p->kind == SIM_PREFETCH_STREAM && p->pages == SIM_PREFETCH_CROSSES && sim_prefetch_find(s, key) < 0)
        sim_prefetch_stream_follow(s, r);
    e = sim_prefetch_entry(s, p, key);
    if (e->last == r->line)
        return (struct sim_prefetch_lines){ .passes = true };
    return sim_prefetch_learn(e, p, r->line);
}

#endif
