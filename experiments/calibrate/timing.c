#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

enum {
    PLACES_A_ROUND = 5,                  /* lines put at each place */
    BASE_BYTES = EXP_GROUND_BYTES / 4,   /* the begin of patterns, with room before for descending patterns */
    MARGIN_BYTES = 2 * EXP_PATTERN_PAGE, /* the reach of prefetchers beyond a pattern */
};

struct timing_run {
    const struct exp_timing *how;
    struct exp_timed *t;
    size_t n_done;               /* rounds */
    float *sample;               /* [t->n][how->most] */
    double *place[EXP_N_PLACES]; /* [how->most * PLACES_A_ROUND] */
    uint64_t start_ns;
};

/* ---- a round ---- */

static bool is_interrupted(const struct timing_run *r)
{
    return r->how->interrupted && r->how->interrupted();
}

static uint32_t seed_of(const struct timing_run *r, size_t i)
{
    return (uint32_t)(r->n_done * 7919 + i * 31);
}

static double look(const struct timing_run *r, const struct exp_look *l)
{
    return r->how->computer->look(r->how->computer->context, l);
}

/* Moves a walk's offsets to the walk's begin in the ground; finds the span of the walk and its probed lines. */
static void lay(struct exp_look *l, uint64_t *offset, const struct exp_timed_row *row, size_t n_rows)
{
    const uint64_t base = BASE_BYTES + row->start_line * EXP_PATTERN_LINE, from = offset[0];
    uint64_t low = EXP_GROUND_BYTES, high = 0;

    for (size_t i = 0; i < l->n; i++) {
        offset[i] += base;
        low = offset[i] < low ? offset[i] : low;
        high = offset[i] > high ? offset[i] : high;
    }
    for (size_t i = 0; i < n_rows; i++) {
        uint64_t at = exp_timed_probed(&row[i], base + from);

        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    l->offset = offset;
    l->flush_first = low > MARGIN_BYTES ? low - MARGIN_BYTES : 0;
    l->flush_end = high + MARGIN_BYTES < EXP_GROUND_BYTES ? high + MARGIN_BYTES : EXP_GROUND_BYTES;
}

/* Looks for all lines of a walk, rows [first, first + n), a walk for each. */
static int look_after_walk(struct timing_run *r, size_t first, size_t n)
{
    const struct exp_timed_row *row = &r->t->row[first];
    struct exp_look l = { .gap_ticks = row->gap_ticks };
    uint64_t *offset = exp_pattern_offsets(&row->pattern, row->accesses, &l.n), from;

    lay(&l, offset, row, n);
    from = l.n ? offset[0] : 0;
    for (size_t i = 0; i < n && !is_interrupted(r); i++) {
        l.probed = exp_timed_probed(&row[i], from);
        l.seed = seed_of(r, first + i);
        r->sample[(first + i) * r->how->most + r->n_done] = (float)look(r, &l);
    }
    free(offset);
    return is_interrupted(r) ? -EINTR : 0;
}

/* Times lines in known levels. */
static void look_at_places(struct timing_run *r)
{
    const size_t sweep_bytes[EXP_N_PLACES] = {
        [EXP_PLACE_L2] = 2 * r->how->l1_bytes, [EXP_PLACE_BEYOND] = 2 * r->how->l2_bytes
    };

    for (size_t i = 0; i < PLACES_A_ROUND; i++) {
        /* a line in a page of its own, without a pattern */
        const uint64_t offset = BASE_BYTES + i * 5 * EXP_PATTERN_PAGE + (i * 13 + 7) % 64 * EXP_PATTERN_LINE;

        for (size_t place = 0; place < EXP_N_PLACES; place++) {
            const struct exp_look l = { .offset = &offset,
                                        .n = place != EXP_PLACE_MEMORY,
                                        .flush_first = offset - MARGIN_BYTES,
                                        .flush_end = offset + MARGIN_BYTES,
                                        .probed = offset,
                                        .sweep_bytes = sweep_bytes[place],
                                        .seed = seed_of(r, i) };

            r->place[place][r->n_done * PLACES_A_ROUND + i] = look(r, &l);
        }
    }
}

static void report(const struct timing_run *r, size_t row)
{
    if (r->how->progress)
        r->how->progress(r->how->ctx, ((double)r->n_done + (double)row / (double)r->t->n) / (double)r->how->most);
}

static int run_round(struct timing_run *r)
{
    int err = 0;

    look_at_places(r);
    for (size_t first = 0, end; first < r->t->n && !err; first = end) {
        for (end = first; end < r->t->n && exp_timed_is_same_walk(&r->t->row[end], &r->t->row[first]);)
            end++;
        err = look_after_walk(r, first, end - first);
        report(r, end);
    }
    return err;
}

static bool is_enough(const struct timing_run *r)
{
    const uint64_t spent = r->how->now_ns() - r->start_ns;

    /* no round beyond the time limit */
    return r->n_done >= r->how->least && spent + spent / r->n_done > r->how->limit_ns;
}

/* ---- results ---- */

/* A line behind L2 is near, too; if times do not tell such lines from memory (L3 may be slow), only L2 is near. */
static int find_threshold(struct timing_run *r, struct exp_timing_result *result, struct exp_why *why)
{
    const size_t n = r->n_done * PLACES_A_ROUND;
    int err = exp_threshold_find(r->place[EXP_PLACE_BEYOND], r->place[EXP_PLACE_MEMORY], n, &result->threshold);

    if (err)
        err = exp_threshold_find(r->place[EXP_PLACE_L2], r->place[EXP_PLACE_MEMORY], n, &result->threshold);
    for (size_t place = 0; place < EXP_N_PLACES; place++) {
        exp_stats_sort_up(r->place[place], n);
        result->place_ticks[place] = gsl_stats_median_from_sorted_data(r->place[place], 1, n);
    }
    if (err)
        return exp_fail(why, err,
                        "times do not tell near from far: a line in L2 takes %.0f ticks, one in memory %.0f; the clock "
                        "is too coarse, or the computer too busy: try again on an idle one",
                        result->place_ticks[EXP_PLACE_L2], result->place_ticks[EXP_PLACE_MEMORY]);
    return 0;
}

static void judge_row(struct timing_run *r, size_t i, double *sorted, struct exp_timing_result *result)
{
    struct exp_timed_row *row = &r->t->row[i];
    size_t n_near = 0;

    for (size_t k = 0; k < r->n_done; k++) {
        sorted[k] = r->sample[i * r->how->most + k];
        n_near += sorted[k] < result->threshold;
    }
    exp_stats_sort_up(sorted, r->n_done);
    row->ticks = gsl_stats_median_from_sorted_data(sorted, 1, r->n_done);
    row->near_share = (double)n_near / (double)r->n_done;
    row->was_near = row->near_share >= 0.5;
    result->n_undecided += row->near_share > 0.25 && row->near_share < 0.75;
}

static int judge(struct timing_run *r, struct exp_timing_result *result, struct exp_why *why)
{
    double *sorted = exp_new(r->n_done, sizeof *sorted);
    int err = find_threshold(r, result, why);

    for (size_t i = 0; !err && i < r->t->n; i++)
        judge_row(r, i, sorted, result);
    result->n_rounds = r->n_done;
    free(sorted);
    return err;
}

int exp_timing_run(const struct exp_timing *how, struct exp_timed *t, struct exp_timing_result *result,
                   struct exp_why *why)
{
    struct timing_run r = {
        .how = how, .t = t, .start_ns = how->now_ns(), .sample = exp_new(t->n * how->most + 1, sizeof *r.sample)
    };
    int err = 0;

    assert(how->most && how->now_ns);
    for (size_t place = 0; place < EXP_N_PLACES; place++)
        r.place[place] = exp_new(how->most * PLACES_A_ROUND, sizeof *r.place[place]);
    *result = (struct exp_timing_result){ 0 };
    while (!err && r.n_done < how->most && !(r.n_done && is_enough(&r))) {
        err = run_round(&r);
        r.n_done += !err;
    }
    if (!err)
        err = judge(&r, result, why);
    free(r.sample);
    for (size_t place = 0; place < EXP_N_PLACES; place++)
        free(r.place[place]);
    return err == -EINTR ? exp_fail(why, err, "interrupted") : err;
}

/* ---- near or far ---- */

int exp_threshold_find(double *near, double *far, size_t n, double *threshold)
{
    double low, high;

    assert(n && near && far && threshold);
    exp_stats_sort_up(near, n);
    exp_stats_sort_up(far, n);
    low = near[3 * n / 4];
    high = far[n / 4];
    *threshold = (low + high) / 2;
    return high - low >= 1 && high - low >= low / 4 ? 0 : -ENODATA;
}

/* ---- probed lines ---- */

/*
 * A pattern with each step, start and length. A 0 ends a list, except as its first element. The lines from `from` to
 * `to` are probed, of strides `ahead` steps more.
 */
struct plan {
    const char *name; /* of printf: the step in its own unit, or streams and their length */
    long steps[EXP_MOST_LISTED];
    long step_bytes; /* of a step of 1 */
    long starts[EXP_MOST_LISTED];
    long lengths[EXP_MOST_LISTED];
    long from, to, ahead;
    bool is_from_end; /* from and to count from the pattern's last line, not from its first */
    bool is_streams;  /* as many streams as steps says, each of a length */
};

enum { LINE = EXP_PATTERN_LINE };

static const struct plan plans[] = {
    { .name = "up",
      .steps = { 1 },
      .step_bytes = LINE,
      .starts = { 0, 17 },
      .lengths = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32 },
      .from = -4,
      .to = 60 },
    { .name = "down",
      .steps = { -1 },
      .step_bytes = LINE,
      .starts = { 48 },
      .lengths = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32 },
      .from = -48,
      .to = 16 },
    { .name = "stride_%ld_lines",
      .steps = { 2, 3, 4, 5, 7, 8, 12, 16, 24, 32 },
      .step_bytes = LINE,
      .starts = { 0 },
      .lengths = { 8 },
      .from = -3,
      .to = 2,
      .ahead = 3,
      .is_from_end = true },
    { .name = "page_end",
      .steps = { 1 },
      .step_bytes = LINE,
      .starts = { 58, 59, 60, 61, 62, 63 },
      .lengths = { 4 },
      .from = -4,
      .to = 20 },
    { .name = "single",
      .steps = { 1 },
      .step_bytes = LINE,
      .starts = { 32, 33 },
      .lengths = { 1 },
      .from = -4,
      .to = 8 },
    { .name = "streams_%ld_of_%ld",
      .steps = { 2, 4, 8 },
      .step_bytes = LINE,
      .starts = { 0 },
      .lengths = { 8, 16, 32 },
      .from = -1,
      .to = 25,
      .is_from_end = true,
      .is_streams = true },
    { .name = "planes_%ld",
      .steps = { 12544 },
      .step_bytes = 1,
      .starts = { 0 },
      .lengths = { 4, 8, 16, 32, 64 },
      .from = 194, /* a step more, 196 lines */
      .to = 198,
      .is_from_end = true },
};

