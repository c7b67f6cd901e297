#include "experiments/papers/lift/rank.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/base/stats.h"
#include "experiments/base/tasks.h"

enum { POINTS_OF_JOB = 16 };

#define REPLAY_SECONDS 0.3 /* of a point, on a usual computer */

#define PROGRAM "lift replay 4" /* another number, where what is counted or costs changes */

/* ---- replay.csv ---- */

#define REPLAY struct lift_replay_row
#define COUNT_OF(name, unit, meaning, member)                                                                          \
    {                                                                                                                  \
        { name, unit, meaning, "simulated" }, REC_OR(REPLAY, member, r.why)                                            \
    }
#define NO_CYCLES "it was not replayed, or the core's cycles are not known"
#define NO_CORE "the machine has no [core], the processor is no x86-64, or there is no compiler"
#define CYCLES_OF(name, meaning, member)                                                                               \
    {                                                                                                                  \
        { name, "cycles", meaning, "simulated" }, REC_NAN_AS(REPLAY, member, NO_CORE)                                  \
    }

static double cycles_of(const void *row)
{
    const REPLAY *r = row;

    return *r->r.why ? (double)NAN : r->r.core_cycles + r->r.waiting_cycles + r->r.launching_cycles;
}

static const struct rec_field replay_fields[] = {
    { { "layer", "", "its name", "" }, REC_AT(REPLAY, layer) },
    { { "number", "", "of the point, as in points.csv", "" }, REC_AT(REPLAY, number) },
    { { "ms", "ms", "of points.csv", "clock" }, REC_NAN_AS(REPLAY, ms, "the point did not run") },
    { { "cycles", "cycles", "estimate of all kernels: the core's clock, and what lines make the core wait",
        "simulated" },
      REC_DERIVED(cycles_of),
      .missing = REC_IF_NAN_AS,
      .why = NO_CYCLES },
    { { "rank", "", "in its layer, by cycles: 1 is the fewest", "simulated" }, REC_AT(REPLAY, rank) },
    CYCLES_OF("core_cycles", "of the core's clock, as if all data were at hand", r.core_cycles),
    COUNT_OF("waiting_cycles", "cycles", "of the rest, for lines on their way", r.waiting_cycles),
    COUNT_OF("launching_cycles", "cycles", "of the rest, for work-groups", r.launching_cycles),
    COUNT_OF("loads", "", "of all work-items, vectors whole", r.loads),
    COUNT_OF("stores", "", "likewise", r.stores),
    COUNT_OF("l1_lines", "lines", "into the first level", r.lines[0]),
    COUNT_OF("l1_demanded", "lines", "of these, by no prefetcher", r.demanded),
    COUNT_OF("l1_written", "lines", "into the first level: what the kernel that runs writes", r.written),
    COUNT_OF("l2_lines", "lines", "into the second level", r.lines[1]),
    COUNT_OF("input_lines", "lines", "into the first level: of the input", r.fetched[LIFT_INPUT]),
    COUNT_OF("filters_lines", "lines", "of the filters", r.fetched[LIFT_FILTERS]),
    COUNT_OF("padded_lines", "lines", "of the padded input", r.fetched[LIFT_PADDED]),
    COUNT_OF("partial_lines", "lines", "of partial sums", r.fetched[LIFT_PARTIAL]),
    COUNT_OF("sums_lines", "lines", "of sums", r.fetched[LIFT_SUMS]),
    COUNT_OF("output_lines", "lines", "of the output", r.fetched[LIFT_OUTPUT]),
    COUNT_OF("simulated_percent", "%", "of the partial convolution's work-items: all is estimated from these",
             r.share_percent),
};
const struct rec_table lift_replay_table = REC_TABLE("replay.csv", replay_fields, REPLAY);

/* ---- ranks.csv ---- */

