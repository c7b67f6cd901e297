/*
 * How engines take bursts: a template. A file includes the template after a back-end that defines
 *
 *   ENGINE                                  the engine's struct, with a member struct sim_bursts bursts
 *   init_toucher(who, h, kind, tag, phase, place)   the toucher of lines: a run, and the run's place in the burst
 *   touch_times(h, who, line, n)            n >= 1 accesses within a line
 *   touch_line(h, who, line), touch_lines(h, who, first, n)   an access within a line; an access that covers n lines
 *                                           (all three: everything but the counts of accesses and first-level touches)
 *   count_touches(who, n)                   n first-level touches
 *   is_ignored(h, kind)                     whether accesses of the kind touch nothing
 *   changes(h)                              a number that grows whenever a touch did more than find its line and
 *                                           refresh the line: more than the same touches in the same order would do
 *                                           again
 *   has_settled(h, since, n_touches)        whether a repetition, before which changes(h) was `since`, left the caches
 *                                           as the same repetition would leave them again
 *   pass_over(h, who, n)                    n touches were multiplied
 *   MERGES_LINES                            1: consecutive accesses of a run to a line need a single touch, however
 *                                           many accesses there are: touch_times() ignores n
 *   HAS_QUIET, is_in_front(h, who, line)    1: a touch of a line in front would change nothing
 *   SETTLES_AHEAD, can_settle_ahead(h, n_touches)   not 0: where all n_touches lines of a repetition are in front,
 *                                           another equal repetition would change nothing
 *
 * Four short cuts make the template fast. Each short cut is exact:
 *
 * 1. Merging. Consecutive accesses of a run within a first-level line are a single lookup and a multiplied count: after
 * the first access the line is the most recently used of its set, and under LRU a further hit on the line changes
 * nothing. A line is called settled if the line is in front of its set, in the state in which the access would leave
 * the line. (The back-end decides if more than a single lookup is needed.)
 *
 * 2. Placements. The lines of a run's accesses are computed once and kept for as many repetitions as the run's step
 * leaves all accesses in their lines.
 *
 * 3. Settled repetitions. Let all lines of a repetition be in the first level: every touch hit, or (where only these
 * touches bring lines in) there are at most as many lines as ways, so that under LRU all lines are present now. If the
 * next repetitions touch the same lines in the same order, then all touches hit and leave the caches unchanged: hits
 * neither bring lines in nor push lines out; under LRU the same touches done twice leave the sets as done once; and a
 * dirty line's owner is the last store to the line, the same store each time. Counts are multiplied.
 *
 * 4. Quiet runs. Let all lines of the runs that stay in their lines be settled after a repetition. Then these runs
 * change nothing in the next repetition either, unless a moving run touches a set of theirs. A mask of 64 bits keeps
 * the sets of the staying runs (set number mod 64: two sets with a common bit only cost time).
 */
#include "sim/engine/bursts.h"
#include "sim/engine/bursts_walk_tmpl.h"

/* ---- quiet runs ---- */

struct quiet {
    uint64_t sets;  /* a bit per set number mod 64 of the runs that stay in their lines */
    uint64_t until; /* the first repetition in which a staying run moves; 0: no run is known to be quiet */
    size_t n_movers;
    struct cursor *mover[SIM_MAX_BURST_RUNS]; /* the moving runs, in order */
};

static inline uint64_t set_bit(const struct sim_bursts *c, uint64_t line)
{
    return (uint64_t)1 << ((c->has_mask ? line & c->set_mask : line % c->n_sets) & 63);
}

static inline bool has_lines(const struct cursor *w, enum shape all)
{
    return shape_in(w, all) == BY_LINE || shape_in(w, all) == ONE_ACCESS;
}

/*
 * Tells whether all lines of the run are in front of their sets, in the state in which the run leaves the lines. Adds
 * the sets.
 */
static inline bool is_settled(const ENGINE *h, struct cursor *w, uint64_t *sets)
{
    const struct sim_bursts *c = &h->bursts;
    const uint64_t mask = ADDRESS_MASK >> c->line_shift;

    for (uint32_t i = 0; i < w->n_touches; i++) {
        uint64_t line = (w->first + i) & mask;

        if (!is_in_front(h, &w->who, line))
            return false;
        *sets |= set_bit(c, line);
    }
    return true;
}

