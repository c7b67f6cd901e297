#ifndef SIM_PREFETCH_STREAM_H
#define SIM_PREFETCH_STREAM_H

#include <assert.h>

#include "sim/prefetch/prefetch_state.h"

/*
 * Continues a stream that ran to the end of the block before in an unknown block; of several streams, the stream used
 * last.
 */
static inline void sim_prefetch_stream_follow(struct sim_prefetch_state *s, const struct sim_prefetch_request *r)
{
    const uint64_t block = (uint64_t)r->line >> r->block_shift;
    int32_t latest = -1;

    for (int8_t direction = -1; direction <= 1; direction = (int8_t)(direction + 2)) {
        int64_t last = r->line - direction;
        uint64_t before = (uint64_t)last >> r->block_shift;
        int32_t i = before == block ? -1 : sim_prefetch_find(s, before);

        if (i >= 0 && s->entry[i].stream.direction == direction && s->entry[i].last == last &&
            (latest < 0 || s->used[i] > s->used[latest]))
            latest = i;
    }
    if (latest >= 0)
        s->key[latest] = block;
}

/* Begins a stream anew, with a step to another line. */
static inline void stream_turn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    int8_t direction = line > e->last ? 1 : -1;

    e->stream.direction = direction;
    e->stream.n_steps = (line - e->last) * direction <= p->reach;
    e->stream.has_asked = false;
    e->stream.head = line;
}

/* Learns from a step to another line. Returns whether the stream asks for lines. */
static inline bool stream_step(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    int64_t step = (line - e->last) * e->stream.direction;

    if (step > 0 && step <= p->reach)
        e->stream.n_steps = (uint8_t)(e->stream.n_steps + (e->stream.n_steps < p->train));
    else
        stream_turn(e, p, line);
    e->last = line;
    return e->stream.n_steps >= p->train;
}

/* Returns the next lines of a stream beyond this line. */
static inline __attribute__((always_inline)) struct sim_prefetch_lines
stream_lines(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    int64_t direction = e->stream.direction, ahead = (e->stream.head - line) * direction, n, room;

    ahead = ahead > 0 ? ahead : 1;
    n = e->stream.has_asked ? p->degree : p->first;
    room = p->distance + 1 - ahead;
    assert(room > 0); /* the head is at most the distance and a line ahead, and the stream has moved on */
    n = n < room ? n : room;
    e->stream.head = line + direction * (ahead + n);
    e->stream.has_asked = true;
    return (struct sim_prefetch_lines){ .which = sim_prefetch_first_bits((unsigned)n),
                                        .first = line + direction * ahead,
                                        .step = direction };
}

static inline __attribute__((always_inline)) struct sim_prefetch_lines
sim_prefetch_stream_learn(struct sim_prefetch_entry *e, const struct sim_prefetch *p, int64_t line)
{
    if (e->last == SIM_PREFETCH_NOWHERE)
        e->last = line;
    else if (stream_step(e, p, line))
        return stream_lines(e, p, line);
    return (struct sim_prefetch_lines){ 0 };
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
