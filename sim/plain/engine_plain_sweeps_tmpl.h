/*
 * Sweeps: most repetitions of most bursts at a few cycles a line. A template, included after sim/engine/bursts_tmpl.h;
 * the back-end also defines
 *
 *   touch_range(h, who, first, n)   touches n consecutive lines, once each
 *
 * A run without gaps that moves without gaps touches a window of lines that slides over memory. Here, lines are numbers
 * modulo the ring: at every level, lines at different places of the ring are in different sets. So touches of different
 * places of the ring commute, and only the order of touches of each place matters. A run touches a place from the
 * repetition in which the run's window enters the place to the repetition in which the window leaves. Meanwhile the
 * line stays in the first level, as long as at most as many lines as ways are touched at a place: at most one line per
 * run.
 *
 *     ring      ......[== run b ==]........[=== run a ===]......      windows slide to the right; a is ahead of b
 *
 * Therefore some repetitions may be walked run by run, each line of each run touched once: at each place, the runs must
 * enter in the order in which they are taken, and leave in this order, too. Then equal lines miss, push out equal
 * lines, and end in equal order. For times [t, t + n) the condition holds if, around the ring, from the run furthest
 * behind to the run furthest ahead, which is taken first,
 *
 *   - each run stays behind the next run: neither its first nor its last byte passes the next run's, and, if the run
 *     comes earlier within a repetition (so that it would have to be taken first whenever both enter a line at once),
 *     the run does not even touch the line that the next run has left;
 *   - the run ahead does not reach the line where the run behind began, a ring later.
 *
 * A single repetition, run by run, is always right.
 */
#include "sim/plain/engine_plain.h"

enum {
    SWEEPS_AT_LEAST = 2, /* repetitions per plan, on average; fewer are not worth planning */
    PLANS_FOR_NOTHING = 16,
};

/* A run in progress through its burst. */
struct sweep {
    struct toucher who;
    uint64_t addr; /* of the first byte of the next repetition */
    uint64_t more; /* distance from addr to the repetition's last byte */
    uint64_t step_bytes;
};

struct sweeps {
    size_t n;
    struct sweep sweep[SIM_PLAIN_SWEEPS]; /* in the order of the burst */
    uint8_t order[SIM_PLAIN_SWEEPS];      /* around the ring: each is behind the next */
    size_t ahead;                         /* index in order[] of the run that is taken first */
};

/* Puts the runs in order around the ring. Of runs at one place, the first run of the burst is ahead. */
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
 * Returns how many repetitions, of n_times, fit into `bytes` bytes; the first repetition needs no bytes; 0 if bytes is
 * negative. Mostly all repetitions fit, without a division.
 */
static inline uint64_t times_in(int64_t bytes, uint64_t bytes_per_time, uint64_t n_times)
{
    if (bytes < 0)
        return 0;
    return bytes_per_time * (n_times - 1) <= (uint64_t)bytes ? n_times : (uint64_t)bytes / bytes_per_time + 1;
}

/* Two neighbouring runs around the ring. */
struct neighbours {
    const struct sweep *behind, *ahead;
    uint64_t distance; /* from the first byte of the run behind to the first byte of the run ahead */
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

/* Returns for how many repetitions the run behind does not reach the line where the run ahead began. */
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
    uint64_t apart[SIM_PLAIN_SWEEPS], least = n_times, second = n_times, best = 0;
    size_t tightest = 0;

    order_sweeps(b, ring_mask);
    for (size_t i = 0; i < b->n; i++) {
        const struct neighbours p = neighbours_at(b, i, ring_mask);
        uint64_t behind = times_behind(&p, line_bytes, n_times);

        apart[i] = times_apart(&p, line_bytes, n_times);
        if (behind < least) {
            second = least;
            least = behind;
            tightest = i;
        } else if (behind < second) {
            second = behind;
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        uint64_t limit = i == tightest ? second : least, n = apart[i] < limit ? apart[i] : limit;

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

/* Walks repetitions as long as planning pays off. Returns their number. */
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
 * Tells whether the run touches a window of lines without gaps that slides forwards without gaps, and the window is not
 * too wide.
 */
static inline bool can_sweep(const struct sim_plain *h, const struct sim_run *r, uint64_t more, uint64_t n_times)
{
    const uint64_t line_bytes = h->bursts.line_bytes, longest = more < line_bytes ? line_bytes : more + 1;

    return is_aligned(r, n_times, h->bursts.line_bytes) && (r->count == 1 || (uint64_t)r->stride_bytes <= line_bytes) &&
           (uint64_t)r->step_bytes <= longest && more + 2 * line_bytes <= h->ring_bytes;
}

/* Counts the accesses of n_times repetitions of a run. */
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
        s->addr = r->addr & ADDRESS_MASK; /* windows may leave the address space, but never far enough to overflow */
        s->more = more;
        s->step_bytes = (uint64_t)r->step_bytes;
        b.n++;
    }
    n_times = b.n ? sweep_times(h, &b, n_times) : n_times;
    for (const struct sim_run *r = run; r < run + n_runs; r++)
        count_swept(h, r, is_ignored(h, r->kind) || !r->count ? NULL : own++, n_times);
    return n_times;
}
