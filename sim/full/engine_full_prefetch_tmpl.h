/*
 * Brings in what the full engine's prefetchers (prefetch.h) ask for: lines that wait in a queue until the access that
 * made them ask is through. A full queue and requests that leave the block of 4 KiB drop what is asked for. Part of
 * engine_full_tmpl.h.
 */
#include "sim/prefetch/prefetch_kinds.h"

/*
 * Tells whether a line that a prefetcher of the first level asks for need not wait: it is there, and nothing happens
 * until its turn, because the request is a hit and no other line waits.
 */
static inline bool need_not_wait(struct sim_full *e, uint64_t line)
{
    return e->queue_first == e->queue_end && sim_full_is_hit(sim_full_level_find(&e->level[0], line));
}

/* Puts what a prefetcher asks for into the queue, as far as it is to have it and there is room. */
static inline void want(struct sim_full *e, const struct sim_full_asker *a, const int64_t *lines, size_t n,
                        uint64_t line, bool is_calm, uint64_t by)
{
    for (size_t i = 0; i < n && e->queue_end - e->queue_first != SIM_FULL_QUEUE; i++) {
        uint64_t at = (uint64_t)lines[i] & a->mask;

        if ((at ^ line) >> a->stay_shift || (is_calm && need_not_wait(e, at)))
            continue;
        e->queue[e->queue_end++ % SIM_FULL_QUEUE] = (struct sim_full_wanted){ at, by };
    }
}

static inline struct sim_prefetch_request seen_by(const struct sim_full_level *l, uint64_t line,
                                                  const struct sim_full_request *r)
{
    return (struct sim_prefetch_request){
        .line = (int64_t)line, .block_shift = l->block_shift, .tag = r->tag, .run = r->run
    };
}

/*
 * Lets some prefetchers of level k, given as bits, see a request before its line is used. Returns whether all let it
 * pass.
 */
static inline bool watch(struct sim_full *e, size_t k, uint64_t line, unsigned left, bool is_hit,
                         const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[k];
    const struct sim_prefetch_request seen = seen_by(l, line, r);
    const bool is_calm = is_hit && !k && l->is_calm;
    bool passes = true;

    for (; left; left &= left - 1) {
        struct sim_full_asker *a = &l->asker[__builtin_ctz(left)];
        int64_t lines[SIM_MAX_PREFETCH_LINES];
        int n = sim_prefetch_ask(&a->state, &a->p, &seen, lines);

        passes = passes && n == SIM_PREFETCH_PASSES;
        if (n > 0)
            want(e, a, lines, (size_t)n, line, is_calm, sim_full_asking(k, r->tag, r->phase, a->p.late));
    }
    return passes;
}

/* The prefetchers of the first level, as bits, that see hits and do not just note that their last line comes again. */
static inline unsigned heeders(struct sim_full *e, uint64_t line, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[0];
    const struct sim_prefetch_request seen = seen_by(l, line, r);
    unsigned found = l->seers[SIM_FULL_SEEN_HIT];

    for (unsigned left = found; left; left &= left - 1) {
        struct sim_full_asker *a = &l->asker[__builtin_ctz(left)];

        if (a->p.entries && sim_prefetch_is_last(&a->state, sim_prefetch_key(&a->p, &seen), seen.line))
            found &= ~(left & -left);
    }
    return found;
}
