#ifndef SIM_PREFETCH_STREAM_H
#define SIM_PREFETCH_STREAM_H

#include "sim/prefetch/prefetch.h"

/*
 * Takes a stream that ran to the end of the block before on into a block that is not known; of several the one used
 * last.
 */
static inline void stream_follow(struct sim_prefetch_state *s, int64_t line, uint64_t block)
{
    size_t latest = s->n;

    for (size_t i = 0; i < s->n; i++) {
        const struct sim_prefetch_entry *e = &s->entry[i];

        if (e->stream.direction && e->last + e->stream.direction == line &&
            (latest == s->n || s->used[i] > s->used[latest]))
            latest = i;
    }
    if (latest < s->n)
        s->key[latest] = block;
}

/* Learns from a step to another line. */
static inline void stream_step(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    int8_t direction = line > e->last ? 1 : -1;
    bool is_too_long = (line - e->last) * direction > p->reach;

    if (direction != e->stream.direction || is_too_long) {
        e->stream.n_steps = 0;
        e->stream.has_asked = false;
        e->stream.head = line + direction;
    }
    e->stream.n_steps += !is_too_long && e->stream.n_steps < p->train;
    e->stream.direction = direction;
    e->last = line;
    if ((e->stream.head - line) * direction <= 0)
        e->stream.head = line + direction;
}

static inline size_t sim_prefetch_stream_ask(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                                             const struct sim_prefetch_request *r, int64_t *want)
{
    uint64_t block = (uint64_t)r->line >> r->block_shift;
    struct sim_prefetch_entry *e;
    size_t n = 0, degree;

    if (p->pages == SIM_PREFETCH_CROSSES && sim_prefetch_find(s, block) == s->n)
        stream_follow(s, r->line, block);
    e = sim_prefetch_entry(s, p, block);
    if (e->is_valid && r->line == e->last)
        return 0;
    s->n_changes++;
    if (!e->is_valid) {
        e->is_valid = true;
        e->last = r->line;
        return 0;
    }
    stream_step(e, p, r->line);
    if (e->stream.n_steps < p->train)
        return 0;
    degree = e->stream.has_asked ? p->degree : p->first;
    e->stream.has_asked = true;
    for (; n < degree && (e->stream.head - r->line) * e->stream.direction <= p->distance; n++) {
        want[n] = e->stream.head;
        e->stream.head += e->stream.direction;
    }
    return n;
}

static const struct sim_prefetcher sim_prefetch_stream = {
    .name = "stream",
    .takes = SIM_PREFETCH_TAKES_DEGREE | SIM_PREFETCH_TAKES_DISTANCE | SIM_PREFETCH_TAKES_TRAIN |
             SIM_PREFETCH_TAKES_FIRST | SIM_PREFETCH_TAKES_REACH | SIM_PREFETCH_TAKES_ENTRIES | SIM_PREFETCH_TAKES_ON |
             SIM_PREFETCH_TAKES_PAGES | SIM_PREFETCH_TAKES_LATE,
    .usual = { .kind = SIM_PREFETCH_STREAM,
               .degree = 2,
               .distance = 8,
               .train = 2,
               .reach = 64,
               .entries = 16,
               .on = SIM_PREFETCH_ON_ALL,
               .pages = SIM_PREFETCH_STAYS },
};

#endif