#define RANK struct lift_rank_row
#define FEW_POINTS "fewer than three points were timed and replayed"
static const struct rec_field rank_fields[] = {
    { { "layer", "", "its name", "" }, REC_AT(RANK, layer) },
    { { "ranking", "", "what points are ordered by; cycles: the estimate of replay.csv", "" }, REC_AT(RANK, ranking) },
    { { "in_view", "", "1: numbers of the cost model were chosen with points of this layer in view", "" },
      REC_AT(RANK, was_in_view) },
    { { "points", "", "that were timed and replayed", "" }, REC_AT(RANK, n) },
    { { "spearman", "", "rank correlation with the time", "" }, REC_NAN_AS(RANK, spearman, FEW_POINTS) },
    { { "first_percent", "%", "of the fastest point's speed: the one that is ranked first", "" },
      REC_NAN_AS(RANK, first_share, FEW_POINTS) },
    { { "few_percent", "%", "the fastest of the 20 that are ranked first", "" },
      REC_NAN_AS(RANK, few_share, FEW_POINTS) },
    { { "random_percent", "%", "the fastest of 20 random ones, on average", "" },
      REC_NAN_AS(RANK, random_share, FEW_POINTS) },
};
const struct rec_table lift_ranks_table = REC_TABLE("ranks.csv", rank_fields, RANK);

/* ---- judging ---- */

struct pair {
    double cost, time;
};

static int compare_costs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->cost > y->cost) - (x->cost < y->cost);
}

static int compare_times(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

/* Returns the mean speed of the fastest of LIFT_FEW pairs out of n, over all ways to draw them: sorted by time. */
static double mean_of_random(const struct pair *p, size_t n)
{
    double mean = 0, none_faster = 1; /* the probability that none of the pairs before i is drawn */

    for (size_t i = 0; i < n; i++) {
        const double left = (double)(n - i), is_drawn = left > LIFT_FEW ? LIFT_FEW / left : 1;

        mean += none_faster * is_drawn / p[i].time;
        none_faster *= 1 - is_drawn;
    }
    return mean;
}

struct lift_rank_row lift_rank_judge(const double *cost, const double *time, size_t n)
{
    struct lift_rank_row row = {
        .spearman = (double)NAN, .first_share = (double)NAN, .few_share = (double)NAN, .random_share = (double)NAN
    };
    struct pair *p = exp_new(n + 1, sizeof *p);
    double few = INFINITY, first, best;

    assert((cost && time) || !n);
    for (size_t i = 0; i < n; i++) {
        if (isfinite(cost[i]) && isfinite(time[i]))
            p[row.n++] = (struct pair){ cost[i], time[i] };
    }
    if (row.n >= 3) {
        row.spearman = exp_stats_spearman(cost, time, n);
        qsort(p, row.n, sizeof *p, compare_costs);
        first = p[0].time;
        for (size_t i = 0; i < row.n && i < LIFT_FEW; i++)
            few = fmin(few, p[i].time);
        qsort(p, row.n, sizeof *p, compare_times);
        best = p[0].time;
        row.first_share = 100 * best / first;
        row.few_share = 100 * best / few;
        row.random_share = 100 * best * mean_of_random(p, row.n);
    }
    free(p);
    return row;
}

static double by_cycles(const REPLAY *r)
{
    return cycles_of(r);
}

static double by_core(const REPLAY *r)
{
    return r->r.core_cycles;
}

static double by_lines(const REPLAY *r)
{
    return r->r.waiting_cycles;
}

static double by_accesses(const REPLAY *r)
{
    return r->r.loads + r->r.stores;
}

static double by_macs(const REPLAY *r)
{
    return r->macs;
}

static const struct {
    const char *name;
    double (*cost)(const REPLAY *r);
} rankings[LIFT_N_RANKINGS] = {
    [LIFT_BY_CYCLES] = { "cycles", by_cycles },    [LIFT_BY_CORE] = { "core cycles", by_core },
    [LIFT_BY_LINES] = { "lines", by_lines },       [LIFT_BY_ACCESSES] = { "accesses", by_accesses },
    [LIFT_BY_MACS] = { "multiply-adds", by_macs },
};

static void rank_layer(REPLAY *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double cycles = cycles_of(&row[i]);

        row[i].rank = 1;
        for (size_t j = 0; j < n; j++) {
            const double other = cycles_of(&row[j]);

            row[i].rank += other < cycles || (isnan(cycles) && !isnan(other));
        }
    }
}

