/*
 * Sweeps: most of the repetitions of most bursts at a few cycles a line. A template, included after
 * sim/engine/bursts_tmpl.h; the back-end brings besides
 *
 *   touch_range(h, who, first, n)   touches n lines in a row, once each
 *
 * A run without gaps that moves on without gaps touches a window of lines, which slides over them. Lines are seen here
 * modulo the ring: the lines that have a set of the first level to themselves and whose like no other line of the ring
 * meets at any level. So touches of different places of the ring commute, and what counts is in which order each
 * place is touched. A run touches a place from the repetition in which its window enters it to the one in which the
 * window leaves it. While it is there, the line stays in the first level, as long as the lines that are being touched
 * at a place are no more than its ways; more than one for each run they cannot be.
 *
 * Therefore some repetitions may be walked run by run, each line of each run touched once, if at each place the runs
 * enter in the order in which they are taken, and leave in that order, too: the same lines miss, push out the same
 * ones, and lie in the same order afterwards. That is so, for times [t, t + n), if around the ring, from the run that
 * is furthest behind to the one furthest ahead, taken first,
 *
 *   - each run stays behind the next one: does not pass it with its first or its last byte, and, if it comes earlier
 *     within a repetition, so that it would have to be taken before whenever both enter a line at once, does not even
 *     touch the line that the next one has left;
 *   - the one ahead does not reach the line where the one behind began, a ring later.
 *
 * One repetition, run by run, is always right.
 */
#include "sim/plain/engine_plain.h"

enum {
    SWEEPS_AT_LEAST = 2, /* repetitions per plan, on average; fewer are not worth planning */
    PLANS_FOR_NOTHING = 16,
};

/* A run on its way through its burst. */
struct sweep {
    struct toucher who;
    uint64_t addr; /* of the first byte of the next repetition */
    uint64_t more; /* from there to its last byte */
    uint64_t step_bytes;
};

struct sweeps {
    size_t n;
    struct sweep sweep[SIM_PLAIN_SWEEPS]; /* as the burst has them */
    uint8_t order[SIM_PLAIN_SWEEPS];      /* around the ring: each is behind the next */
    size_t ahead;                         /* the place in there of the one that is taken first */
};

/* Puts the runs in order around the ring. Of those at one place the one that comes first in the burst is ahead. */
static inline void order_sweeps(struct sweeps *b, uint64_t ring_mask)
{
    for (size_t i = 0, at; i < b->n; i++) {
        uint64_t place = b->sweep[i].addr & ring_mask;

        for (at = i; at && (b->sweep[b->order[at - 1]].addr & ring_mask) >= place; at--)
            b->order[at] = b->order[at - 1];
        b->order[at] = (uint8_t)i;
    }
}

/*
 * Returns how many repetitions, of n_times, fit into so many bytes, of which the first needs none: 0 if there are less
 * than none. Mostly all fit, and nothing need be divided.
 */
static inline uint64_t times_in(int64_t bytes, uint64_t bytes_per_time, uint64_t n_times)
{
    if (bytes < 0)
        return 0;
    return bytes_per_time * (n_times - 1) <= (uint64_t)bytes ? n_times : (uint64_t)bytes / bytes_per_time + 1;
}

/* Holds what the plan knows of two runs that are next to each other around the ring. */
struct neighbours {
    const struct sweep *behind, *ahead;
    uint64_t distance; /* from the first byte of the one to that of the other */
};

/* Returns for how many repetitions, of n_times, the run behind stays behind. */
static inline uint64_t times_behind(const struct neighbours *p, uint64_t line_bytes, uint64_t n_times)
{
    int64_t ends = (int64_t)(p->ahead->more - p->behind->more), room = (int64_t)p->distance + (ends < 0 ? ends : 0);

    if (p->ahead > p->behind)
        room = (int64_t)(p->distance - p->behind->more - line_bytes);
    if (p->behind->step_bytes <= p->ahead->step_bytes)
        return room < 0 ? 0 : n_times;
    return times_in(room, p->behind->step_bytes - p->ahead->step_bytes, n_times);
}

/* Returns for how many the run behind does not reach the line where the one ahead began. */
static inline uint64_t times_apart(const struct neighbours *p, uint64_t line_bytes, uint64_t n_times)
{
    uint64_t into_line = p->ahead->addr & (line_bytes - 1);

    return times_in((int64_t)(p->distance - into_line - p->behind->more - 1), p->behind->step_bytes, n_times);
}

/* The i-th around the ring and the next; after the last comes the first, a ring later. */
static inline struct neighbours neighbours_at(const struct sweeps *b, size_t i, uint64_t ring_mask)
{
    const bool is_last = i + 1 == b->n;
    const struct sweep *behind = &b->sweep[b->order[i]], *ahead = &b->sweep[b->order[is_last ? 0 : i + 1]];
    uint64_t distance = (ahead->addr & ring_mask) - (behind->addr & ring_mask);

    return (struct neighbours){ behind, ahead, distance + (is_last ? ring_mask + 1 : 0) };
}

