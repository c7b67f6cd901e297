/* The search: points are drawn, run, and kept in the store; the best points take turns with Base and the naive text. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/stats.h"
#include "experiments/base/tasks.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/papers/lift/study.h"

enum {
    ROUNDS = 5,      /* of a point, within the time of the fastest point's rounds, and ROUNDS_MS */
    ROUNDS_MS = 150, /* slower points are run less often: the first round always counts */
    NAIVE_ROUNDS = 2,
    NAIVE_MS = 60000,
    N_FINALISTS = 3,
    TURNS = 3,
    N_NAIVE = 2 /* fast math makes the naive text slower */,
    DRAWS_EACH = 20
};

/* ---- layers ---- */

/* The paper's number of VGG-16's layers, by their names in experiments/models/vgg16.csv. */
static const char *const paper_numbers[][2] = {
    { "conv1_1", "0" },     { "conv1_2", "2" },  { "conv2_1", "5" },     { "conv2_2", "7" },       { "conv3_1", "10" },
    { "conv3_2", "12 14" }, { "conv4_1", "17" }, { "conv4_2", "19 21" }, { "conv5_1", "24 26 28" }
};

static const char *paper_number(const char *model, const char *layer)
{
    for (size_t i = 0; i < sizeof paper_numbers / sizeof paper_numbers[0] && !strcmp(model, "vgg16"); i++) {
        if (!strcmp(paper_numbers[i][0], layer))
            return paper_numbers[i][1];
    }
    return "";
}

/* Finds the paper's number of a layer: NaN if there is none. */
static double printed(const struct lift_work *w, const char *paper, const char *metric)
{
    char *about = exp_format("VGG-16 layer %s", paper);
    const char *value = claims_printed(&w->claims, NULL, about, metric);

    free(about);
    return value ? strtod(value, NULL) : (double)NAN;
}

static bool is_listed(const struct lift_work *w, const struct conv_problem *p)
{
    for (size_t i = 0; i < w->n_layers; i++) {
        if (conv_problem_equal(&w->layer[i].problem, p))
            return true;
    }
    return false;
}

int lift_list(struct lift_work *w, const char *experiments_dir, struct exp_why *why)
{
    const int err = claims_read(&w->claims, experiments_dir, "LIFT direct conv", why);

    for (size_t i = 0; i < w->model->n_layers && !err; i++) {
        const struct exp_layer *l = &w->model->layer[i];
        const struct conv_problem *p = &l->problem;
        struct lift_layer_row *row;

        if (is_listed(w, p))
            continue;
        row = exp_append(&w->layer, &w->n_layers, sizeof *row);
        row->layer = l->name;
        row->problem = *p;
        row->paper = paper_number(w->model->name, l->name);
        row->direct_bytes = (p->c * p->h * p->w + p->k * conv_reduction(p) + p->k * conv_windows(p)) * sizeof(float);
        row->gemm_bytes =
            row->direct_bytes + (conv_is_pointwise(p) ? 0 : conv_reduction(p) * conv_windows(p) * sizeof(float));
        row->best_ms = row->gemm_ms = row->naive_ms = (double)NAN;
        row->direct_printed = printed(w, row->paper, "acl_direct_ms");
        row->gemm_printed = printed(w, row->paper, "acl_gemm_ms");
        row->lift_printed = printed(w, row->paper, "lift_ms");
    }
    return err;
}

void lift_work_release(struct lift_work *w)
{
    free(w->point);
    free(w->layer);
    free(w->memory);
    claims_release(&w->claims);
    exp_models_release(&w->networks);
}

/* ---- points ---- */

static bool is_drawn(const struct lift_point *p, size_t n, const struct lift_point *one)
{
    for (size_t i = 0; i < n; i++) {
        if (!memcmp(&p[i], one, sizeof *one))
            return true;
    }
    return false;
}

/* The paper's Table 4: the best point of layer 7. */
static const char table_4[] = "tile=5 pad_y=11 pad_x=11 band=41 kernels=4 lanes=1 windows=3 elements=144 vector=4 "
                              "coalesced=1 unroll=1 joined=0 flags=0";

