/*
 * The speed of this computer: threads, the micro-kernels, SConv against the baseline over VGG-16, and the replays. All
 * contenders take turns in one run on one pinned core; medians; only ratios hold on further computers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_cpu.h"
#include "counters/host/ctr_pin.h"
#include "counters/host/ctr_timer.h"
#include "experiments/base/stats.h"
#include "experiments/base/error.h"
#include "experiments/base/tasks.h"
#include "experiments/base/program.h"
#include "experiments/bench/measure/measure.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/model/model.h"
#include "experiments/speed/speed.h"
#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "sim/hierarchy.h"

enum { ROUNDS = 15, MAX_CONTENDERS = 16, UKR_K = 144, UKR_CALLS = 2000, REPS = 10 };

/* ---- micro-kernels: a full tile, panels in L1, k as in VGG-16's 3x3 layers with Nc = 16 ---- */

struct ukr_bench {
    const struct conv_ukr *u;
    struct conv_ukr_args a;
    float *memory;
};

static int run_ukr(void *ctx)
{
    const struct ukr_bench *b = ctx;

    for (int i = 0; i < UKR_CALLS; i++)
        b->u->fn(b->u, &b->a);
    return 0;
}

static int init_ukr(struct ukr_bench *b, const struct conv_ukr *u)
{
    size_t n_in = UKR_K * u->n_win, n_filter = UKR_K * u->n_f, n_out = u->n_win * u->n_f;
    void *memory;

    if (posix_memalign(&memory, CONV_PAGE_BYTES, (n_in + n_filter + n_out) * sizeof(float)))
        return -ENOMEM;
    memset(memory, 0, (n_in + n_filter + n_out) * sizeof(float));
    b->u = u;
    b->memory = memory;
    b->a = (struct conv_ukr_args){
        .in = (uintptr_t)b->memory,
        .filter = (uintptr_t)(b->memory + n_in),
        .out = (uintptr_t)(b->memory + n_in + n_filter),
        .k = UKR_K,
        .ld_out = u->n_win,
        .n_win = u->n_win,
        .n_f = u->n_f,
        .accumulate = true,
    };
    return 0;
}

/* Columns of the table: filters of the tile; 0 = the micro-kernel's full number. */
static const size_t ukr_filters[] = { 0, 1, 2, 3, 4, 8 };

enum { N_FILTER_COUNTS = sizeof ukr_filters / sizeof ukr_filters[0] };

/* Times all micro-kernels that run here, in turns, on tiles of n_f filters: GFLOP/s of each. */
static int measure_ukrs(struct ukr_bench *b, size_t n, size_t n_f, double *gflops)
{
    struct exp_contender contender[MAX_CONTENDERS];
    struct exp_bench protocol = {
        .n_warmups = 2, .rounds = { ROUNDS, ROUNDS, 0 }, .now_ns = ctr_now_ns, .interrupted = exp_interrupted
    };
    uint64_t sample[MAX_CONTENDERS * ROUNDS];
    struct exp_bench_result result;
    int err;

    for (size_t i = 0; i < n; i++) {
        b[i].a.n_f = n_f && n_f < b[i].u->n_f ? n_f : b[i].u->n_f;
        contender[i] = (struct exp_contender){ b[i].u->name, run_ukr, NULL, &b[i] };
    }
    err = exp_bench_run(&protocol, contender, n, sample, &result);
    for (size_t i = 0; i < n && !err; i++)
        gflops[i] = 2.0 * UKR_K * (double)(b[i].a.n_win * b[i].a.n_f) * UKR_CALLS /
                    exp_stats_median(sample + i * ROUNDS, result.n_rounds);
    return err;
}

static void print_ukrs(const struct ukr_bench *b, size_t n, double gflops[][MAX_CONTENDERS])
{
    printf("micro-kernels: GFLOP/s by filters of the tile, %d steps, panels in L1\n%-24s %10s %8s", UKR_K, "",
           "full tile", "x first");
    for (size_t c = 1; c < N_FILTER_COUNTS; c++)
        printf(" %8zu", ukr_filters[c]);
    for (size_t i = 0; i < n; i++) {
        printf("\n%-24s %10.1f %8.2f", b[i].u->name, gflops[0][i], gflops[0][i] / gflops[0][0]);
        for (size_t c = 1; c < N_FILTER_COUNTS; c++)
            printf(" %8.1f", gflops[c][i]);
    }
    printf("\n\n");
}