/* Finds where around the ring to begin. Returns how many repetitions, of n_times, can be walked run by run then. */
static inline uint64_t plan_sweeps(struct sweeps *b, uint64_t ring_mask, uint64_t line_bytes, uint64_t n_times)
{
    uint64_t apart[SIM_PLAIN_SWEEPS], least = n_times, others = n_times, best = 0;
    size_t tightest = 0;

    order_sweeps(b, ring_mask);
    for (size_t i = 0; i < b->n; i++) {
        const struct neighbours p = neighbours_at(b, i, ring_mask);
        uint64_t behind = times_behind(&p, line_bytes, n_times);

        apart[i] = times_apart(&p, line_bytes, n_times);
        if (behind < least) {
            others = least;
            least = behind;
            tightest = i;
        } else if (behind < others) {
            others = behind;
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        uint64_t limit = i == tightest ? others : least, n = apart[i] < limit ? apart[i] : limit;

        if (n > best) {
            best = n;
            b->ahead = i;
        }
    }
    return best;
}

/* Walks n_times repetitions of a run. */
static inline void sweep_run(struct sim_plain *h, struct sweep *s, uint64_t n_times)
{
    const unsigned shift = h->bursts.line_shift;
    uint64_t first = s->addr >> shift, last = (s->addr + (n_times - 1) * s->step_bytes + s->more) >> shift;

    touch_range(h, &s->who, first, last - first + 1);
    s->addr += n_times * s->step_bytes;
}

static void sweep_together(struct sim_plain *h, struct sweeps *b, uint64_t n_times)
{
    if (b->n == 1 || n_times == 1) {
        for (size_t i = 0; i < b->n; i++)
            sweep_run(h, &b->sweep[i], n_times);
        return;
    }
    for (size_t i = 0, at = b->ahead; i < b->n; i++, at = at ? at - 1 : b->n - 1)
        sweep_run(h, &b->sweep[b->order[at]], n_times);
}

/* Walks repetitions as long as that is worth the planning. Returns how many. */
static uint64_t sweep_times(struct sim_plain *h, struct sweeps *b, uint64_t n_times)
{
    uint64_t t = 0;

    for (uint64_t n_plans = 0, n; t < n_times && n_plans * SWEEPS_AT_LEAST < t + PLANS_FOR_NOTHING; n_plans++, t += n) {
        n = n_times - t;
        if (b->n > 1 && n > 1)
            n = plan_sweeps(b, h->ring_bytes - 1, h->bursts.line_bytes, n);
        n = n ? n : 1;
        sweep_together(h, b, n);
        h->bursts.paths.swept_times += n;
    }
    return t;
}

/*
 * Tells whether the run touches a window of lines without gaps that slides forwards without gaps, and is not too wide.
 */
static inline bool can_sweep(const struct sim_plain *h, const struct sim_run *r, uint64_t more, uint64_t n_times)
{
    const uint64_t line_bytes = h->bursts.line_bytes, longest = more < line_bytes ? line_bytes : more + 1;

    return is_aligned(r, n_times, h->bursts.line_bytes) && (r->count == 1 || (uint64_t)r->stride_bytes <= line_bytes) &&
           (uint64_t)r->step_bytes <= longest && more + 2 * line_bytes <= h->ring_bytes;
}

/* Counts the accesses of so many repetitions of a run. */
static inline void count_swept(struct sim_plain *h, const struct sim_run *r, const struct sweep *s, uint64_t n_times)
{
    const uint64_t n = r->count * n_times;

    sim_count_accesses(sim_hierarchy_cell(&h->base, r->tag, r->phase), r->kind, n, n * r->access_bytes);
    if (s)
        count_touches(&s->who, n);
}

/* Makes the first repetitions of a burst, as many as sweeps are good for. Returns how many. */
static uint64_t sweep_burst(struct sim_plain *h, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sweeps b;
    const struct sweep *own = b.sweep;

    b.n = 0;
    if (n_times < SWEEPS_AT_LEAST)
        return 0;
    for (const struct sim_run *r = run; r < run + n_runs; r++) {
        struct sweep *s = &b.sweep[b.n];
        uint64_t more = (r->count - 1) * (uint64_t)r->stride_bytes + r->access_bytes - 1;

        if (is_ignored(h, r->kind) || !r->count)
            continue;
        if (b.n == h->n_sweeps || !can_sweep(h, r, r->count > 1 ? more : r->access_bytes - 1, n_times))
            return 0;
        init_toucher(&s->who, h, r->kind, r->tag, r->phase, 0);
        s->addr = r->addr & ADDRESS_MASK; /* which its windows may leave, but never far enough to overflow */
        s->more = more;
        s->step_bytes = (uint64_t)r->step_bytes;
        b.n++;
    }
    n_times = b.n ? sweep_times(h, &b, n_times) : n_times;
    for (const struct sim_run *r = run; r < run + n_runs; r++)
        count_swept(h, r, is_ignored(h, r->kind) || !r->count ? NULL : own++, n_times);
    return n_times;
}