/*
 * Draws distinct points, fewer if the space seems to have no more. In the paper's layer, the first point is the
 * paper's, with any amount of memory.
 */
static struct lift_point *draw_points(const struct lift_work *w, const struct lift_layer_row *row, struct lift_space *s,
                                      size_t *n)
{
    const size_t most = w->options.n_points;
    struct lift_point *p = exp_new(most, sizeof *p);
    uint64_t state = w->options.seed;
    size_t in_vain = 0;

    *n = 0;
    if (!strcmp(row->paper, "7") && !lift_point_parse(p, table_4, NULL) &&
        !lift_violated(&row->problem, &lift_device_about(w->device)->limits, p))
        *n = 1;
    while (*n < most && in_vain < DRAWS_EACH * most) {
        lift_draw(s, &state, &p[*n]);
        if (is_drawn(p, *n, &p[*n]))
            in_vain++;
        else
            ++*n;
    }
    return p;
}

static size_t stage_of(const char *name)
{
    return !strcmp(name, "pad")    ? LIFT_PAD
           : !strcmp(name, "sum")  ? LIFT_SUM
           : !strcmp(name, "crop") ? LIFT_CROP
                                   : LIFT_CONVOLVE;
}

/* Returns the judged time: of the process on a CPU, if the user asked for that clock; else by events. */
static double judged_ms(const struct lift_work *w, const struct lift_run *r)
{
    const bool by_cpu = w->options.clock == EXP_CLOCK_CPU && lift_device_about(w->device)->is_cpu;

    return (double)(by_cpu ? r->cpu_ns : r->event_ns) / 1e6;
}

static void fill_row(const struct lift_work *w, struct lift_point_row *row, const struct lift_program *g,
                     const struct lift_run *r)
{
    row->ms = row->event_ms = (double)NAN;
    row->build_ms = (double)r->build_ns / 1e6;
    row->first_ms = (double)r->first_ns / 1e6;
    row->n_rounds = r->n_rounds;
    exp_say(row->why, sizeof row->why, "%s", r->why);
    if (r->end != LIFT_RAN)
        return;
    row->ms = judged_ms(w, r);
    row->event_ms = (double)r->event_ns / 1e6;
    for (size_t i = 0; i < g->n_kernels; i++)
        row->stage_ms[stage_of(g->kernel[i].name)] = (double)r->kernel_ns[i] / 1e6;
}

/* ---- the store ---- */

static void move_run(struct exp_result_moving *x, struct lift_run *r)
{
    uint64_t end = r->end, rounds = r->n_rounds;

    exp_result_move(x, "end", &end);
    exp_result_move(x, "rounds", &rounds);
    exp_result_move(x, "build_ns", &r->build_ns);
    exp_result_move(x, "first_ns", &r->first_ns);
    exp_result_move(x, "cpu_ns", &r->cpu_ns);
    exp_result_move(x, "event_ns", &r->event_ns);
    for (size_t i = 0; i < LIFT_MOST_KERNELS; i++) {
        char name[16];

        exp_say(name, sizeof name, "kernel%zu_ns", i);
        exp_result_move(x, name, &r->kernel_ns[i]);
    }
    r->end = end < LIFT_N_ENDS ? (enum lift_end)end : LIFT_CRASHED;
    r->n_rounds = (uint32_t)rounds;
    if (!x->to && r->end != LIFT_RAN)
        exp_say(r->why, sizeof r->why, "%s", lift_ends[r->end]);
}

/* Names a run by the text and the number of launches. From malloc. */
static char *what_of(const struct lift_program *g)
{
    uint64_t hash = exp_hash_bytes(0, g->text, strlen(g->text));

    hash = exp_hash_bytes(hash, g->flags, strlen(g->flags));
    hash = exp_hash_bytes(hash, &g->n_bands, sizeof g->n_bands);
    for (size_t i = 0; i < g->n_kernels; i++)
        hash = exp_hash_bytes(hash, g->kernel[i].global, sizeof g->kernel[i].global);
    return exp_format("text %016" PRIx64, hash);
}