/* Before repetition t, after t - 1 was walked: finds out if, and until when, the runs that stay beyond t are quiet. */
static void find_quiet(const ENGINE *h, struct cursor *cursor, size_t n, uint64_t t, struct quiet *q)
{
    *q = (struct quiet){ .until = UINT64_MAX };
    for (struct cursor *w = cursor; w < cursor + n; w++) {
        if (w->until <= t + 1) {
            q->mover[q->n_movers++] = w;
            if (has_lines(w, ANY_SHAPE))
                continue;
        } else if (has_lines(w, ANY_SHAPE) && is_settled(h, w, &q->sets)) {
            q->until = w->until < q->until ? w->until : q->until;
            continue;
        }
        q->until = 0;
        return;
    }
}

static inline bool touches_sets(const struct sim_bursts *c, const struct cursor *w, uint64_t sets)
{
    const uint64_t mask = ADDRESS_MASK >> c->line_shift;

    for (uint32_t i = 0; i < w->n_touches; i++) {
        if (sets & set_bit(c, (w->first + i) & mask))
            return true;
    }
    return false;
}

/*
 * Walks the moving runs only, until a staying run moves or a moving run touches a set of a staying run. Returns the
 * next repetition to walk.
 */
static uint64_t walk_quietly(ENGINE *h, const struct quiet *q, uint64_t t, uint64_t n_times)
{
    for (; t < q->until && t < n_times; t++) {
        for (size_t i = 0; i < q->n_movers; i++) {
            struct cursor *w = q->mover[i];

            if (w->until <= t)
                place_run(h, w, t, ANY_SHAPE);
            if (touches_sets(&h->bursts, w, q->sets))
                return t;
        }
        for (size_t i = 0; i < q->n_movers; i++)
            walk_once(h, q->mover[i], t, ANY_SHAPE);
        h->bursts.paths.quiet_times++;
    }
    return t;
}

/* ---- the repetitions of a burst ---- */

/* Results of walking a repetition. */
struct walked {
    uint64_t until;     /* the first repetition in which an access changes its line */
    uint64_t n_touches; /* an upper bound of the touched lines */
};

static inline struct walked walk_all(ENGINE *h, struct cursor *cursor, size_t n, uint64_t t, enum shape all)
{
    struct walked found = { .until = UINT64_MAX };

    for (struct cursor *w = cursor; w < cursor + n; w++) {
        if (w->until <= t)
            place_run(h, w, t, all);
        walk_once(h, w, t, all);
        found.until = w->until < found.until ? w->until : found.until;
        found.n_touches += has_lines(w, all) ? w->n_touches : w->n_lines;
    }
    h->bursts.paths.walked_times++;
    return found;
}

/* Multiplies the repetitions from t to until - 1. */
static void settle_times(ENGINE *h, struct cursor *cursor, size_t n, uint64_t t, uint64_t until)
{
    for (struct cursor *w = cursor; w < cursor + n; w++)
        pass_over(h, &w->who, w->n_lines * (until - t));
    h->bursts.paths.settled_times += until - t;
}

/*
 * Tells whether the last repetition left all lines in front: then the next repetition, of equal lines, would change
 * nothing and need not be walked.
 */
static inline bool is_at_rest(const ENGINE *h, struct cursor *cursor, size_t n, uint64_t n_touches, enum shape all)
{
    uint64_t sets = 0;

    if (!SETTLES_AHEAD || !can_settle_ahead(h, n_touches))
        return false;
    for (struct cursor *w = cursor; w < cursor + n; w++) {
        if (!has_lines(w, all) || !is_settled(h, w, &sets))
            return false;
    }
    return true;
}

