#include "sim/full/engine_full_prefetch.h"

#include "sim/prefetch/prefetch_kinds.h"

/* Of whole numbers: a stride may have led far out of the address space. */
static inline bool is_same_block(uint64_t a, uint64_t b, unsigned line_shift)
{
    return line_shift < SIM_PREFETCH_BLOCK_SHIFT ? !((a ^ b) >> (SIM_PREFETCH_BLOCK_SHIFT - line_shift)) : a == b;
}

/* Puts what a prefetcher of level k asks for into the queue. */
static void want(struct sim_full *e, size_t k, const struct sim_prefetch *p, const int64_t *lines, size_t n,
                 uint64_t line, const struct sim_full_request *r)
{
    unsigned shift = e->level[k].line_shift;

    for (size_t i = 0; i < n && e->queue_length < SIM_FULL_QUEUE; i++) {
        struct sim_full_wanted *w = &e->queue[(e->queue_first + e->queue_length) % SIM_FULL_QUEUE];

        w->line = (uint64_t)lines[i];
        if (p->pages == SIM_PREFETCH_CROSSES)
            w->line &= SIM_FULL_ADDRESS_MASK >> shift;
        else if (!is_same_block(w->line, line, shift))
            continue;
        w->level = (uint8_t)k;
        w->tag = (uint8_t)r->tag;
        w->phase = (uint8_t)r->phase;
        w->late = p->late;
        e->queue_length++;
    }
}

/* The requests that arrive, as those who see them call them: bits by enum sim_prefetch_on. */
static inline unsigned seen_by(bool is_hit, bool is_first_use, bool is_prefetch)
{
    return 1u << SIM_PREFETCH_ON_ALL | (unsigned)(!is_hit || is_first_use) << SIM_PREFETCH_ON_MISS |
           (unsigned)(!is_hit && !is_prefetch) << SIM_PREFETCH_ON_DEMAND;
}

void sim_full_watch(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_place *p,
                    const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    bool is_first_use = p->is_hit && *sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED;
    const struct sim_prefetch_request seen = {
        .line = (int64_t)line,
        .line_shift = l->line_shift,
        .tag = r->tag,
        .run = r->run,
        .is_hit = p->is_hit,
        .is_first_use = is_first_use,
        .is_prefetch = r->is_prefetch,
    };
    unsigned on = seen_by(p->is_hit, is_first_use, r->is_prefetch);
    int64_t lines[SIM_MAX_PREFETCH_LINES];

    if (r->is_walk && !k)
        return;
    for (size_t i = 0; i < l->n_asks; i++) {
        const struct sim_prefetch *ask = &l->asks[i];
        size_t n = on >> ask->on & 1 ? sim_prefetch_ask(&l->prefetch[i], ask, &seen, lines) : 0;

        if (n)
            want(e, k, ask, lines, n, line, r);
    }
}

uint64_t sim_full_prefetch_changes(const struct sim_full_level *l)
{
    uint64_t n = 0;

    for (size_t i = 0; i < l->n_asks; i++)
        n += l->prefetch[i].n_changes;
    return n;
}

const struct sim_full_wanted *sim_full_next_wanted(struct sim_full *e)
{
    const struct sim_full_wanted *w = &e->queue[e->queue_first];

    e->queue_first = (e->queue_first + 1) % SIM_FULL_QUEUE;
    e->queue_length--;
    return w;
}