static int find_run(struct lift_work *w, const struct exp_task *task, struct lift_run *r, struct exp_why *why)
{
    struct exp_result result;
    int err = exp_tasks_find(w->store, task, &result, why);

    *r = (struct lift_run){ .end = LIFT_RAN };
    if (!err)
        move_run(&(struct exp_result_moving){ .from = &result }, r);
    w->n_stored += err ? 0 : 1;
    exp_result_release(&result);
    return err;
}

static int keep_run(struct lift_work *w, const struct exp_task *task, struct lift_run *r, double seconds,
                    struct exp_why *why)
{
    struct exp_result result = { 0 };
    int err;

    move_run(&(struct exp_result_moving){ .to = &result }, r);
    err = exp_tasks_keep(w->store, task, &result, seconds, why);
    exp_result_release(&result);
    return err;
}

/* ---- a single layer ---- */

/* The state of a layer's search. */
struct search {
    struct lift_work *w;
    struct lift_layer_row *row;
    struct lift_task task; /* the input is NULL until a point is run */
    struct lift_space *space;
    double fastest_ms; /* so far; INFINITY */
};

static int prepare_task(struct search *s)
{
    int err = 0;

    if (!s->task.input) {
        exp_progress_begin(s->w->progress, EXP_WORK_VERIFY, s->row->layer, "computing the reference");
        err = lift_task_init(&s->task, &s->row->problem, false, 2);
        if (!err)
            lift_device_take(s->w->device, &s->task);
    }
    return err;
}

static double point_seconds(const struct conv_problem *p)
{
    return 0.4 + conv_macs(p) / 2.5e9;
}

/* Returns how long a point's rounds may take together. */
static unsigned rounds_ms(const struct search *s)
{
    return (unsigned)fmin(ROUNDS_MS, ceil(ROUNDS * s->fastest_ms));
}

/* Runs a point, and keeps the result. */
static int run_new(struct search *s, const struct lift_point *p, const struct exp_task *task, struct lift_run *run,
                   struct exp_why *why)
{
    struct lift_work *w = s->w;
    const uint64_t start = ctr_now_ns();
    int err = prepare_task(s);

    if (err)
        return err;
    exp_progress_begin(w->progress, EXP_WORK_ROUNDS, s->row->layer, "running points");
    lift_device_run(w->device, p, 0, ROUNDS, rounds_ms(s), w->options.limit_s, 0, run);
    err = exp_interrupted() ? -EINTR : keep_run(w, task, run, (double)(ctr_now_ns() - start) / 1e9, why);
    if (!err && run->end != LIFT_RAN)
        exp_progress_note(w->progress, "lift: %s, point %s: %s", s->row->layer, task->name, run->why);
    return err;
}

/* Runs a point, or takes the store's result: `may_run` false: only the store's. */
static int run_point(struct search *s, struct lift_point_row *row, bool may_run, struct exp_why *why)
{
    struct lift_program g;
    struct lift_run run;
    struct exp_task task = { "lift", NULL, NULL, s->w->setting, "lift 2" };
    char name[256], *what;
    int err;

    lift_program_make(&g, &s->row->problem, &row->p);
    row->bytes = lift_program_bytes(&g);
    row->memory = (double)row->bytes / (double)s->row->direct_bytes;
    row->macs = g.macs / g.useful_macs;
    lift_point_say(&row->p, name, sizeof name);
    task.name = name;
    task.what = what = what_of(&g);
    err = find_run(s->w, &task, &run, why);
    if (err == -ENOENT && may_run)
        err = run_new(s, &row->p, &task, &run, why);
    if (!err) {
        fill_row(s->w, row, &g, &run);
        s->fastest_ms = fmin(s->fastest_ms, isnan(row->ms) ? INFINITY : row->ms);
        s->row->n_ran += isnan(row->ms) ? 0 : 1;
        exp_progress_step(s->w->progress, EXP_WORK_ROUNDS, point_seconds(&s->row->problem));
    }
    free(what);
    lift_program_release(&g);
    return err;
}

