/*
 * The levels behind the first, with compact words. Part of engine_plain_compact_tmpl.h.
 *
 * Queues. No level evicts lines of another level, and all lines brought in are whole. So requests flow outwards only,
 * and a level's answers do not change the next actions of the levels inside. Therefore a level may take its requests
 * much later, hundreds at a time, in order: then the level's state is in the host's nearest caches, and no lookup waits
 * for another lookup. Counts can be read off the queues: a miss of a level is a read of the next level.
 *
 * There is a single exception: a load of several lines misses a level once, however many of its lines do. Requests of
 * such a load say whether their line is the load's first missing line or a later missing line. Each level renews this
 * mark for the next level, and subtracts the surplus of the later lines.
 */
#include <string.h>

#include "sim/plain/engine_plain.h"
#include "sim/base/record.h"

/*
 * A request. The lower half is the word of the line after a fill: with the dirty bit, the request is a write-back by
 * the word's owner; without dirty bit and owner, a fetch. Above is the cause: the phase and, for a fetch, the tag and
 * whether a store caused the fetch. Cause, dirty bit and owner fit into 8 bits, see what_of(). Above are marks of a
 * line of a load of several lines.
 */
enum {
    REQUEST_CAUSE_SHIFT = 32,
    REQUEST_FIRST_SHIFT = 40, /* the load's first line that missed the level inside */
    REQUEST_LATER_SHIFT,      /* a later line that missed the level inside */
    REQUEST_SPLIT_SHIFT,      /* the number of a load that shards share, see lists.h */
    CAUSE_STORE = 1,
    CAUSE_TAG_SHIFT = 1,
    CAUSE_PHASE_SHIFT = SIM_RECORD_PHASE_SHIFT,
};

_Static_assert(SIM_COMPACT_ONE << CAUSE_TAG_SHIFT == 1 << CAUSE_PHASE_SHIFT, "flags fit below the phase");

#define REQUEST_FIRST ((uint64_t)1 << REQUEST_FIRST_SHIFT)
#define REQUEST_LATER ((uint64_t)1 << REQUEST_LATER_SHIFT)

_Static_assert((uint64_t)SIM_MAX_SPLITS << REQUEST_SPLIT_SHIFT == 0, "a split's number fits above");

static inline uint64_t cause_of(bool is_store, unsigned tag, unsigned phase)
{
    return (uint64_t)((unsigned)is_store | tag << CAUSE_TAG_SHIFT | phase << CAUSE_PHASE_SHIFT) << REQUEST_CAUSE_SHIFT;
}

static inline bool is_write_back(uint64_t what)
{
    return what & SIM_COMPACT_DIRTY << CAUSE_TAG_SHIFT;
}

static inline struct sim_cell *cell_of(struct sim_plain *h, uint64_t what)
{
    return &h->base.stats->cell[what >> CAUSE_TAG_SHIFT & (SIM_USUAL_TAGS - 1)][what >> CAUSE_PHASE_SHIFT];
}

/* Returns a request without its line: 8 bits. As 64 bits, so that the compiler does not narrow vectors. */
static inline uint64_t what_of(uint64_t request)
{
    return (request >> REQUEST_CAUSE_SHIFT & (SIM_PLAIN_N_REQUESTS - 1)) | (request & FLAGS) << CAUSE_TAG_SHIFT;
}

static inline uint64_t write_back_of(uint32_t victim, uint64_t cause)
{
    return victim | (cause & (uint64_t)(SIM_MAX_PHASES - 1) << (REQUEST_CAUSE_SHIFT + CAUSE_PHASE_SHIFT));
}

/*
 * Appends the requests after a use of a line, from place n on: a fetch of a missing line, a write-back of the dirty
 * word pushed out. There is room for both. Returns the next place.
 */
static inline size_t ask_for(struct sim_plain_queue *q, size_t n, uint64_t fetch, struct sim_compact_use use,
                             bool fetches)
{
    const bool is_miss = !use.is_hit, is_dirty = use.word & SIM_COMPACT_DIRTY;

    q->request[n] = fetch;
    n += fetches & is_miss;
    q->request[n] = write_back_of(use.word, fetch);
    return n + (is_miss & is_dirty);
}