/* Walks repetitions of runs that all have the shape `all`. */
static inline __attribute__((always_inline)) void walk_times(ENGINE *h, struct cursor *cursor, size_t n,
                                                             uint64_t n_times, bool may_be_quiet, enum shape all)
{
    struct quiet q;

    for (uint64_t t = 0; t < n_times;) {
        uint64_t since = changes(h);
        struct walked found = walk_all(h, cursor, n, t++, all);
        uint64_t until = found.until < n_times ? found.until : n_times;

        if (until > t && (has_settled(h, since, found.n_touches) || is_at_rest(h, cursor, n, found.n_touches, all))) {
            settle_times(h, cursor, n, t, until);
            t = until;
        } else if (may_be_quiet && until <= t && t < n_times) {
            find_quiet(h, cursor, n, t, &q);
            if (q.until > t + 1)
                t = walk_quietly(h, &q, t, n_times);
        }
    }
}

/* ---- bursts with a run that moves by lines ---- */

/* Tells whether in no repetition all accesses stay in the lines of the repetition before. */
static inline bool is_moving(const struct cursor *w, uint64_t n_times)
{
    return n_times == 1 || (w->step_bytes && !w->step_reciprocal);
}

/* Touches the lines of a BY_LINE run. Finding the lines is as fast as keeping them. */
static inline void move_by_line(ENGINE *h, struct cursor *w, uint64_t first, uint64_t n_more, uint32_t offset)
{
    const uint64_t mask = ADDRESS_MASK >> h->bursts.line_shift;
    uint32_t left = w->count, n = MERGES_LINES ? 1 : group_size(w, h->bursts.line_bytes, offset, left);

    touch_times(h, &w->who, first & mask, n);
    for (uint64_t i = 1; i <= n_more; i++) {
        left -= n;
        n = w->n_per_line < left ? w->n_per_line : left;
        touch_times(h, &w->who, (first + i) & mask, n);
    }
}

/* Walks runs that move in every repetition: nothing can be multiplied, and little can be kept between repetitions. */
static void walk_moving(ENGINE *h, struct cursor *cursor, size_t n, uint64_t n_times)
{
    const unsigned shift = h->bursts.line_shift;
    const uint64_t mask = ADDRESS_MASK >> shift;

    for (struct cursor *w = cursor; w < cursor + n; w++)
        w->addr = w->base;
    for (uint64_t t = 0; t < n_times; t++) {
        for (struct cursor *w = cursor; w < cursor + n; w++) {
            const uint32_t offset = (uint32_t)w->addr & ((1u << shift) - 1);
            uint64_t first = w->addr >> shift, n_more = (offset + w->last_byte) >> shift;

            w->addr += (uint64_t)w->step_bytes;
            if (w->shape == BY_LINE) {
                move_by_line(h, w, first, n_more, offset);
            } else if (n_more) {
                w->n_lines_done += n_more;
                touch_lines(h, &w->who, first, n_more + 1);
            } else {
                touch_line(h, &w->who, first & mask);
            }
        }
    }
    for (struct cursor *w = cursor; w < cursor + n; w++)
        w->n_lines = w->count;
    h->bursts.paths.moving_times += n_times;
}

/* ---- whole bursts ---- */

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Returns the reciprocal of a distance; 0 if the distance is 0 or at least a line. */
static inline uint64_t reciprocal_of(const ENGINE *h, int64_t distance)
{
    uint64_t d = magnitude(distance);

    if (d >= h->bursts.line_bytes)
        return 0;
    return d < SIM_N_RECIPROCALS ? h->bursts.reciprocal[d] : sim_reciprocal(d);
}

/* Tells whether no access of the run ever straddles: all addresses are multiples of a width that divides lines. */
static bool is_aligned(const struct sim_run *r, uint64_t n_times, uint32_t line_bytes)
{
    uint64_t places =
        r->addr | (r->count > 1 ? magnitude(r->stride_bytes) : 0) | (n_times > 1 ? magnitude(r->step_bytes) : 0);

    return r->access_bytes <= line_bytes && !(r->access_bytes & (r->access_bytes - 1)) &&
           !(places & (r->access_bytes - 1));
}

