/*
 * A run in progress through the repetitions of its burst: places the run's accesses in lines and touches the lines.
 * Part of bursts_tmpl.h.
 */
#include "sim/engine/bursts.h"

/* Says how a run's accesses are walked. */
enum shape {
    BY_LINE,    /* all lines from the first to the last access, in order, each touched by at least one access */
    BY_STRIDE,  /* a line per access */
    BY_ACCESS,  /* the general case */
    ONE_ACCESS, /* a single access, perhaps of several lines */
    ANY_SHAPE,  /* of a burst: its runs have different shapes */
};

/* A run in progress through the repetitions of its burst. */
struct cursor {
    struct toucher who;
    enum shape shape;
    uint64_t base; /* address of the first access of the first repetition */
    int64_t stride_bytes;
    int64_t step_bytes;
    uint64_t stride_reciprocal; /* of |stride|; 0 if |stride| >= line, so that any quotient is 0 */
    uint64_t step_reciprocal;   /* of |step|; 0 likewise */
    uint32_t count;
    uint32_t access_bytes;
    uint64_t last_byte; /* offset from the first address of the last access's last byte */
    /* the current placement: */
    uint64_t addr;         /* of the first access */
    uint64_t until;        /* the first repetition in which an access changes its line */
    uint64_t first;        /* BY_LINE, ONE_ACCESS: the first line */
    uint32_t n_touches;    /* BY_LINE, ONE_ACCESS: the number of lines */
    uint32_t n_first;      /* BY_LINE: accesses in the first line */
    uint32_t n_per_line;   /* BY_LINE: in every line but the first and the last; of all placements */
    uint32_t slack_bytes;  /* BY_ACCESS: the least distance by which an access can move without leaving its line */
    uint64_t n_lines;      /* line touches per repetition */
    uint64_t since;        /* the first repetition of this placement */
    uint64_t n_lines_done; /* line touches in the placements before */
};

/* Returns the shape of a run in a burst whose runs all have the shape `all`: a constant, if `all` is a constant. */
static inline enum shape shape_in(const struct cursor *w, enum shape all)
{
    return all == ANY_SHAPE ? w->shape : all;
}

/*
 * Returns how many accesses, beginning with the access at this offset of its line, lie within the line; at most `left`.
 */
static inline uint32_t group_size(const struct cursor *w, uint32_t line_bytes, uint32_t offset, uint32_t left)
{
    uint32_t room = w->stride_bytes < 0 ? offset : line_bytes - w->access_bytes - offset;
    uint32_t n = (uint32_t)(room * w->stride_reciprocal >> SIM_RECIPROCAL_SHIFT) + 1;

    return w->stride_bytes && n < left ? n : left;
}

/* Returns the slack of accesses whose bytes begin or end at offsets a and b of their lines. */
static inline uint32_t slack_of(const struct cursor *w, uint32_t line_bytes, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;

    return w->step_bytes < 0 ? low : line_bytes - 1 - high;
}

static inline void note_slack(struct cursor *w, uint32_t slack)
{
    w->slack_bytes = slack < w->slack_bytes ? slack : w->slack_bytes;
}

static inline void touch_group(ENGINE *h, struct cursor *w, uint64_t addr, uint32_t offset, uint32_t n)
{
    const uint32_t line_bytes = h->bursts.line_bytes;
    uint32_t last = (uint32_t)((int64_t)offset + (int64_t)(n - 1) * w->stride_bytes);

    touch_times(h, &w->who, (addr & ADDRESS_MASK) >> h->bursts.line_shift, n);
    w->n_lines += n;
    note_slack(w, slack_of(w, line_bytes, last < offset ? last : offset,
                           (last > offset ? last : offset) + w->access_bytes - 1));
}

/* Makes one access that covers several lines. Its slack lasts until the first or the last byte changes its line. */
static void touch_straddling(ENGINE *h, struct cursor *w, uint64_t addr, uint32_t offset)
{
    const struct sim_bursts *c = &h->bursts;
    uint64_t n = ((uint64_t)offset + w->access_bytes - 1) / c->line_bytes + 1;

    touch_lines(h, &w->who, addr >> c->line_shift, n);
    w->n_lines += n;
    note_slack(w, slack_of(w, c->line_bytes, offset,
                           (uint32_t)((offset + (uint64_t)w->access_bytes - 1) & (c->line_bytes - 1))));
}

/* Returns for how many repetitions after the current repetition a slack lasts. */
static inline uint64_t times_within(const struct cursor *w, uint32_t slack_bytes)
{
    return w->step_bytes ? slack_bytes * w->step_reciprocal >> SIM_RECIPROCAL_SHIFT : UINT32_MAX;
}

