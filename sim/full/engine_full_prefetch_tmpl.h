/*
 * Requests of the full engine's prefetchers (prefetch.h). Requested lines wait in a queue until the access behind the
 * request is finished. A full queue drops requests, and so does a request that leaves the block of 4 KiB. Part of
 * engine_full_tmpl.h.
 *
 * A line that a prefetcher of the first level asks for is looked up at once, if the queue is empty and has room for all
 * consequences of the request (holds_all):
 *
 * - The line is present, and the request is a hit: nothing happens until the line's turn, so the line need not wait.
 * - The line was just asked for: at its turn the line will be present, so the line need not wait either.
 * - The line is absent: at its turn the line is still absent, unless the same line waits before. So the row is kept and
 * not searched again. Until then the first level gets only the request's own line and earlier queued lines.
 */
#include "sim/prefetch/prefetch_kinds.h"

/* How a line that a prefetcher asks for is looked up. */
enum ahead {
    WAITS,          /* at the line's turn */
    LOOKED_FOR,     /* at once; the line waits only if the line is absent or may leave before its turn */
    LOOKED_FOR_HIT, /* at once, for a request that is a hit */
};

/* Puts a line into the queue. */
static inline void queue_up(struct sim_full *e, const struct sim_full_asker *a, uint64_t line, uint64_t *row,
                            const struct sim_full_request *r)
{
    struct sim_full_wanted *w = &e->queue[e->queue_end % SIM_FULL_QUEUE];

    w->line = line;
    w->by = a->by | r->by;
    w->row = row;
    w->cell = r->cell;
    e->queue_end++;
}

/* Tells whether a line is in the queue. */
static bool is_waiting(const struct sim_full *e, uint64_t line)
{
    for (uint64_t i = e->queue_first; i < e->queue_end; i++) {
        if (e->queue[i % SIM_FULL_QUEUE].line == line)
            return true;
    }
    return false;
}

/* Queues a line that was looked up ahead of its turn, if need be. */
static inline bool want_found(struct sim_full *e, const struct sim_full_asker *a, uint64_t wanted, uint64_t line,
                              struct sim_full_place p, enum ahead ahead, const struct sim_full_request *r)
{
    const bool is_first = e->queue_first == e->queue_end;

    if (!sim_full_is_hit(p))
        queue_up(e, a, wanted, wanted == line || (!is_first && is_waiting(e, wanted)) ? NULL : p.row, r);
    else if (!is_first || ahead != LOOKED_FOR_HIT)
        queue_up(e, a, wanted, NULL, r);
    return false;
}

static __attribute__((noinline)) bool want_any(struct sim_full *e, const struct sim_full_asker *a, uint64_t wanted,
                                               uint64_t line, enum ahead ahead, const struct sim_full_request *r)
{
    return want_found(e, a, wanted, line, sim_full_level_find(&e->level[0], wanted), ahead, r);
}

/* Looks up a line that a prefetcher of the first level asks for, unless the line was just asked for. Returns false. */
static __attribute__((noinline)) bool want_ahead(struct sim_full *e, const struct sim_full_asker *a, uint64_t wanted,
                                                 uint64_t line, enum ahead ahead, const struct sim_full_request *r)
{
    wanted &= a->mask;
    if ((wanted ^ line) >> a->stay_shift)
        return false;
    a->counts->asked++;
    if (e->queue_first != e->queue_end && e->queue[(e->queue_end - 1) % SIM_FULL_QUEUE].line == wanted)
        return false;
    if (!e->level[0].is_small)
        return want_any(e, a, wanted, line, ahead, r);
    return want_found(e, a, wanted, line, sim_full_level_find_small(&e->level[0], wanted), ahead, r);
}

/* Queues a line that a prefetcher asks for, if the prefetcher may have the line and there is room. Returns false. */
static __attribute__((noinline)) bool want(struct sim_full *e, const struct sim_full_asker *a, uint64_t wanted,
                                           uint64_t line, const struct sim_full_request *r)
{
    wanted &= a->mask;
    if (!((wanted ^ line) >> a->stay_shift) && e->queue_end - e->queue_first != SIM_FULL_QUEUE) {
        a->counts->asked++;
        queue_up(e, a, wanted, NULL, r);
    }
    return false;
}

/* Notes several lines for want_several(), word by word: a copy would wait for words just written. */
static inline void note_asked(struct sim_full *e, struct sim_prefetch_lines asked)
{
    e->asked.which = asked.which;
    e->asked.first = asked.first;
    e->asked.step = asked.step;
}

/* Queues several lines that a prefetcher asks for. Returns false. */
static __attribute__((noinline)) bool want_several(struct sim_full *e, const struct sim_full_asker *a, uint64_t line,
                                                   enum ahead ahead, const struct sim_full_request *r)
{
    const uint64_t first = (uint64_t)e->asked.first, step = (uint64_t)e->asked.step;

    for (uint64_t which = e->asked.which; which; which &= which - 1) {
        const uint64_t wanted = first + (uint64_t)__builtin_ctzll(which) * step;

        if (ahead == WAITS)
            want(e, a, wanted, line, r);
        else
            want_ahead(e, a, wanted, line, ahead, r);
    }
    return false;
}