/* Marks the points that no further point beats in time without more memory. */
static void mark_front(struct lift_point_row *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i].is_front = !isnan(p[i].ms);
        for (size_t j = 0; j < n && p[i].is_front; j++) {
            const bool is_better =
                p[j].ms <= p[i].ms && p[j].bytes <= p[i].bytes && (p[j].ms < p[i].ms || p[j].bytes < p[i].bytes);

            p[i].is_front = !is_better;
        }
    }
}

double lift_seconds(const struct lift_work *w, size_t layer)
{
    const struct conv_problem *p = &w->layer[layer].problem;

    assert(layer < w->n_layers);
    return (w->options.n_points + w->options.n_near) * point_seconds(p) + 12 * conv_macs(p) / 1e9;
}

/* ---- turns ---- */

/* Im2col and OpenBLAS, as experiments time it. */
struct base {
    struct exp_model model;
    struct exp_layer layer;
    struct exp_experiment plans;
    struct exp_tensors tensors;
    const struct exp_case *of; /* NULL: Base does not run */
};

static int base_init(struct base *b, const struct lift_work *w, struct lift_layer_row *row, struct exp_why *why)
{
    unsigned selected;
    int err;

    *b = (struct base){ .layer = { .name = (char *)row->layer, .problem = row->problem, .line = 1, .index = 1 },
                        .model = { .name = w->model->name, .path = w->model->path, .n_layers = 1 } };
    b->model.layer = &b->layer;
    err = exp_algo_select("base", &selected, why);
    err = err ? err : exp_experiment_plan(&b->plans, w->setup, &b->model, selected, why);
    if (err)
        return err;
    if (exp_case_why_not_run(&b->plans, &b->plans.cases[0]))
        return 0;
    b->of = &b->plans.cases[0];
    return exp_tensors_init(&b->tensors, &b->of->plan);
}

static void base_release(struct base *b)
{
    if (b->of)
        exp_tensors_release(&b->tensors);
    exp_experiment_release(&b->plans);
}

/* Runs Base twice, and times the second run. */
static int base_turn(const struct base *b, const struct lift_work *w, double *ms)
{
    int err = 0;

    for (unsigned i = 0; i < 2 && !err; i++) {
        uint64_t (*now_ns)(void) = exp_clock_of(w->options.clock);
        const uint64_t start = now_ns();

        err = b->of->algo->run(w->setup, &b->of->plan, &b->tensors.bind);
        if (i && !err)
            *ms = fmin(isnan(*ms) ? INFINITY : *ms, (double)(now_ns() - start) / 1e6);
    }
    return err;
}

/* Runs a point that stays loaded, or, of NULL, a single output of each work-item compiled with these flags. */
static void point_turn(struct search *s, const struct lift_point *p, unsigned slot_or_flags, double *ms)
{
    struct lift_run run;

    lift_device_run(s->w->device, p, p ? 0 : slot_or_flags, p ? ROUNDS : NAIVE_ROUNDS, p ? ROUNDS_MS : NAIVE_MS,
                    s->w->options.limit_s, p ? slot_or_flags : 0, &run);
    if (run.end == LIFT_RAN)
        *ms = fmin(isnan(*ms) ? INFINITY : *ms, judged_ms(s->w, &run));
}

/* Lists the fastest points of the first round. */
static size_t list_finalists(const struct search *s, size_t finalist[N_FINALISTS])
{
    const struct lift_point_row *p = s->w->point;
    size_t n = 0;

    for (size_t i = s->row->first; i < s->row->first + s->row->n_points; i++) {
        size_t at = n < N_FINALISTS ? n++ : N_FINALISTS;

        if (isnan(p[i].ms)) {
            n -= at < N_FINALISTS ? 1 : 0;
            continue;
        }
        for (; at > 0 && p[finalist[at - 1]].ms > p[i].ms; at--) {
            if (at < N_FINALISTS)
                finalist[at] = finalist[at - 1];
        }
        if (at < N_FINALISTS)
            finalist[at] = i;
    }
    return n;
}

struct turns {
    double ms[N_FINALISTS], gemm_ms, naive_ms;
};