/* The paper's numbers of the layers that the cost model's numbers were chosen by: conv1_1, conv3_2, conv5_1. */
static const char *const in_view[] = { "0", "12 14", "24 26 28" };

static bool was_in_view(const struct lift_layer_row *l)
{
    size_t i = 0;

    while (i < sizeof in_view / sizeof in_view[0] && strcmp(in_view[i], l->paper) != 0)
        i++;
    return i < sizeof in_view / sizeof in_view[0];
}

static void judge_layer(struct lift_ranking_work *w, const struct lift_layer_row *l)
{
    double *cost = exp_new(l->n_points + 1, sizeof *cost), *time = exp_new(l->n_points + 1, sizeof *time);

    for (size_t k = 0; k < LIFT_N_RANKINGS; k++) {
        struct lift_rank_row *to = &w->rank[w->n_ranks++];

        for (size_t i = 0; i < l->n_points; i++) {
            const REPLAY *r = &w->row[l->first + i];

            cost[i] = *r->r.why ? (double)NAN : rankings[k].cost(r);
            time[i] = r->ms;
        }
        *to = lift_rank_judge(cost, time, l->n_points);
        to->layer = l->layer;
        to->ranking = rankings[k].name;
        to->was_in_view = was_in_view(l);
    }
    free(cost);
    free(time);
}

/* ---- replaying, and the store ---- */

struct replaying {
    struct lift_ranking_work *w;
    struct exp_task *task;                  /* [points] */
    size_t *first;                          /* [jobs + 1] */
    const struct conv_problem **problem_of; /* [jobs] */
    size_t n_jobs;
    char *setting;
};

/* Moves what is known of a point; numbers are kept as whole ones. */
static void move_replayed(struct exp_result_moving *x, struct lift_replayed *r)
{
    const struct {
        const char *name;
        double *value;
    } numbers[] = { { "loads", &r->loads },
                    { "stores", &r->stores },
                    { "l1_lines", &r->lines[0] },
                    { "l2_lines", &r->lines[1] },
                    { "demanded", &r->demanded },
                    { "written", &r->written },
                    { "input", &r->fetched[LIFT_INPUT] },
                    { "filters", &r->fetched[LIFT_FILTERS] },
                    { "padded", &r->fetched[LIFT_PADDED] },
                    { "partial", &r->fetched[LIFT_PARTIAL] },
                    { "sums", &r->fetched[LIFT_SUMS] },
                    { "output", &r->fetched[LIFT_OUTPUT] },
                    { "waiting", &r->waiting_cycles },
                    { "launching", &r->launching_cycles },
                    { "core", &r->core_cycles },
                    { "share", &r->share_percent } };
    const double scale[] = { 1, 1e6 }; /* shares are small */

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const double s = scale[numbers[i].value == &r->share_percent];
        uint64_t n = isnan(*numbers[i].value) ? 0 : (uint64_t)(*numbers[i].value * s + 0.5);

        exp_result_move(x, numbers[i].name, &n);
        if (x->from)
            *numbers[i].value = (double)n / s;
    }
    if (x->from && r->core_cycles == 0)
        r->core_cycles = (double)NAN;
}

static int run_job(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct replaying *p = ctx;
    const struct lift_ranking_work *w = p->w;
    const size_t first = p->first[job], n = p->first[job + 1] - first;
    struct lift_point point[POINTS_OF_JOB];
    struct lift_replayed to[POINTS_OF_JOB];
    struct lift_replayer *r = NULL;
    int err = lift_replayer_new(&r, w->machine, &lift_usual_part, why);

    (void)pool;
    for (size_t i = 0; i < n; i++)
        point[i] = w->study->point[first + i].p;
    err = err ? err : lift_replay(r, p->problem_of[job], point, n, to, why);
    lift_replayer_free(r);
    for (size_t i = 0; i < n && !err; i++) {
        if (*to[i].why)
            err = exp_fail(why, -EIO, "%s", to[i].why);
        else
            move_replayed(&(struct exp_result_moving){ .to = &result[i] }, &to[i]);
    }
    return err;
}