/* Walks a repetition of a run of any shape. If the placement is new, finds how long the run stays in its lines. */
static void walk_by_access(ENGINE *h, struct cursor *w, uint64_t t)
{
    const uint32_t line_bytes = h->bursts.line_bytes;
    uint64_t addr = w->addr;

    w->slack_bytes = UINT32_MAX;
    w->n_lines = 0;
    for (uint32_t left = w->count, n; left; left -= n) {
        uint32_t offset = (uint32_t)addr & (line_bytes - 1);

        if ((uint64_t)offset + w->access_bytes > line_bytes) {
            n = 1;
            touch_straddling(h, w, addr, offset);
        } else {
            n = group_size(w, line_bytes, offset, left);
            touch_group(h, w, addr, offset, n);
        }
        addr += n * (uint64_t)w->stride_bytes;
    }
    if (w->since == t)
        w->until = t + 1 + times_within(w, w->slack_bytes);
}

static void walk_by_stride(ENGINE *h, struct cursor *w)
{
    uint64_t addr = w->addr;

    for (uint32_t i = 0; i < w->count; i++, addr += (uint64_t)w->stride_bytes)
        touch_line(h, &w->who, (addr & ADDRESS_MASK) >> h->bursts.line_shift);
}

static inline void walk_by_line(ENGINE *h, struct cursor *w)
{
    const uint64_t mask = ADDRESS_MASK >> h->bursts.line_shift;

    for (uint32_t i = 0, left = w->count, n = w->n_first; i < w->n_touches; i++, left -= n, n = w->n_per_line)
        touch_times(h, &w->who, (w->first + i) & mask, n < left ? n : left);
}

static inline void walk_one_access(ENGINE *h, struct cursor *w)
{
    if (w->n_touches == 1)
        touch_line(h, &w->who, w->first & ADDRESS_MASK >> h->bursts.line_shift);
    else
        touch_lines(h, &w->who, w->first, w->n_touches);
}

/*
 * Counts the accesses of a BY_LINE run in the run's first line. Every further line has as many accesses as fit, at
 * equal offsets, because the stride divides lines. Returns the slack: no access may change its line.
 */
static inline uint32_t count_by_line(struct cursor *w, uint32_t line_bytes, uint32_t offset, uint32_t slack)
{
    uint32_t stride = (uint32_t)w->stride_bytes, lowest, own;

    w->n_first = group_size(w, line_bytes, offset, w->count);
    if (w->n_touches == 1)
        return slack;
    lowest = offset & (stride - 1); /* the lowest offset; the highest offset is a line less a stride above */
    own = w->step_bytes < 0 ? lowest : stride - w->access_bytes - lowest;
    return own < slack ? own : slack;
}

static inline void place_lines(struct cursor *w, const struct sim_bursts *c, uint64_t t, enum shape all)
{
    uint32_t offset = (uint32_t)w->addr & (c->line_bytes - 1);
    uint32_t end = (uint32_t)(offset + w->last_byte) & (c->line_bytes - 1);
    uint32_t slack;

    w->first = w->addr >> c->line_shift;
    w->n_touches = (uint32_t)((offset + w->last_byte) >> c->line_shift) + 1;
    if (shape_in(w, all) == ONE_ACCESS) {
        w->n_lines = w->n_touches;
        slack = slack_of(w, c->line_bytes, offset, end);
    } else if (w->step_bytes < 0) { /* nothing straddles; the first or the last access leaves its line first */
        w->n_lines = w->count;
        slack = slack_of(w, c->line_bytes, offset, end - (w->access_bytes - 1));
    } else {
        w->n_lines = w->count;
        slack = slack_of(w, c->line_bytes, end, offset + w->access_bytes - 1);
    }
    if (!MERGES_LINES && shape_in(w, all) == BY_LINE)
        slack = count_by_line(w, c->line_bytes, offset, slack);
    w->until = t + 1 + times_within(w, slack);
}

static void place_by_stride(struct cursor *w, const struct sim_bursts *c, uint64_t t)
{
    uint64_t addr = w->addr;
    uint32_t slack = c->line_bytes - 1;

    for (uint32_t i = 0; i < w->count && w->step_reciprocal; i++, addr += (uint64_t)w->stride_bytes) {
        uint32_t offset = (uint32_t)addr & (c->line_bytes - 1);
        uint32_t own = slack_of(w, c->line_bytes, offset, offset + w->access_bytes - 1);

        slack = own < slack ? own : slack;
    }
    w->n_lines = w->count;
    w->until = t + 1 + times_within(w, slack);
}

/* Finds the lines of repetition t, in which an access changes its line. */
static inline void place_run(ENGINE *h, struct cursor *w, uint64_t t, enum shape all)
{
    w->n_lines_done += (t - w->since) * w->n_lines;
    w->since = t;
    w->addr = w->base + t * (uint64_t)w->step_bytes;
    if (shape_in(w, all) == BY_LINE || shape_in(w, all) == ONE_ACCESS)
        place_lines(w, &h->bursts, t, all);
    else if (shape_in(w, all) == BY_STRIDE)
        place_by_stride(w, &h->bursts, t);
}

static inline void walk_once(ENGINE *h, struct cursor *w, uint64_t t, enum shape all)
{
    if (shape_in(w, all) == BY_LINE)
        walk_by_line(h, w);
    else if (shape_in(w, all) == ONE_ACCESS)
        walk_one_access(h, w);
    else if (shape_in(w, all) == BY_STRIDE)
        walk_by_stride(h, w);
    else
        walk_by_access(h, w, t);
}
