#include "sim/full/engine_full_prefetch.h"

static inline bool is_same_block(uint64_t a, uint64_t b, unsigned line_shift)
{
    return !((a ^ b) << line_shift >> SIM_PREFETCH_BLOCK_SHIFT);
}

static inline void want(struct sim_full *e, size_t k, uint64_t line, uint64_t wanted, const struct sim_prefetch *p,
                        const struct sim_full_request *r)
{
    unsigned shift = e->level[k].line_shift;
    struct sim_full_wanted *w;

    if (p->pages == SIM_PREFETCH_CROSSES)
        wanted &= SIM_FULL_ADDRESS_MASK >> shift;
    else if (!is_same_block(wanted, line, shift))
        return;
    if (e->queue_length == SIM_FULL_QUEUE)
        return;
    w = &e->queue[(e->queue_first + e->queue_length++) % SIM_FULL_QUEUE];
    w->line = wanted;
    w->level = (uint8_t)k;
    w->tag = (uint8_t)r->tag;
    w->phase = (uint8_t)r->phase;
    w->late = p->late;
}

/* Whether a prefetcher sees a request. */
static inline bool sees(const struct sim_prefetch *p, bool is_miss, bool is_first_use, bool is_prefetch)
{
    return p->on == SIM_PREFETCH_ON_ALL    ? true
           : p->on == SIM_PREFETCH_ON_MISS ? is_miss || is_first_use
                                           : is_miss && !is_prefetch;
}

void sim_full_watch(struct sim_full *e, size_t k, uint64_t line, const struct sim_full_place *p,
                    const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    const struct sim_prefetch_request seen = {
        .line = (int64_t)line,
        .line_shift = l->line_shift,
        .tag = r->tag,
        .run = ((unsigned)r->tag * SIM_MAX_PHASES + r->phase) * SIM_MAX_BURST_RUNS + r->run,
        .is_hit = p->is_hit,
        .is_first_use = p->is_hit && *sim_full_level_flags(l, p) & SIM_FULL_PREFETCHED,
        .is_prefetch = r->is_prefetch,
    };
    int64_t lines[SIM_MAX_PREFETCH_LINES];

    if (r->is_walk && !k)
        return;

    for (size_t i = 0; i < SIM_MAX_PREFETCHERS && l->asks[i].kind; i++) {
        const struct sim_prefetch *ask = &l->asks[i];
        struct sim_prefetch_state *state = &l->prefetch[i];
        uint64_t n_changes = state->n_changes;
        size_t n;

        if (!sees(ask, !seen.is_hit, seen.is_first_use, seen.is_prefetch))
            continue;
        n = sim_prefetchers[ask->kind]->ask(state, ask, &seen, lines);
        e->n_changes += state->n_changes - n_changes;
        for (size_t j = 0; j < n; j++)
            want(e, k, line, (uint64_t)lines[j], ask, r);
    }
}

const struct sim_full_wanted *sim_full_next_wanted(struct sim_full *e)
{
    const struct sim_full_wanted *w = &e->queue[e->queue_first];

    e->queue_first = (e->queue_first + 1) % SIM_FULL_QUEUE;
    e->queue_length--;
    return w;
}
