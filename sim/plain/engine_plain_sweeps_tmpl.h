/*
 * Sweeps: most of the repetitions of most bursts at a few cycles a line. A template, included after sim/bursts_tmpl.h;
 * the back-end brings besides
 *
 *   touch_range(h, who, first, n)   touches n lines in a row, once each
 *
 * A run without gaps that moves on without gaps touches a window of lines, which slides over them. Lines are seen here
 * modulo the ring: the lines that have a set of the first level to themselves and whose like no other line of the ring
 * meets at any level. So touches of different places of the ring commute, and what counts is in which order each
 * place is touched. A run touches a place from the repetition in which its window enters it to the one in which the
 * window leaves it. While it is there, the line stays in the first level, as long as the lines that are being touched at
 * a place are no more than its ways; more than one for each run they cannot be.
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

/* Returns how many repetitions fit into so many bytes, the first of which needs none; 0 if there are less than none. */
static inline uint64_t times_in(int64_t bytes, uint64_t bytes_per_time)
{
    return bytes < 0 ? 0 : bytes_per_time ? (uint64_t)bytes / bytes_per_time + 1 : UINT64_MAX;
}

/* Returns for how many repetitions run x stays behind run y, which is so many bytes ahead. */
static inline uint64_t times_behind(const struct sweeps *b, size_t x, size_t y, uint64_t distance, uint64_t line_bytes)
{
    const struct sweep *behind = &b->sweep[x], *ahead = &b->sweep[y];
    int64_t ends = (int64_t)(ahead->more - behind->more);
    int64_t room = (int64_t)distance + (ends < 0 ? ends : 0);

    if (y > x)
        room = (int64_t)(distance - behind->more - line_bytes);
    return times_in(room, behind->step_bytes > ahead->step_bytes ? behind->step_bytes - ahead->step_bytes : 0);
}

/* Returns how many repetitions it takes run x to reach the line where run y, so many bytes ahead, begins. */
static inline uint64_t times_apart(const struct sweeps *b, size_t x, size_t y, uint64_t distance, uint64_t line_bytes)
{
    uint64_t into_line = b->sweep[y].addr & (line_bytes - 1);

    return times_in((int64_t)(distance - into_line - b->sweep[x].more - 1), b->sweep[x].step_bytes);
}

/* Finds where around the ring to begin. Returns how many repetitions can be walked run by run then. */
static uint64_t plan_sweeps(struct sweeps *b, uint64_t ring_mask, uint64_t line_bytes)
{
    uint64_t apart[SIM_PLAIN_SWEEPS], behind[SIM_PLAIN_SWEEPS], least = UINT64_MAX, second = UINT64_MAX, best = 0;
    size_t tightest = 0;

    if (b->n == 1)
        return UINT64_MAX;
    order_sweeps(b, ring_mask);
    for (size_t i = 0; i < b->n; i++) {
        size_t x = b->order[i], y = b->order[i + 1 < b->n ? i + 1 : 0];
        uint64_t distance = (b->sweep[y].addr & ring_mask) - (b->sweep[x].addr & ring_mask);

        distance += i + 1 < b->n ? 0 : ring_mask + 1;
        apart[i] = times_apart(b, x, y, distance, line_bytes);
        behind[i] = times_behind(b, x, y, distance, line_bytes);
        if (behind[i] < least) {
            second = least;
            least = behind[i];
            tightest = i;
        } else if (behind[i] < second) {
            second = behind[i];
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        uint64_t others = i == tightest ? second : least, n_times = apart[i] < others ? apart[i] : others;

        if (n_times > best) {
            best = n_times;
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
        n = plan_sweeps(b, h->ring_bytes - 1, h->bursts.line_bytes);
        n = n > n_times - t ? n_times - t : n ? n : 1;
        sweep_together(h, b, n);
        h->bursts.paths.swept_times += n;
    }
    return t;
}

/* Whether the run touches a window of lines without gaps that slides forwards without gaps, and is not too wide. */
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

    sim_count_accesses(&h->stats.cell[r->tag][r->phase], r->kind, n, n * r->access_bytes);
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
        s->addr = r->addr;
        s->more = more;
        s->step_bytes = (uint64_t)r->step_bytes;
        b.n++;
    }
    n_times = b.n ? sweep_times(h, &b, n_times) : n_times;
    for (const struct sim_run *r = run; r < run + n_runs; r++)
        count_swept(h, r, is_ignored(h, r->kind) || !r->count ? NULL : own++, n_times);
    return n_times;
}