static int take_turns(struct search *s, const size_t *finalist, size_t n, struct turns *t, struct exp_why *why)
{
    struct lift_layer_row *row = s->row;
    struct base base;
    int err = prepare_task(s);

    err = err ? err : base_init(&base, s->w, row, why);
    if (err)
        return err;
    exp_progress_begin(s->w->progress, EXP_WORK_ROUNDS, row->layer, "taking turns");
    for (unsigned turn = 0; turn < TURNS && !err; turn++) {
        if (base.of)
            err = base_turn(&base, s->w, &t->gemm_ms);
        for (size_t i = 0; i < n && !err; i++)
            point_turn(s, &s->w->point[finalist[i]].p, (unsigned)i + 1, &t->ms[i]);
        err = err ? err : exp_interrupted() ? -EINTR : 0;
    }
    for (unsigned flags = 0; flags < N_NAIVE && !err; flags++)
        point_turn(s, NULL, flags, &t->naive_ms);
    base_release(&base);
    return err ? err : exp_interrupted() ? -EINTR : 0;
}

static void move_ms(struct exp_result_moving *x, const char *name, double *ms)
{
    uint64_t ns = isnan(*ms) ? 0 : (uint64_t)(*ms * 1e6);

    exp_result_move(x, name, &ns);
    *ms = ns ? (double)ns / 1e6 : (double)NAN;
}

static void move_turns(struct exp_result_moving *x, struct turns *t)
{
    for (size_t i = 0; i < N_FINALISTS; i++) {
        char name[16];

        exp_say(name, sizeof name, "point%zu_ns", i);
        move_ms(x, name, &t->ms[i]);
    }
    move_ms(x, "gemm_ns", &t->gemm_ms);
    move_ms(x, "naive_ns", &t->naive_ms);
}

/* Names the turns of these finalists; from malloc. */
static char *what_of_turns(const struct search *s, const size_t *finalist, size_t n)
{
    char *what = exp_format("turns of %s", s->row->layer);

    for (size_t i = 0; i < n; i++) {
        char point[256], *longer;

        lift_point_say(&s->w->point[finalist[i]].p, point, sizeof point);
        longer = exp_format("%s; %s", what, point);
        free(what);
        what = longer;
    }
    return what;
}

/* Times the finalists again, beside Base and the naive text, or takes the store's result. */
static int compare_best(struct search *s, struct exp_why *why)
{
    size_t finalist[N_FINALISTS];
    const size_t n = list_finalists(s, finalist);
    char *what = what_of_turns(s, finalist, n);
    const struct exp_task task = { "lift", s->row->layer, what, s->w->setting, "lift 1" };
    struct turns t = { .gemm_ms = (double)NAN, .naive_ms = (double)NAN };
    struct exp_result result = { 0 };
    int err = exp_tasks_find(s->w->store, &task, &result, why);

    for (size_t i = 0; i < N_FINALISTS; i++)
        t.ms[i] = (double)NAN;
    if (!err) {
        move_turns(&(struct exp_result_moving){ .from = &result }, &t);
    } else if (err == -ENOENT) {
        err = take_turns(s, finalist, n, &t, why);
        move_turns(&(struct exp_result_moving){ .to = &result }, &t);
        err = err ? err : exp_tasks_keep(s->w->store, &task, &result, 1, why);
    }
    exp_result_release(&result);
    free(what);
    s->row->gemm_ms = t.gemm_ms;
    s->row->naive_ms = t.naive_ms;
    for (size_t i = 0; i < n && !err; i++) {
        if (isnan(s->row->best_ms) || t.ms[i] < s->row->best_ms) {
            s->row->best_ms = t.ms[i];
            s->row->best_bytes = s->w->point[finalist[i]].bytes;
            lift_point_say(&s->w->point[finalist[i]].p, s->row->best, sizeof s->row->best);
        }
    }
    return err;
}

/* ---- the search ---- */

/* Appends a row for a point. */
static struct lift_point_row *add_row(struct search *s, const struct lift_point *p, bool is_near)
{
    struct lift_work *w = s->w;
    struct lift_point_row *row = exp_append(&w->point, &w->n_points, sizeof *row);