static void take(void *ctx, size_t task, const struct exp_result *r)
{
    struct replaying *p = ctx;
    struct lift_replayed *to = &p->w->row[task].r;

    *to = (struct lift_replayed){ 0 };
    move_replayed(&(struct exp_result_moving){ .from = r }, to);
}

double lift_rank_seconds(size_t n_points)
{
    return REPLAY_SECONDS * (double)n_points;
}

static double seconds_of(void *ctx, size_t job)
{
    const struct replaying *p = ctx;

    return lift_rank_seconds(p->first[job + 1] - p->first[job]);
}

/* Lists jobs: points of a layer that are compiled together. */
static void list_jobs(struct replaying *p)
{
    const struct lift_work *study = p->w->study;

    for (size_t l = 0; l < study->n_layers; l++) {
        const struct lift_layer_row *row = &study->layer[l];

        for (size_t i = 0; i < row->n_points; i += POINTS_OF_JOB) {
            p->problem_of = exp_resize(p->problem_of, p->n_jobs + 1, sizeof(void *));
            p->first = exp_resize(p->first, p->n_jobs + 2, sizeof *p->first);
            p->problem_of[p->n_jobs] = &row->problem;
            p->first[p->n_jobs++] = row->first + i;
            p->first[p->n_jobs] = row->first + (i + POINTS_OF_JOB < row->n_points ? i + POINTS_OF_JOB : row->n_points);
        }
    }
}

static void list_rows(struct replaying *p)
{
    const struct lift_work *study = p->w->study;

    for (size_t l = 0; l < study->n_layers; l++) {
        const struct lift_layer_row *row = &study->layer[l];

        for (size_t i = row->first; i < row->first + row->n_points; i++) {
            const struct lift_point_row *point = &study->point[i];
            char text[256];

            lift_point_say(&point->p, text, sizeof text);
            p->w->row[i] =
                (REPLAY){ .layer = row->layer, .number = point->number, .ms = point->ms, .macs = point->macs };
            p->w->row[i].r.core_cycles = (double)NAN;
            exp_say(p->w->row[i].r.why, sizeof p->w->row[i].r.why, "it was not replayed");
            p->task[i] =
                (struct exp_task){ "lift-replay", exp_format("%s", text),
                                   exp_format("%zux%zux%zu %zux%zu %zu: %s", row->problem.c, row->problem.h,
                                              row->problem.w, row->problem.r, row->problem.s, row->problem.k, text),
                                   p->setting, PROGRAM };
        }
    }
}

static int replay_all(struct replaying *p, struct exp_why *why)
{
    struct lift_ranking_work *w = p->w;
    struct exp_tasks_counts counts;
    const struct exp_tasks tasks = { .task = p->task,
                                     .first = p->first,
                                     .n_jobs = p->n_jobs,
                                     .work = EXP_WORK_REPLAY,
                                     .doing = "replaying points",
                                     .run = run_job,
                                     .take = take,
                                     .seconds = seconds_of,
                                     .ctx = p };
    const struct exp_tasks_options options = { .store = w->study->store,
                                               .n_threads = w->n_threads,
                                               .progress = w->study->progress };
    const int err = p->n_jobs ? exp_tasks_run(&tasks, &options, &counts, why) : 0;

    if (!err && p->n_jobs && counts.n_failed)
        exp_progress_note(w->study->progress, "lift: %zu points were not replayed: %s", counts.n_failed,
                          counts.failure);
    return err;
}

/* Says what replays depend on, but for the point: the machine. From malloc. */
static char *setting_of(const struct sim_machine *m)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    sim_machine_print(m, out);
    fclose(out);
    return text;
}