/* Cycles between accesses, for prefetchers that need time. */
static const long gaps[] = { 0, 200 };

/* A pattern with its probed lines. */
struct one {
    const struct plan *plan;
    long step, start, length, gap;
};

static void bounds(const struct one *o, long *from, long *to)
{
    const long step_bytes = o->plan->is_streams ? LINE : o->step * o->plan->step_bytes;
    const long end = o->plan->is_from_end ? (o->length - 1) * step_bytes / LINE : 0;

    *from = end + o->plan->from;
    *to = end + o->plan->to + o->plan->ahead * step_bytes / LINE;
}

static void mark_accessed(struct exp_timed_row *row, size_t n)
{
    size_t n_offsets;
    uint64_t *offset = exp_pattern_offsets(&row->pattern, row->accesses, &n_offsets);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n_offsets; k++)
            row[i].was_accessed |= offset[k] / LINE == exp_timed_probed(&row[i], offset[0]) / LINE;
    }
    free(offset);
}

static void add_one(struct exp_timed *t, const struct one *o)
{
    const long accesses = o->plan->is_streams ? o->step * o->length : o->length;
    const size_t first = t->n;
    long from, to;

    bounds(o, &from, &to);
    for (long line = from; line <= to; line++) {
        struct exp_timed_row *row = exp_append(&t->row, &t->n, sizeof *row);
        bool is_known;

        row->start_line = (uint64_t)o->start;
        row->accesses = (uint64_t)accesses;
        row->gap_ticks = (uint64_t)o->gap;
        row->probed_line = (double)line;
        snprintf(row->name, sizeof row->name, o->plan->name, o->step, o->length);
        is_known = !exp_timed_find_pattern(row);
        assert(is_known); /* names that pattern.c has */
    }
    mark_accessed(&t->row[first], t->n - first);
}

static void add_plan(struct exp_timed *t, const struct plan *p, long gap)
{
    for (size_t k = 0; exp_list_goes_on(p->steps, k); k++) {
        for (size_t s = 0; exp_list_goes_on(p->starts, s); s++) {
            for (size_t l = 0; exp_list_goes_on(p->lengths, l); l++)
                add_one(t, &(struct one){ p, p->steps[k], p->starts[s], p->lengths[l], gap });
        }
    }
}

void exp_probes_list(struct exp_timed *t)
{
    *t = (struct exp_timed){ 0 };
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
            add_plan(t, &plans[i], gaps[g]);
    }
}