    row->layer = s->row->layer;
    row->number = s->row->n_points++;
    row->p = *p;
    row->is_near = is_near;
    row->ms = (double)NAN;
    return row;
}

/* Points to run: row[next ..] of the layer, but for the points that another process builds. */
struct queue {
    const size_t *number; /* [n] of rows */
    size_t n, next;
};

/* Takes the next built point, or else a point that is not built. Returns false behind the last point. */
static bool next_point(struct search *s, struct queue *q, size_t *number)
{
    struct lift_device *d = s->w->device;

    while (q->next + 1 < q->n && lift_device_ahead(d, &s->w->point[q->number[q->next]].p, q->number[q->next]))
        q->next++;
    if (lift_device_built(d, 0, number))
        return true;
    if (q->next < q->n) {
        *number = q->number[q->next++];
        return true;
    }
    return lift_device_built(d, s->w->options.limit_s, number);
}

/* Draws points, takes the store's results, and runs the remaining points. */
static int run_points(struct search *s, struct exp_why *why)
{
    struct queue q = { 0 };
    size_t n, number, *left;
    struct lift_point *p = draw_points(s->w, s->row, s->space, &n);
    int err = 0;

    s->row->first = s->w->n_points;
    q.number = left = exp_new(n + 1, sizeof *left);
    for (size_t i = 0; i < n && !err; i++) {
        err = run_point(s, add_row(s, &p[i], false), false, why);
        if (err == -ENOENT) {
            left[q.n++] = s->row->first + i;
            err = 0;
        }
    }
    if (q.n && !err)
        err = prepare_task(s);
    while (!err && next_point(s, &q, &number))
        err = run_point(s, &s->w->point[number], true, why);
    free(left);
    free(p);
    return err;
}

/* Tells whether the layer has the point already. */
static bool has_point(const struct search *s, const struct lift_point *p)
{
    const struct lift_point_row *row = s->w->point + s->row->first;
    size_t i = 0;

    while (i < s->row->n_points && memcmp(&row[i].p, p, sizeof *p) != 0)
        i++;
    return i < s->row->n_points;
}

/* Runs points near the best point. */
static int climb(struct search *s, struct exp_why *why)
{
    uint64_t state = s->w->options.seed;
    unsigned n = 0;
    int err = 0;

    for (unsigned i = 0; i < DRAWS_EACH * s->w->options.n_near && n < s->w->options.n_near && !err; i++) {
        size_t best[N_FINALISTS];
        struct lift_point p;

        if (!list_finalists(s, best))
            return 0;
        lift_draw_near(s->space, &state, &s->w->point[best[0]].p, &p);
        if (has_point(s, &p))
            continue;
        n++;
        err = run_point(s, add_row(s, &p, true), true, why);
    }
    return err;
}

/* Limits of the device and the user: the constraint on all buffers does the rest. */
static struct lift_limits limits_of(const struct lift_work *w, const struct lift_layer_row *row)
{
    const uint64_t most = row->direct_bytes * w->options.memory_percent / 100;
    struct lift_limits m = lift_device_about(w->device)->limits;

    if (most && most < m.memory_bytes)
        m.memory_bytes = most;
    return m;
}

int lift_search(struct lift_work *w, size_t layer, struct exp_why *why)
{
    struct search s = { .w = w, .row = &w->layer[layer], .fastest_ms = INFINITY };
    int err;

    assert(layer < w->n_layers);
    s.row->limits = limits_of(w, s.row);
    err = lift_space_new(&s.space, &s.row->problem, &s.row->limits, w->options.only, why);
    if (err == -ENOTSUP) {
        exp_say(s.row->why, sizeof s.row->why, "%s", why->text);
        lift_space_free(s.space);
        return 0;
    }
    err = err ? err : run_points(&s, why);
    err = err ? err : climb(&s, why);
    if (!err) {
        mark_front(w->point + s.row->first, s.row->n_points);
        err = compare_best(&s, why);
    }
    if (!err && !s.row->n_ran)
        exp_say(s.row->why, sizeof s.row->why, "no point ran");
    lift_device_take(w->device, NULL);
    lift_task_release(&s.task);
    lift_space_free(s.space);
    return err;
}
