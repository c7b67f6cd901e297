#include "sim/prefetch/prefetch.h"

enum { BLOCK_SHIFT = 12 };

/* The block's stream, or the one that it replaces, emptied. */
static struct sim_stream *find(struct sim_prefetch_state *s, uint64_t block)
{
    struct sim_stream *oldest = &s->stream[0];

    for (size_t i = 0; i < SIM_STREAMS; i++) {
        if (s->stream[i].is_valid && s->stream[i].block == block)
            return &s->stream[i];
        if (s->stream[i].used < oldest->used)
            oldest = &s->stream[i];
    }
    *oldest = (struct sim_stream){ .block = block };
    return oldest;
}

/* Learns from a step to another line. */
static void step(struct sim_stream *t, int64_t line)
{
    int8_t direction = line > t->last ? 1 : -1;

    t->is_trained = direction == t->direction;
    t->direction = direction;
    t->last = line;
    if (!t->is_trained || (t->head - line) * direction <= 0)
        t->head = line + direction;
}

size_t sim_prefetch_stream(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                           const struct sim_prefetch_request *r, int64_t *want)
{
    uint64_t block =
        r->line_shift < BLOCK_SHIFT ? (uint64_t)r->line >> (BLOCK_SHIFT - r->line_shift) : (uint64_t)r->line;
    struct sim_stream *t = find(s, block);
    size_t n = 0;

    t->used = ++s->clock;
    if (!t->is_valid) {
        t->is_valid = true;
        t->last = r->line;
        return 0;
    }
    if (r->line == t->last)
        return 0;
    step(t, r->line);
    if (!t->is_trained)
        return 0;
    for (; n < p->degree && (t->head - r->line) * t->direction <= p->distance; n++, t->head += t->direction)
        want[n] = t->head;
    return n;
}