/* Counts SIM_PLAIN_KINDS requests, with a pass for each of the few kinds. */
static inline void count_many(struct sim_plain_queue *q, const uint64_t *request)
{
    uint64_t kinds[SIM_PLAIN_KINDS / sizeof(uint64_t)] = { 0 };

    for (size_t i = 0; i < 8; i++) {
        for (size_t j = 0; j < 8; j++)
            kinds[j] |= what_of(request[i * 8 + j]) << 8 * i;
    }
    for (uint64_t left = ~(uint64_t)0, same; left; left &= ~same) {
        unsigned first = (unsigned)__builtin_ctzll(left);
        uint8_t what = (uint8_t)(kinds[first / 8] >> first % 8 * 8);

        same = find_kind(kinds, what);
        q->n_seen[what] += (uint64_t)__builtin_popcountll(same);
    }
}

/* Counts the first n requests of a queue. */
static void count_requests(struct sim_plain_queue *q, size_t n)
{
    size_t i = 0;

    for (; i + SIM_PLAIN_KINDS <= n; i += SIM_PLAIN_KINDS)
        count_many(q, q->request + i);
    for (; i < n; i++)
        q->n_seen[what_of(q->request[i])]++;
}

/* Notes that a part of a load that shards share has missed `depth` levels. */
static inline void note_depth(struct sim_plain *h, uint64_t split, size_t depth)
{
    if (split && h->splits.depth[split] < depth)
        h->splits.depth[split] = (uint8_t)depth;
}

/*
 * Level k has looked up a line of a load of several lines. Returns the request for the next level. The first line that
 * misses here goes on as the first; each later missing line was counted once too often.
 */
static __attribute__((noinline)) uint64_t pass_on_part(struct sim_plain *h, size_t k, uint64_t request, bool is_miss)
{
    struct sim_plain_queue *q = &h->queue[k];
    bool is_later = request & REQUEST_LATER && q->has_missed;

    if (request & REQUEST_FIRST)
        q->has_missed = is_miss;
    else
        q->has_missed |= is_miss;
    if (is_miss)
        note_depth(h, request >> REQUEST_SPLIT_SHIFT, k + 1);
    if (is_miss & is_later)
        cell_of(h, what_of(request))->level[k].load_misses--;
    return (request & ~(REQUEST_FIRST | REQUEST_LATER)) | (is_later ? REQUEST_LATER : REQUEST_FIRST);
}

/* Answers requests [from, to) of level k. There is room further out. */
static inline __attribute__((always_inline)) void answer(struct sim_plain *h, size_t k, size_t from, size_t to,
                                                         const struct sim_plain_sets s)
{
    const struct sim_plain_queue *q = &h->queue[k];
    struct sim_plain_queue *out = &h->queue[k + 1];
    size_t n_out = out->n;

    for (size_t i = from; i < to; i++) {
        uint64_t r = q->request[i];
        const bool writes = r & SIM_COMPACT_DIRTY;
        struct sim_compact_use use;

        __builtin_prefetch(set_of(&s, (uint32_t)q->request[i + SIM_PLAIN_AHEAD]), 1);
        use = use_line(&s, set_of(&s, (uint32_t)r), (uint32_t)r);
        if (r >> REQUEST_FIRST_SHIFT)
            r = pass_on_part(h, k, r, !use.is_hit);
        n_out = ask_for(out, n_out, r, use, !writes);
        if (writes & !use.is_hit)
            cell_of(h, what_of(r))->level[k].write_misses++;
    }
    out->n = n_out;
}

/* Does the same, with the usual shapes as compile-time constants. */
static void answer_usual(struct sim_plain *h, size_t k, size_t from, size_t to)
{
    struct sim_plain_sets s = h->level[k].compact;

    if (s.size == SIM_PLAIN_GROUP && s.has_mask) {
        s.size = SIM_PLAIN_GROUP;
        s.has_mask = true;
        answer(h, k, from, to, s);
    } else if (s.size == SIM_PLAIN_SMALL && s.has_mask) {
        s.size = SIM_PLAIN_SMALL;
        s.has_mask = true;
        answer(h, k, from, to, s);
    } else {
        answer(h, k, from, to, s);
    }
}