static int bench_ukrs(void)
{
    struct ukr_bench b[MAX_CONTENDERS] = { { 0 } };
    double gflops[N_FILTER_COUNTS][MAX_CONTENDERS];
    size_t n = 0;
    int err = 0;

    for (size_t i = 0; i < conv_ukr_count() && n < MAX_CONTENDERS && !err; i++) {
        if (conv_ukr_runs(conv_ukr_at(i)))
            err = init_ukr(&b[n++], conv_ukr_at(i));
    }
    for (size_t c = 0; c < N_FILTER_COUNTS && !err; c++)
        err = measure_ukrs(b, n, ukr_filters[c], gflops[c]);
    if (!err)
        print_ukrs(b, n, gflops);
    for (size_t i = 0; i < n; i++)
        free(b[i].memory);
    return err;
}

/* ---- a model, VGG-16 by default: SConv against Base, and the replays of both ---- */

struct vgg {
    struct exp_setup setup;
    struct exp_model model;
    struct exp_experiment experiment;
    struct exp_why why;
};

static int open_vgg(struct vgg *v, const char *model)
{
    unsigned algos;
    int err = exp_algo_select("", &algos, &v->why);

    if (!err)
        err = exp_model_find(&v->model, "experiments", model, &v->why);
    if (!err && sim_machine_host(&v->setup.machine, v->why.text, sizeof v->why.text)) /* hwloc shows no cache */
        err = exp_machine_find(&v->setup.machine, "host", NULL, &v->why);
    if (!err)
        err = exp_setup_init(&v->setup, "", "", &v->why);
    if (!err)
        err = exp_experiment_plan(&v->experiment, &v->setup, &v->model, algos, &v->why);
    return err;
}

static int bench_vgg(struct vgg *v)
{
    const struct exp_measure_options o = {
        .rounds = { REPS, REPS, 0 }, .now_ns = ctr_now_ns, .n_threads = 1, .groups_dir = CTR_GROUPS_DIR
    };
    struct exp_measure_info info;
    struct exp_progress *progress = exp_progress_new(stderr, exp_progress_is_terminal(stderr), NULL, ctr_now_ns);
    struct exp_total total[EXP_MAX_ALGO_RECORDS];
    size_t n;
    int err = exp_measure_all(&v->experiment, &o, &info, progress, &v->why);

    exp_progress_free(progress);
    if (err)
        return err;
    n = exp_totals(&(struct exp_report){ .e = &v->experiment }, total);
    printf("\n%s, %d repetitions, cold caches, base on OpenBLAS %s, SConv %s\n%-24s %12s %10s\n", v->model.name, REPS,
           v->setup.blas.core, v->setup.ukr->name, "", "ms", "x base");
    for (size_t i = 0; i < n; i++) {
        const struct value time = total[i].of[M_measured_time_ns];

        if (time.why)
            printf("%-24s not available: %s\n", total[i].algo, time.why);
        else
            printf("%-24s %12.1f %10.3f\n", total[i].algo, time.number / 1e6, total[i].speedup.value);
    }
    return 0;
}

static int replay_algo(struct vgg *v, size_t algo, double *accesses)
{
    int err = 0;

    *accesses = 0;
    for (size_t i = algo; i < v->experiment.n_cases && !err; i += v->experiment.n_algos) {
        struct exp_case *c = &v->experiment.cases[i];
        struct sim_hierarchy *h;
        struct conv_replay r;
        struct sim_cell sum;

        err = sim_hierarchy_new(&h, &v->setup.machine);
        if (err)
            break;
        conv_replay_init(&r, &c->plan, sim_hierarchy_sink(h));
        err = conv_nest_run(&c->plan, &r.base);
        sum = sim_stats_total(sim_hierarchy_stats(h));
        *accesses += (double)sum.loads + (double)sum.stores;
        sim_hierarchy_free(h);
        if (exp_interrupted())
            err = -EINTR;
    }
    return err;
}

/* Times the replay of every layer of the model, including identical layers. */
static int bench_replays(struct vgg *v)
{
    int err = 0;

    printf("\nreplay of %s on this computer's caches, one core\n%-24s %12s %10s %12s\n", v->model.name, "", "accesses",
           "s", "M access/s");
    for (size_t a = 0; a < v->experiment.n_algos && !err; a++) {
        uint64_t start = ctr_now_ns();
        double accesses, seconds;

        err = replay_algo(v, a, &accesses);
        seconds = (double)(ctr_now_ns() - start) / 1e9;
        if (!err)
            printf("%-24s %12.4g %10.2f %12.0f\n", v->experiment.cases[a].algo->name, accesses, seconds,
                   accesses / seconds / 1e6);
    }
    return err;
}

/*
 * ---- the simulator's working day: every layer of every model on both paper machines, including identical layers ----
 */

enum { DAY_THREADS = 2 };

