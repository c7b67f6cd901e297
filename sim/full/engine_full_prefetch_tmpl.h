/*
 * What the full engine's prefetchers (prefetch.h) ask for: lines that wait in a queue until the access that made them
 * ask is through. A full queue and requests that leave the block of 4 KiB drop what is asked for. Part of
 * engine_full_tmpl.h.
 */
#include "sim/prefetch/prefetch_kinds.h"

/* Of whole numbers: a stride may have led far out of the address space. */
static inline bool is_same_block(uint64_t a, uint64_t b, unsigned line_shift)
{
    return line_shift < SIM_PREFETCH_BLOCK_SHIFT ? !((a ^ b) >> (SIM_PREFETCH_BLOCK_SHIFT - line_shift)) : a == b;
}

/* Puts what a prefetcher of level k asks for into the queue. */
static inline void want(struct sim_full *e, size_t k, const struct sim_prefetch *p, const int64_t *lines, size_t n,
                        uint64_t line, const struct sim_full_request *r)
{
    unsigned shift = e->level[k].line_shift;
    uint64_t by = sim_full_asking(k, r->tag, r->phase, p->late);

    for (size_t i = 0; i < n && e->queue_length < SIM_FULL_QUEUE; i++) {
        uint64_t wanted = (uint64_t)lines[i];

        if (p->pages == SIM_PREFETCH_CROSSES)
            wanted &= SIM_FULL_ADDRESS_MASK >> shift;
        else if (!is_same_block(wanted, line, shift))
            continue;
        e->queue[(e->queue_first + e->queue_length++) % SIM_FULL_QUEUE] = (struct sim_full_wanted){ wanted, by };
    }
}

/* The requests that arrive, as those who see them call them: bits by enum sim_prefetch_on. */
static inline unsigned seen_by(bool is_miss, bool is_first_use, bool is_prefetch)
{
    return 1u << SIM_PREFETCH_ON_ALL | (unsigned)(is_miss || is_first_use) << SIM_PREFETCH_ON_MISS |
           (unsigned)(is_miss && !is_prefetch) << SIM_PREFETCH_ON_DEMAND;
}

/* Lets the prefetchers of level k, which has some, see a request before its line is used. */
static inline void watch(struct sim_full *e, size_t k, uint64_t line, bool is_hit, bool is_first_use,
                         const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    const struct sim_prefetch_request seen = {
        .line = (int64_t)line,
        .line_shift = l->line_shift,
        .tag = r->tag,
        .run = r->run,
        .is_hit = is_hit,
        .is_first_use = is_first_use,
        .is_prefetch = r->is_prefetch,
    };
    unsigned on = seen_by(!is_hit, is_first_use, r->is_prefetch);

    if (r->is_walk && !k)
        return;
    for (size_t i = 0; i < l->n_asks; i++) {
        const struct sim_prefetch *p = &l->asks[i];
        int64_t lines[SIM_MAX_PREFETCH_LINES];
        size_t n = on >> p->on & 1 ? sim_prefetch_ask(&l->prefetch[i], p, &seen, lines) : 0;

        if (n)
            want(e, k, p, lines, n, line, r);
    }
}

/* How often requests have changed the prefetchers of a level: see sim_prefetch_ask. */
static inline uint64_t prefetch_changes(const struct sim_full_level *l)
{
    uint64_t n = 0;

    for (size_t i = 0; i < l->n_asks; i++)
        n += l->prefetch[i].n_changes;
    return n;
}

/* Takes the line that has waited longest out of the queue, which is not empty. */
static inline struct sim_full_wanted next_wanted(struct sim_full *e)
{
    struct sim_full_wanted w = e->queue[e->queue_first];

    e->queue_first = (e->queue_first + 1) % SIM_FULL_QUEUE;
    e->queue_length--;
    return w;
}
