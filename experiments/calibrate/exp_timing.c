#include "experiments/calibrate/exp_timing.h"

#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/calibrate/exp_threshold.h"

enum {
    PLACES_A_ROUND = 5,                  /* lines put at each place */
    BASE_BYTES = EXP_GROUND_BYTES / 4,   /* where patterns begin: room before it for those that go down */
    MARGIN_BYTES = 2 * EXP_PATTERN_PAGE, /* what prefetchers may fetch beyond a pattern */
};

struct run {
    const struct exp_timing *how;
    struct exp_timed *t;
    size_t n_done;               /* rounds */
    float *sample;               /* [t->n][how->most] */
    double *place[EXP_N_PLACES]; /* [how->most * PLACES_A_ROUND] */
    uint64_t start_ns;
};

/* ---- one round ---- */

static bool is_interrupted(const struct run *r)
{
    return r->how->interrupted && r->how->interrupted();
}

static uint32_t seed_of(const struct run *r, size_t i)
{
    return (uint32_t)(r->n_done * 7919 + i * 31);
}

static double look(const struct run *r, const struct exp_look *l)
{
    return r->how->computer->look(r->how->computer->context, l);
}

/* Moves a walk's offsets to where it begins in the ground; finds what it and the lines looked for span. */
static void lay(struct exp_look *l, uint64_t *offset, const struct exp_timed_row *row, size_t n_rows)
{
    const uint64_t base = BASE_BYTES + (uint64_t)row->start_line * EXP_PATTERN_LINE, from = offset[0];
    uint64_t low = EXP_GROUND_BYTES, high = 0;

    for (size_t i = 0; i < l->n; i++) {
        offset[i] += base;
        low = offset[i] < low ? offset[i] : low;
        high = offset[i] > high ? offset[i] : high;
    }
    for (size_t i = 0; i < n_rows; i++) {
        uint64_t at = base + from + (uint64_t)(row[i].probed_line * EXP_PATTERN_LINE);

        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    l->offset = offset;
    l->flush_first = low > MARGIN_BYTES ? low - MARGIN_BYTES : 0;
    l->flush_end = high + MARGIN_BYTES < EXP_GROUND_BYTES ? high + MARGIN_BYTES : EXP_GROUND_BYTES;
}

/* Looks for all lines of a walk, rows [first, first + n), a walk for each. */
static int look_after_walk(struct run *r, size_t first, size_t n)
{
    const struct exp_timed_row *row = &r->t->row[first];
    struct exp_look l = { .gap_ticks = (uint64_t)row->gap_cycles };
    uint64_t *offset, from;
    int err = exp_pattern_offsets(&row->pattern, (size_t)row->accesses, &offset, &l.n);

    if (err)
        return err;
    lay(&l, offset, row, n);
    from = l.n ? offset[0] : 0;
    for (size_t i = 0; i < n && !is_interrupted(r); i++) {
        l.probed = from + (uint64_t)(row[i].probed_line * EXP_PATTERN_LINE);
        l.seed = seed_of(r, first + i);
        r->sample[(first + i) * r->how->most + r->n_done] = (float)look(r, &l);
    }
    free(offset);
    return is_interrupted(r) ? -EINTR : 0;
}

/* Times lines at places that are known. */
static void look_at_places(struct run *r)
{
    const size_t sweep_bytes[EXP_N_PLACES] = {
        [EXP_PLACE_L2] = 2 * r->how->l1_bytes, [EXP_PLACE_BEYOND] = 2 * r->how->l2_bytes
    };

    for (size_t i = 0; i < PLACES_A_ROUND; i++) {
        /* a line in a page of its own, so that nothing stands for a pattern */
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

static void report(const struct run *r, size_t row)
{
    if (r->how->progress)
        r->how->progress(r->how->ctx, ((double)r->n_done + (double)row / (double)r->t->n) / (double)r->how->most);
}

static int run_round(struct run *r)
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

static bool is_enough(const struct run *r)
{
    const uint64_t spent = r->how->now_ns() - r->start_ns;

    /* none that would not end in time */
    return r->n_done >= r->how->least && spent + spent / r->n_done > r->how->limit_ns;
}

/* ---- what they say ---- */

/* A line behind L2 is near as well; where times do not tell it from memory (L3 may be slow), L2 is all that is. */
static int find_threshold(struct run *r, struct exp_timing_result *result, struct exp_why *why)
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

static void judge_row(struct run *r, size_t i, double *sorted, struct exp_timing_result *result)
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

static int judge(struct run *r, struct exp_timing_result *result, struct exp_why *why)
{
    double *sorted = calloc(r->n_done, sizeof *sorted);
    int err = sorted ? find_threshold(r, result, why) : -ENOMEM;

    for (size_t i = 0; !err && i < r->t->n; i++)
        judge_row(r, i, sorted, result);
    result->n_rounds = r->n_done;
    free(sorted);
    return err;
}

static int allocate(struct run *r)
{
    bool is_good;

    r->sample = calloc(r->t->n * r->how->most + 1, sizeof *r->sample);
    is_good = r->sample != NULL;
    for (size_t place = 0; place < EXP_N_PLACES; place++) {
        r->place[place] = calloc(r->how->most * PLACES_A_ROUND, sizeof *r->place[place]);
        is_good = is_good && r->place[place];
    }
    return is_good ? 0 : -ENOMEM;
}

int exp_timing_run(const struct exp_timing *how, struct exp_timed *t, struct exp_timing_result *result,
                   struct exp_why *why)
{
    struct run r = { .how = how, .t = t, .start_ns = how->now_ns() };
    int err = allocate(&r);

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
    if (err && err != -ENODATA)
        exp_fail(why, err, err == -EINTR ? "interrupted" : "out of memory");
    return err;
}

/* ---- the file ---- */

static const struct exp_csv_column columns[] = {
    { "pattern", "", "which pattern: exp_pattern.c has the table", "" },
    { "start_line_in_page", "", "line of a 4 KiB page that it begins at", "" },
    { "accesses", "", "how many loads it makes, each waiting for the one before", "" },
    { "gap_cycles", "ticks", "how much longer each waits", "" },
    { "probed_line", "lines", "the line that was looked for, from the pattern's first one on", "" },
    { "was_accessed", "", "1: the pattern itself loads it", "" },
    { "median_cycles", "ticks", "what one load of it took afterwards, median of all rounds", "timed" },
    { "near_share", "", "share of the rounds in which that took less than a line far away does", "timed" },
};

const struct exp_csv_file exp_timing_file = EXP_CSV_FILE("patterns.csv", columns);

void exp_timing_write(const struct exp_timed *t, struct exp_csv *csv)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct exp_timed_row *row = &t->row[i];

        exp_csv_string(csv, "pattern", row->name);
        exp_csv_u64(csv, "start_line_in_page", (uint64_t)row->start_line);
        exp_csv_u64(csv, "accesses", (uint64_t)row->accesses);
        exp_csv_u64(csv, "gap_cycles", (uint64_t)row->gap_cycles);
        exp_csv_double(csv, "probed_line", (double)row->probed_line);
        exp_csv_u64(csv, "was_accessed", row->was_accessed);
        exp_csv_double(csv, "median_cycles", row->ticks);
        exp_csv_double(csv, "near_share", row->near_share);
        exp_csv_end_row(csv);
    }
}