static int replay_job(void *ctx, size_t i, size_t thread, const struct exp_pool *pool)
{
    const struct exp_experiment *e = ctx;
    struct sim_hierarchy *h;
    struct conv_replay r;
    int err = sim_hierarchy_new(&h, &e->setup->machine);

    (void)thread;
    (void)pool;
    if (err)
        return err;
    conv_replay_init(&r, &e->cases[i].plan, sim_hierarchy_sink(h));
    err = conv_nest_run(&e->cases[i].plan, &r.base);
    sim_hierarchy_free(h);
    return err;
}

static int bench_model(const struct exp_setup *s, const struct exp_model *m, double *seconds, struct exp_why *why)
{
    struct exp_experiment e;
    unsigned algos;
    uint64_t start;
    int err = exp_algo_select("base,sconv", &algos, why);

    if (!err)
        err = exp_experiment_plan(&e, s, m, algos, why);
    if (err)
        return err;
    start = ctr_now_ns();
    err = exp_pool_run(e.n_cases, DAY_THREADS, replay_job, &e, exp_interrupted, NULL);
    if (err)
        exp_fail(why, err, "%s", err == -EINTR ? "interrupted while replaying" : strerror(-err));
    *seconds += (double)(ctr_now_ns() - start) / 1e9;
    exp_experiment_release(&e);
    return err;
}

static int bench_machine(const char *machine, const struct exp_models *models, double *seconds, struct exp_why *why)
{
    struct exp_setup s = { .why_no_core = "" };
    int err = sim_machine_read(&s.machine, machine, why->text, sizeof why->text);

    if (!err)
        err = exp_setup_init(&s, "", "", why);
    for (size_t i = 0; i < models->n && !err; i++)
        err = bench_model(&s, &models->model[i], seconds, why);
    exp_setup_release(&s);
    return err;
}

static int bench_day(const struct exp_models *models, struct exp_why *why)
{
    static const char *const machines[] = { "sim/machines/clx4208.cfg", "sim/machines/power10.cfg" };
    double seconds = 0;
    size_t n_layers = 0;
    int err = 0;

    for (size_t i = 0; i < models->n; i++)
        n_layers += models->model[i].n_layers;
    for (size_t k = 0; k < 2 && !err; k++)
        err = bench_machine(machines[k], models, &seconds, why);
    if (!err)
        printf("replay of all %zu layers, 3 algorithms, 2 machines, %d threads: %.1f s\n\n", n_layers, DAY_THREADS,
               seconds);
    return err;
}

/* Runs all single-core measurements: pins this thread. */
static int bench_one_core(struct vgg *v, const char *model)
{
    int core = -1, err = 0;

    if (ctr_pin(-1, &core, SIM_WHY(v->why.text)))
        fprintf(stderr, "speed: not pinned: %s\n", v->why.text);
    err = bench_ukrs();
    if (!err)
        err = exp_bench_tiles();
    if (!err)
        err = open_vgg(v, model);
    if (!err)
        err = bench_vgg(v);
    if (!err)
        err = bench_replays(v);
    return err;
}

struct options {
    const char *model;
};

struct session {
    struct options options;
    struct vgg vgg;
    struct exp_models models;
    struct exp_why why;
};

/* The replay of all layers runs before this thread is pinned, because its threads would inherit the pin. */
static int work(void *session)
{
    struct session *s = session;
    const char *models = s->options.model;
    int err = exp_models_read(&s->models, "experiments", models, "", &s->why);

    if (!err)
        err = bench_day(&s->models, &s->why);
    if (!err)
        err = exp_bench_threads(models, false, &s->why);
    if (!err)
        err = bench_one_core(&s->vgg, strcmp(models, "all") ? s->models.model[0].path : "vgg16");
    if (err && *s->vgg.why.text)
        exp_fail(&s->why, err, "%s", s->vgg.why.text);
    return err;
}

static void release(void *session)
{
    struct session *s = session;

    exp_experiment_release(&s->vgg.experiment);
    exp_setup_release(&s->vgg.setup);
    exp_model_release(&s->vgg.model);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "models, comma-separated; all (default): the paper's seven, and VGG-16 where one is timed",
              model, "all"),
    EXP_OPTIONS_END,
};

const struct exp_question question_speed = {
    .name = "speed",
    .target = "bench-speed",
    .asks = "Measure threads, kernels, SConv and the replays",
    .takes = "10 minutes.",
    .libraries = "blas",
    .options = options,
    .examples = { "make bench-speed MODEL=squeezenet" },
    EXP_SESSION(struct session),
    .models_at = offsetof(struct session, models),
    .work = work,
    .release = release,
};
