/*
 * Brings in what the full engine's prefetchers (prefetch.h) ask for: lines that wait in a queue until the access that
 * made them ask is through. A full queue and requests that leave the block of 4 KiB drop what is asked for. Part of
 * engine_full_tmpl.h.
 */
#include "sim/prefetch/prefetch_kinds.h"

/* Puts what a prefetcher asks for into the queue, as far as it is to have it and there is room. */
static inline void want(struct sim_full *e, const struct sim_full_asker *a, const int64_t *lines, size_t n,
                        uint64_t line, uint64_t by)
{
    uint64_t end = e->queue_end;

    for (size_t i = 0; i < n && end - e->queue_first != SIM_FULL_QUEUE; i++) {
        uint64_t at = (uint64_t)lines[i] & a->mask;

        e->queue[end % SIM_FULL_QUEUE] = (struct sim_full_wanted){ at, by };
        end += !((at ^ line) >> a->stay_shift);
    }
    e->queue_end = end;
}

static inline struct sim_prefetch_request seen_by(const struct sim_full_level *l, uint64_t line,
                                                  const struct sim_full_request *r)
{
    return (struct sim_prefetch_request){
        .line = (int64_t)line, .block_shift = l->block_shift, .tag = r->tag, .run = r->run
    };
}

/* Lets some prefetchers of level k, given as bits, see a request before its line is used. */
static inline void watch(struct sim_full *e, size_t k, uint64_t line, unsigned left, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    const struct sim_prefetch_request seen = seen_by(l, line, r);

    for (; left; left &= left - 1) {
        struct sim_full_asker *a = &l->asker[__builtin_ctz(left)];
        int64_t lines[SIM_MAX_PREFETCH_LINES];
        size_t n = sim_prefetch_ask(&a->state, &a->p, &seen, lines);

        if (n)
            want(e, a, lines, n, line, sim_full_asking(k, r->tag, r->phase, a->p.late));
    }
}

/* Those prefetchers of the first level, as bits, to which a hit says something; it is noted by the others. */
static inline unsigned heeders(struct sim_full *e, uint64_t line, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[0];
    const struct sim_prefetch_request seen = seen_by(l, line, r);
    unsigned found = l->seers[SIM_FULL_SEEN_HIT];

    for (unsigned left = found; left; left &= left - 1) {
        struct sim_full_asker *a = &l->asker[__builtin_ctz(left)];

        if (sim_prefetch_passes(&a->state, &a->p, &seen))
            found &= ~(left & -left);
    }
    return found;
}