static enum shape shape_of(const struct sim_run *r, uint64_t n_times, uint32_t line_bytes)
{
    if (r->count == 1)
        return ONE_ACCESS;
    if (!is_aligned(r, n_times, line_bytes))
        return BY_ACCESS;
    if (r->stride_bytes >= 0 && r->stride_bytes <= (int64_t)line_bytes &&
        (MERGES_LINES || !(r->stride_bytes & (r->stride_bytes - 1))))
        return BY_LINE;
    return magnitude(r->stride_bytes) > line_bytes ? BY_STRIDE : BY_ACCESS;
}

static void count_path(ENGINE *h, enum shape shape)
{
    if (shape == BY_STRIDE)
        h->bursts.paths.runs_by_stride++;
    else if (shape == BY_ACCESS)
        h->bursts.paths.runs_by_access++;
    else
        h->bursts.paths.runs_by_line++;
}

static void init_cursor(ENGINE *h, struct cursor *w, const struct sim_run *r, uint64_t n_times, unsigned place)
{
    const uint32_t line_bytes = h->bursts.line_bytes;

    init_toucher(&w->who, h, r->kind, r->tag, r->phase, place);
    w->shape = shape_of(r, n_times, line_bytes);
    w->base = r->addr;
    w->stride_bytes = r->count > 1 ? r->stride_bytes : 0;
    w->step_bytes = r->step_bytes;
    w->stride_reciprocal = reciprocal_of(h, r->stride_bytes);
    w->step_reciprocal = reciprocal_of(h, r->step_bytes);
    w->count = r->count;
    w->access_bytes = r->access_bytes;
    w->last_byte = (uint64_t)(w->count - 1) * (uint64_t)w->stride_bytes + w->access_bytes - 1;
    w->n_per_line =
        w->shape == BY_LINE && r->stride_bytes ? line_bytes >> sim_log2((uint64_t)r->stride_bytes) : w->count;
    w->until = w->since = 0;
    w->n_lines = w->n_lines_done = 0;
    count_path(h, w->shape);
}

static void take_access(ENGINE *h, const struct sim_run *r)
{
    const unsigned shift = h->bursts.line_shift;
    uint64_t first = r->addr >> shift;
    uint64_t n_lines = (((r->addr & ((1u << shift) - 1)) + r->access_bytes - 1) >> shift) + 1;
    struct toucher who;

    sim_count_accesses(sim_hierarchy_cell(&h->base, r->tag, r->phase), r->kind, 1, r->access_bytes);
    if (is_ignored(h, r->kind))
        return;
    init_toucher(&who, h, r->kind, r->tag, r->phase, 0);
    count_touches(&who, n_lines);
    if (n_lines == 1)
        touch_line(h, &who, first & ADDRESS_MASK >> shift);
    else
        touch_lines(h, &who, first, n_lines);
}

/* Makes all accesses of a burst. */
static void take_burst(ENGINE *h, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct cursor cursor[SIM_MAX_BURST_RUNS];
    size_t n = 0, n_short_steps = 0, n_in_lines = 0, n_lone = 0;
    bool moves = false;

    for (const struct sim_run *r = run; r < run + n_runs; r++) {
        sim_count_accesses(sim_hierarchy_cell(&h->base, r->tag, r->phase), r->kind, r->count * n_times,
                           r->count * n_times * r->access_bytes);
        if (!r->count || is_ignored(h, r->kind))
            continue;
        init_cursor(h, &cursor[n], r, n_times, (unsigned)(r - run));
        n_in_lines += has_lines(&cursor[n], ANY_SHAPE);
        n_lone += cursor[n].shape == ONE_ACCESS;
        moves |= is_moving(&cursor[n++], n_times);
        n_short_steps += magnitude(r->step_bytes) * 4 <= h->bursts.line_bytes;
    }
    if (!n)
        return;
    if (moves && n_in_lines == n)
        walk_moving(h, cursor, n, n_times);
    else if (n_lone == n && !HAS_QUIET)
        walk_times(h, cursor, n, n_times, false, ONE_ACCESS);
    else
        walk_times(h, cursor, n, n_times, HAS_QUIET && n_times > 4 && n_short_steps > 1 && n_short_steps < n,
                   ANY_SHAPE);
    for (const struct cursor *w = cursor; w < cursor + n; w++)
        count_touches(&w->who, w->n_lines_done + (n_times - w->since) * w->n_lines);
}