int lift_rank(struct lift_ranking_work *w, struct exp_why *why)
{
    const struct lift_work *study = w->study;
    struct replaying p = { .w = w, .setting = setting_of(w->machine) };
    int err;

    assert(study && w->machine);
    w->row = exp_new(study->n_points, sizeof *w->row);
    w->rank = exp_new(study->n_layers * LIFT_N_RANKINGS, sizeof *w->rank);
    p.task = exp_new(study->n_points, sizeof *p.task);
    list_jobs(&p);
    list_rows(&p);
    err = replay_all(&p, why);
    for (size_t l = 0; l < study->n_layers && !err; l++) {
        judge_layer(w, &study->layer[l]);
        rank_layer(&w->row[study->layer[l].first], study->layer[l].n_points);
    }
    for (size_t i = 0; i < study->n_points; i++) {
        free((char *)p.task[i].name);
        free((char *)p.task[i].what);
    }
    free(p.task);
    free(p.first);
    free(p.problem_of);
    free(p.setting);
    return err;
}

void lift_rank_release(struct lift_ranking_work *w)
{
    free(w->row);
    free(w->rank);
}

/* ---- the verdict ---- */

/* What a ranking is worth over layers: means of correlations, geomeans of shares; and the worst of each. */
struct summary {
    size_t n;
    double spearman, worst_spearman, first_share, few_share, worst_few_share, random_share;
};

static struct summary sum_up(const struct lift_ranking_work *w, enum lift_ranking k, bool only_unseen)
{
    double *x = exp_new(4 * (w->n_ranks + 1), sizeof *x), *first = x + w->n_ranks, *few = first + w->n_ranks,
           *random = few + w->n_ranks;
    struct summary s = { .worst_spearman = INFINITY, .worst_few_share = INFINITY };

    for (size_t i = 0; i < w->n_ranks; i++) {
        const struct lift_rank_row *r = &w->rank[i];

        if (r->ranking != rankings[k].name || isnan(r->spearman) || (only_unseen && r->was_in_view))
            continue;
        s.spearman += r->spearman;
        s.worst_spearman = fmin(s.worst_spearman, r->spearman);
        s.worst_few_share = fmin(s.worst_few_share, r->few_share);
        first[s.n] = r->first_share;
        few[s.n] = r->few_share;
        random[s.n++] = r->random_share;
    }
    s.spearman /= (double)s.n;
    s.first_share = exp_stats_geomean(first, s.n);
    s.few_share = exp_stats_geomean(few, s.n);
    s.random_share = exp_stats_geomean(random, s.n);
    free(x);
    return s;
}

int lift_rank_print(const struct lift_ranking_work *w, FILE *out)
{
    const struct summary all = sum_up(w, LIFT_BY_CYCLES, false), unseen = sum_up(w, LIFT_BY_CYCLES, true);

    if (!all.n) {
        fprintf(out, "replays rank nothing: no layer has three points that were timed and replayed\n");
        return 0;
    }
    fprintf(out, "replays rank the points of %zu layers: the rank correlation of simulated cycles with times is %.2f",
            all.n, all.spearman);
    fprintf(out, all.n > 1 ? " on average, %.2f at worst" : "", all.worst_spearman);
    if (unseen.n && unseen.n < all.n)
        fprintf(out, "; of the %zu layers that were not in view when the cost model was made, %.2f and %.2f", unseen.n,
                unseen.spearman, unseen.worst_spearman);
    fprintf(out, "\nthe fastest of the %d points that they put first has %.0f %% of the fastest one's speed", LIFT_FEW,
            all.few_share);
    fprintf(out, all.n > 1 ? " (geomean; %.0f %% at worst)" : "", all.worst_few_share);
    fprintf(out, ", the very first %.0f %%; the fastest of %d random points %.0f %%\n", all.first_share, LIFT_FEW,
            all.random_share);
    for (enum lift_ranking k = LIFT_BY_CORE; k < LIFT_N_RANKINGS; k++) {
        const struct summary other = sum_up(w, k, false);

        if (other.n)
            fprintf(out, "  by %s alone: %.2f, and %.0f %% of the first %d\n", rankings[k].name, other.spearman,
                    other.few_share, LIFT_FEW);
    }
    return 0;
}