static void take_requests(struct sim_plain *h, size_t k, size_t n);

/* Copies the first n requests to level k to followers that share the levels before. */
static __attribute__((noinline)) void lead(struct sim_plain *h, size_t k, size_t n)
{
    for (struct sim_plain *f = h->pack.follower; f; f = f->pack.next) {
        if (f->pack.n_shared != k)
            continue;
        memcpy(f->queue[k].request, h->queue[k].request, n * sizeof h->queue[k].request[0]);
        f->queue[k].n = n;
        take_requests(f, k, n);
    }
}

/* Lets level k take the first n of its requests; if the outer queues are full, the outer levels take theirs before. */
static void take_requests(struct sim_plain *h, size_t k, size_t n)
{
    struct sim_plain_queue *q = &h->queue[k], *out = &h->queue[k + 1];

    count_requests(q, n);
    if (h->pack.follower)
        lead(h, k, n);
    for (size_t i = 0, to; i < n && k < h->n_levels; i = to) {
        if (out->n > SIM_PLAIN_QUEUE / 2)
            take_requests(h, k + 1, out->n);
        to = i + (SIM_PLAIN_QUEUE - out->n) / 2;
        to = to < n ? to : n;
        answer_usual(h, k, i, to);
    }
    q->n -= n;
    memmove(q->request, q->request + n, q->n * sizeof q->request[0]);
}

/* Lets the levels from k on take all waiting requests. */
static __attribute__((noinline)) void drain_from(struct sim_plain *h, size_t k)
{
    for (; k <= h->n_levels; k++) {
        if (h->queue[k].n)
            take_requests(h, k, h->queue[k].n);
    }
}

static inline void make_room(struct sim_plain *h, size_t n)
{
    if (h->queue[1].n + n > SIM_PLAIN_QUEUE)
        take_requests(h, 1, h->queue[1].n);
}

/* Adds n requests of a kind, received by level k, to the statistics. */
static void count_in_stats(struct sim_plain *h, size_t k, uint64_t what, uint64_t n)
{
    struct sim_cell *cell = cell_of(h, what);
    struct sim_level_counts *inside = &cell->level[k - 1], *here = k < h->n_levels ? &cell->level[k] : NULL;

    if (is_write_back(what)) {
        inside->write_backs += n;
        *(here ? &here->writes : &cell->memory_written_lines) += n;
        return;
    }
    *(here ? &here->reads : &cell->memory_read_lines) += n;
    if (k == 1 && what & CAUSE_STORE)
        inside->write_misses += n;
    else
        inside->read_misses += n;
    if (!(what & CAUSE_STORE))
        inside->load_misses += n;
}

static void settle(struct sim_plain *h)
{
    drain_from(h, 1);
    for (size_t k = 1; k <= h->n_levels; k++) {
        struct sim_plain_queue *q = &h->queue[k];

        for (unsigned what = 0; what < SIM_PLAIN_N_REQUESTS; what++) {
            if (q->n_seen[what])
                count_in_stats(h, k, what, q->n_seen[what]);
            q->n_seen[what] = 0;
        }
    }
}

static void flush_set(struct sim_plain *h, size_t k, uint32_t *set, unsigned phase)
{
    for (uint32_t i = h->level[k].n_ways; i-- > 0;) {
        struct sim_plain_queue *out = &h->queue[k + 1];
        uint32_t word = set[i];

        if (!(word & SIM_COMPACT_DIRTY))
            continue;
        set[i] = sim_compact_clean(sim_compact_id(word));
        if (out->n == SIM_PLAIN_QUEUE)
            take_requests(h, k + 1, out->n);
        out->request[out->n++] = write_back_of(word, cause_of(false, 0, phase));
    }
}

static void flush(struct sim_plain *h, unsigned phase)
{
    drain_from(h, 1);
    for (size_t k = h->pack.n_shared; k < h->n_levels; k++) {
        const struct sim_plain_level *c = &h->level[k];

        for (uint64_t set = 0; set < c->n_sets; set++)
            flush_set(h, k, c->compact.words + set * c->compact.set_words, phase);
        drain_from(h, 1);
    }
}