/* Queues a prefetcher's requests. Returns whether the prefetcher let the request pass. */
static inline EACH_LEVEL bool answer(struct sim_full *e, const struct sim_full_asker *a,
                                     struct sim_prefetch_lines asked, uint64_t line, enum ahead ahead,
                                     const struct sim_full_request *r)
{
    if (!asked.which)
        return asked.passes;
    if (asked.which != 1) {
        note_asked(e, asked);
        return want_several(e, a, line, ahead, r);
    }
    if (ahead == WAITS)
        return want(e, a, (uint64_t)asked.first, line, r);
    return want_ahead(e, a, (uint64_t)asked.first, line, ahead, r);
}

static inline uint64_t key_of(const struct sim_full_asker *a, uint64_t line, const struct sim_full_request *r)
{
    if (!a->p.key)
        return line >> a->block_shift;
    return a->p.key == SIM_PREFETCH_BY_RUN ? r->run : r->tag;
}

static inline struct sim_prefetch_request seen_by(const struct sim_full_asker *a, uint64_t line,
                                                  const struct sim_full_request *r)
{
    return (struct sim_prefetch_request){
        .line = (int64_t)line, .block_shift = a->block_shift, .tag = r->tag, .run = r->run
    };
}

/* Shows a prefetcher a request before the line is used. Returns whether the prefetcher lets the request pass. */
static __attribute__((noinline)) bool ask_any(struct sim_full *e, struct sim_full_asker *a, uint64_t line,
                                              enum ahead ahead, const struct sim_full_request *r)
{
    const struct sim_prefetch_request seen = seen_by(a, line, r);

    return answer(e, a, sim_prefetch_ask(&a->state, &a->p, &seen), line, ahead, r);
}

/*
 * Do the same for a kind of prefetcher, if the request's entry, in kinds with entries, is the entry used last. The
 * functions are short and end in a call of another function, so that registers suffice and none is saved.
 */
#define ASK_KIND(upper, lower)                                                                                         \
    static __attribute__((noinline)) bool ask_##lower(struct sim_full *e, struct sim_full_asker *a, uint64_t line,     \
                                                      enum ahead ahead, const struct sim_full_request *r)              \
    {                                                                                                                  \
        struct sim_prefetch_entry *known = NULL;                                                                       \
                                                                                                                       \
        if (sim_prefetch_has_entries(SIM_PREFETCH_##upper)) {                                                          \
            known = sim_prefetch_known_entry(&a->state, key_of(a, line, r));                                           \
            if (!known)                                                                                                \
                return ask_any(e, a, line, ahead, r);                                                                  \
            if (known->last == (int64_t)line)                                                                          \
                return true;                                                                                           \
        }                                                                                                              \
        return answer(e, a, sim_prefetch_##lower##_learn(known, &a->p, (int64_t)line), line, ahead, r);                \
    }

SIM_PREFETCH_KINDS(ASK_KIND)

static inline bool ask(struct sim_full *e, struct sim_full_asker *a, uint64_t line, enum ahead ahead,
                       const struct sim_full_request *r)
{
#define ASK(upper, lower)                                                                                              \
    case SIM_PREFETCH_##upper:                                                                                         \
        return ask_##lower(e, a, line, ahead, r);
    switch (a->p.kind) {
        SIM_PREFETCH_KINDS(ASK)
    default:
        return true;
    }
#undef ASK
}

static inline enum ahead ahead_of(const struct sim_full *e, bool is_hit)
{
    if (!e->holds_all || e->queue_first != e->queue_end)
        return WAITS;
    return is_hit ? LOOKED_FOR_HIT : LOOKED_FOR;
}

/*
 * Tells whether a line is the last line of the prefetcher's entry for the request: then the prefetcher lets the request
 * pass.
 */
static inline bool remembers(const struct sim_full_asker *a, uint64_t line, const struct sim_full_request *r)
{
    return a->p.entries && sim_prefetch_is_last(&a->state, key_of(a, line, r), (int64_t)line);
}

/* Does the same, and marks the entry as used. */
static inline bool is_seen_again(struct sim_full_asker *a, uint64_t line, const struct sim_full_request *r)
{
    const struct sim_prefetch_entry *known =
        a->p.entries ? sim_prefetch_known_entry(&a->state, key_of(a, line, r)) : NULL;

    return known && known->last == (int64_t)line;
}

/*
 * Shows the prefetchers of the first level a hit that is no first use. Returns whether all prefetchers let the hit
 * pass.
 */
static inline bool watch_hit(struct sim_full *e, uint64_t line, const struct sim_full_request *r)
{
    struct sim_full_level *l = &e->level[0];
    const enum ahead ahead = ahead_of(e, true);
    bool passes = true;

    for (struct sim_full_asker *const *left = l->seer[SIM_FULL_SEEN_HIT]; *left; left++) {
        if (!is_seen_again(*left, line, r))
            passes &= ask(e, *left, line, ahead, r);
    }
    return passes;
}

/* Shows some prefetchers of level k a request before the line is used. */
static inline EACH_LEVEL void watch(struct sim_full *e, size_t k, uint64_t line, struct sim_full_asker *const *left,
                                    bool is_hit, const struct sim_full_request *r)
{
    const enum ahead ahead = k ? WAITS : ahead_of(e, is_hit);

    for (; *left; left++)
        ask(e, *left, line, ahead, r);
}
