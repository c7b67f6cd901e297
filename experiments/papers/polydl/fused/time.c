/* Times and simulations of fused operators, as tasks. */
#include "experiments/papers/polydl/fused/fused.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/replay/quantity.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/fused.h"
#include "kernels/bnorm.h"
#include "sim/hierarchy.h"

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 30, N_STATISTICS = 6 };

static const double long_run_flops = 2e9; /* of convolutions that take longer on most computers */

/* Says where the operators work: addresses are real, or synthetic for a replay. */
struct site {
    const struct conv_plan *plan; /* of the convolution */
    struct conv_binding bind;
    struct conv_bnorm bnorm; /* of a tensor of the output's shape; the way sets the activation */
};

/* ---- the operators ---- */

static struct conv_bnorm shape_of(const struct conv_problem *p)
{
    return (struct conv_bnorm){ .n = p->n, .c = p->k, .elems = conv_windows(p) };
}

/* Runs a pass of the activation alone over a tensor. */
static void activate(const struct conv_bnorm *shape, uint64_t tensor, enum conv_activation activation,
                     const struct conv_epilogue_kernel *kernel, struct sim_sink *sink)
{
    struct conv_bnorm pass = *shape;

    pass.in = pass.out = tensor;
    pass.scale = pass.shift = 0;
    pass.activation = activation;
    conv_bnorm_run(&pass, kernel, sink);
}

static void normalise(const struct site *s, enum exp_fused_way way, struct sim_sink *sink)
{
    const struct conv_epilogue_kernel *kernel = conv_epilogue_of(conv_plan_isa(s->plan));
    struct conv_bnorm b = s->bnorm;

    b.activation = way == EXP_FUSED_TOGETHER ? CONV_ACTIVATION_RELU : CONV_ACTIVATION_NONE;
    conv_bnorm_run(&b, kernel, sink);
    if (way == EXP_FUSED_APART)
        activate(&b, b.out, CONV_ACTIVATION_RELU, kernel, sink);
}

static int convolve(const struct site *s, enum exp_fused_way way, struct sim_sink *sink)
{
    const struct conv_bnorm shape = shape_of(&s->plan->problem);
    const struct conv_after after = { .out = s->bind.addr[CONV_OUTPUT], .activation = CONV_ACTIVATION_RELU6 };
    struct conv_replay replay;
    struct conv_fused fused;
    struct conv_exec exec;
    struct conv_backend *inner = sink ? &replay.base : &exec.base;
    int err;

    if (sink)
        conv_replay_init(&replay, s->plan, sink);
    else
        conv_exec_init(&exec, s->plan, &s->bind);
    conv_fused_init(&fused, inner, s->plan, &after, sink);
    err = conv_nest_run(s->plan, way == EXP_FUSED_TOGETHER ? &fused.base : inner);
    if (!err && way == EXP_FUSED_APART)
        activate(&shape, after.out, after.activation, fused.kernel, sink);
    return err;
}

/* Runs a pair in our ways; with a sink, hands the accesses to the sink instead. Returns 0 or -errno. */
static int run_way(const struct site *s, enum exp_fused_pair pair, enum exp_fused_way way, struct sim_sink *sink)
{
    if (pair == EXP_FUSED_CONV)
        return convolve(s, way, sink);
    normalise(s, way, sink);
    return 0;
}

/* Returns the address of the first page behind this many bytes. */
static uint64_t behind(uint64_t address, uint64_t bytes)
{
    return (address + bytes + CONV_PAGE_BYTES - 1) / CONV_PAGE_BYTES * CONV_PAGE_BYTES;
}

/* Returns the site of replays: the plan's tensors at the usual addresses, the normalised tensors behind. */
static struct site site_of_replay(const struct conv_plan *plan)
{
    struct site s = { .plan = plan,
                      .bind = conv_bind(&plan->layout, CONV_REPLAY_BASE),
                      .bnorm = shape_of(&plan->problem) };
    const uint64_t bytes = (uint64_t)s.bnorm.n * s.bnorm.c * s.bnorm.elems * sizeof(float);

    s.bnorm.in = behind(CONV_REPLAY_BASE, plan->layout.arena_bytes);
    s.bnorm.out = behind(s.bnorm.in, bytes);
    s.bnorm.scale = behind(s.bnorm.out, bytes);
    s.bnorm.shift = behind(s.bnorm.scale, s.bnorm.c * sizeof(float));
    return s;
}

/* ---- a layer while it is timed ---- */

struct bench {
    struct exp_layer_plans planned;
    struct exp_tensors tensors;
    struct site site;
    float *in, *out, *of_channel; /* input and output of normalising; N_STATISTICS numbers of each channel */
    struct exp_dnnl_op *dnnl[EXP_N_FUSED_PAIRS]; /* NULL: there is no oneDNN, or no implementation */
};

/* A contender: a pair in a way. */
struct runner {
    struct bench *bench;
    enum exp_fused_pair pair;
    enum exp_fused_way way;
};

/* ---- tensors ---- */

/* Makes up a trained network's statistics of each channel, and folds the statistics. */
static void make_statistics(struct bench *b, size_t c)
{
    float *number = b->of_channel;
    const struct conv_bnorm_statistics s = { number, number + c, number + 2 * c, number + 3 * c, 1e-5f };

    for (size_t i = 0; i < N_STATISTICS * c; i++)
        number[i] = 0.5f + (float)(i % 7) / 8;
    conv_bnorm_fold(&s, c, number + 4 * c, number + 5 * c);
}

static void open_bnorm(struct bench *b, const struct conv_problem *p)
{
    const size_t n = p->n * p->k * conv_windows(p);

    b->in = exp_polydl_pages(n * sizeof *b->in);
    b->out = exp_polydl_pages(n * sizeof *b->out);
    b->of_channel = exp_polydl_pages(N_STATISTICS * p->k * sizeof(float));
    exp_tensors_fill(b->in, n * sizeof *b->in, 1);
    make_statistics(b, p->k);
    b->site.bnorm.in = (uintptr_t)b->in;
    b->site.bnorm.out = (uintptr_t)b->out;
    b->site.bnorm.scale = (uintptr_t)(b->of_channel + 4 * p->k);
    b->site.bnorm.shift = (uintptr_t)(b->of_channel + 5 * p->k);
}

/* Has oneDNN do both pairs on the bench's tensors. Where oneDNN has no implementation, the pair is left out. */
static int open_dnnl(struct bench *b, const struct exp_dnnl *dnnl, struct exp_why *why)
{
    const struct conv_problem *p = &b->site.plan->problem;
    const uint64_t *at = b->tensors.bind.addr;
    struct exp_why ignored;
    int err;

    if (!dnnl)
        return 0;
    exp_dnnl_open(&b->dnnl[EXP_FUSED_BNORM], dnnl, "bnorm_relu", p, b->in, b->of_channel, b->out, &ignored);
    err = exp_dnnl_open(&b->dnnl[EXP_FUSED_CONV], dnnl, "relu6", p, conv_in_ptr(at[CONV_INPUT]),
                        conv_in_ptr(at[CONV_FILTER]), conv_out_ptr(at[CONV_OUTPUT]), why);
    return err == -ENOTSUP ? 0 : err;
}

static int open(struct bench *b, const struct exp_fused_layer *l, const struct exp_polydl_timing *t,
                struct exp_why *why)
{
    int err = exp_layer_plans_init(&b->planned, t->setup, l->of, &l->shape, "sconv_tuned", why);

    if (err)
        return err;
    b->site = site_of_replay(&exp_layer_plans_case(&b->planned, "sconv_tuned")->plan);
    err = exp_tensors_init(&b->tensors, b->site.plan);
    b->site.bind = b->tensors.bind;
    if (err)
        return err;
    open_bnorm(b, &b->site.plan->problem);
    return open_dnnl(b, t->dnnl, why);
}

static void close(struct bench *b)
{
    for (size_t i = 0; i < EXP_N_FUSED_PAIRS; i++)
        exp_dnnl_close(b->dnnl[i]);
    exp_tensors_release(&b->tensors);
    exp_layer_plans_release(&b->planned);
    free(b->in);
    free(b->out);
    free(b->of_channel);
}

/* ---- running ---- */

static int run(void *ctx)
{
    struct runner *r = ctx;

    if (r->way != EXP_FUSED_ONEDNN)
        return run_way(&r->bench->site, r->pair, r->way, NULL);
    exp_dnnl_run(r->bench->dnnl[r->pair]);
    return 0;
}

static bool is_there(const struct bench *b, enum exp_fused_pair pair, enum exp_fused_way way)
{
    return way != EXP_FUSED_ONEDNN || b->dnnl[pair];
}

/* Compares the outputs of both ways, bit by bit. */
static int check(const struct bench *b, enum exp_fused_pair pair, const struct exp_fused_layer *l, struct exp_why *why)
{
    const float *out = pair == EXP_FUSED_CONV ? conv_in_ptr(b->site.bind.addr[CONV_OUTPUT]) : b->out;
    float *first = exp_new(1, l->output_bytes);
    int err = run_way(&b->site, pair, EXP_FUSED_APART, NULL);

    if (!err) {
        memcpy(first, out, l->output_bytes);
        err = run_way(&b->site, pair, EXP_FUSED_TOGETHER, NULL);
    }
    if (!err && memcmp(first, out, l->output_bytes) != 0)
        err = exp_fail(why, -EILSEQ, "%s %s: %s computes something else when fused", l->of->model, l->of->name,
                       exp_fused_pair_names[pair]);
    free(first);
    return err;
}

/* ---- rounds ---- */

static int time_pair(struct bench *b, enum exp_fused_pair pair, struct exp_fused_layer *l,
                     const struct exp_polydl_timing *t)
{
    const struct exp_watch watch = exp_ruler_watch(t->ruler);
    struct runner runner[EXP_N_FUSED_WAYS];
    struct exp_turn turn[EXP_N_FUSED_WAYS];
    const bool is_long = pair == EXP_FUSED_CONV && l->flops >= long_run_flops; /* check() has run the pair before */
    struct exp_turns turns = { .protocol = { .n_warmups = !is_long,
                                             .rounds = { LEAST_ROUNDS, MOST_ROUNDS, 0 },
                                             .now_ns = ctr_thread_ns,
                                             .wall_ns = ctr_now_ns,
                                             .interrupted = exp_interrupted,
                                             .watch = t->ruler ? &watch : NULL },
                               .most = MOST_ROUNDS };
    size_t n = 0;

    for (enum exp_fused_way w = 0; w < EXP_N_FUSED_WAYS; w++) {
        if (!is_there(b, pair, w))
            continue;
        runner[n] = (struct runner){ b, pair, w };
        turn[n] = (struct exp_turn){ run, &runner[n], is_long ? UINT64_MAX : 0, 1, &l->time[pair][w] };
        n++;
    }
    turns.protocol.rounds.limit_ns = t->budget_ns * n;
    return exp_turns_take(turn, n, &turns, t->ruler);
}

/* Times a single layer: fills its times. Returns 0; -EINTR; -EILSEQ if ways differ; with a line in why. */
static int time_layer(struct exp_fused_layer *l, const struct exp_polydl_timing *t, struct exp_why *why)
{
    struct bench b = { .in = NULL };
    int err = *l->why ? 0 : open(&b, l, t, why);

    for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS && !err && !*l->why; pair++) {
        err = check(&b, pair, l, why);
        if (!err)
            err = time_pair(&b, pair, l, t);
    }
    close(&b);
    return err;
}

/* ---- tasks ---- */

/* The tasks of all layers: equal layers share a task. */
struct work {
    struct exp_fused *of;
    const struct exp_setup *setup;          /* for plans */
    const struct exp_polydl_timing *timing; /* NULL: simulating */
    struct sim_machine alone;
    struct exp_polydl_jobs jobs;
};

static size_t first_same(const struct exp_fused *f, size_t layer)
{
    size_t i = 0;

    while (!conv_problem_equal(&f->layer[i].shape, &f->layer[layer].shape))
        i++;
    return i;
}

enum { NAME_BYTES = 64 };

#define NAME(number, name, meaning) [number] = (name),
static const char *const way_names[EXP_N_FUSED_WAYS] = { EXP_EACH_FUSED_WAY(NAME) };

/* Says the begin of the names of the counts of a pair and a way. */
static const char *prefix_of(char name[NAME_BYTES], enum exp_fused_pair pair, enum exp_fused_way way)
{
    exp_say(name, NAME_BYTES, "%s/%s/", exp_fused_pair_names[pair], way_names[way]);
    return name;
}

/* Moves all times of a layer. */
static void move_layer(struct exp_fused_layer *l, struct exp_result_moving x)
{
    char name[NAME_BYTES];

    for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++) {
        for (enum exp_fused_way way = 0; way < EXP_N_FUSED_WAYS; way++)
            exp_polydl_time_move(&x, prefix_of(name, pair, way), &l->time[pair][way]);
    }
}

static int measure(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct work *w = ctx;
    struct exp_fused_layer *l = &w->of->layer[w->jobs.job[job].layer];
    int err = time_layer(l, w->timing, why);

    (void)pool;
    if (!err)
        move_layer(l, (struct exp_result_moving){ .to = result });
    return err ? err : result->err;
}

static void take_times(void *ctx, size_t task, const struct exp_result *r)
{
    const struct work *w = ctx;

    move_layer(&w->of->layer[w->jobs.job[task].layer], (struct exp_result_moving){ .from = r });
}

/* Simulates a pair in a way, and puts the counts. */
static int simulate_way(const struct work *w, const struct site *site, enum exp_fused_pair pair, enum exp_fused_way way,
                        struct exp_result *result)
{
    struct sim_hierarchy *h = NULL;
    char name[NAME_BYTES];
    int err = exp_interrupted() ? -EINTR : sim_hierarchy_new(&h, &w->alone);

    if (!err)
        err = run_way(site, pair, way, sim_hierarchy_sink(h));
    if (!err) {
        struct sim_cell total = sim_stats_total(sim_hierarchy_stats(h));

        exp_kept_counts_move(&(struct exp_result_moving){ .to = result }, &w->alone, prefix_of(name, pair, way),
                             &total);
    }
    sim_hierarchy_free(h);
    return err;
}

static int simulate(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct work *w = ctx;
    const struct exp_fused_layer *l = &w->of->layer[w->jobs.job[job].layer];
    struct exp_layer_plans planned = { .plans.n_cases = 0 };
    int err = exp_layer_plans_init(&planned, w->setup, l->of, &l->shape, "sconv_tuned", why);

    (void)pool;
    if (!err) {
        const struct site site = site_of_replay(&exp_layer_plans_case(&planned, "sconv_tuned")->plan);

        for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++) {
            for (enum exp_fused_way way = 0; way < EXP_FUSED_ONEDNN && !err; way++)
                err = simulate_way(w, &site, pair, way, result);
        }
    }
    exp_layer_plans_release(&planned);
    return err == -EINVAL ? exp_fail(why, err, "the simulator refuses this machine") : err;
}

static void take_cells(void *ctx, size_t task, const struct exp_result *r)
{
    const struct work *w = ctx;
    struct exp_fused_layer *l = &w->of->layer[w->jobs.job[task].layer];
    struct exp_result_moving x = { .from = r };
    char name[NAME_BYTES];

    for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++) {
        for (enum exp_fused_way way = 0; way < EXP_FUSED_ONEDNN; way++)
            exp_kept_counts_move(&x, &w->alone, prefix_of(name, pair, way), &l->simulated[pair][way]);
    }
}

/* Writes the shape and the plan, if there is a plan: else the task will say why not. From malloc. */
static char *what_of(const struct work *w, const struct exp_fused_layer *l)
{
    struct exp_layer_plans planned = { .plans.n_cases = 0 };
    char plan[EXP_PLAN_TEXT_BYTES] = "", shape[512] = "";
    struct exp_why why;

    if (!exp_layer_plans_init(&planned, w->setup, l->of, &l->shape, "sconv_tuned", &why))
        exp_plan_text(&exp_layer_plans_case(&planned, "sconv_tuned")->plan, plan);
    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        exp_say_more(shape, sizeof shape, " %s=%zu", conv_fields[i].name, conv_field(&l->shape, i));
    exp_layer_plans_release(&planned);
    return exp_format("conv%s; %s", shape, plan);
}

/* Does the work of a kind, and gives equal layers equal results. */
static int run_all(struct work *w, struct exp_tasks t, const char *setting, const struct exp_tasks_options *o,
                   struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct exp_fused *f = w->of;
    int err;

    t.ctx = w;
    for (size_t i = 0; i < f->n_layers; i++) {
        const struct exp_fused_layer *l = &f->layer[i];

        if (first_same(f, i) == i && !(w->timing && *l->why))
            exp_polydl_jobs_add(&w->jobs, (struct exp_polydl_job){ .layer = i },
                                (struct exp_task){ .kind = t.doing,
                                                   .name = exp_format("%s %s", l->of->model, l->of->name),
                                                   .what = what_of(w, l),
                                                   .setting = setting });
    }
    err = exp_polydl_jobs_run(&w->jobs, t, o, counts, why);
    for (size_t i = 0; i < f->n_layers; i++) {
        const struct exp_fused_layer *from = &f->layer[first_same(f, i)];

        memmove(f->layer[i].time, from->time, sizeof from->time);
        memmove(f->layer[i].simulated, from->simulated, sizeof from->simulated);
    }
    return err;
}

/* Returns how long a layer takes on a usual computer; without timing, to simulate. */
static double layer_seconds(const struct exp_fused_layer *l, const struct exp_polydl_timing *t)
{
    const double least = 1e-9 + l->flops / 2 * 2e-11 * 10;
    const double budget = t ? (double)t->budget_ns * 1e-9 * EXP_N_FUSED_WAYS : 0;

    return t ? (budget > least ? budget : least) * EXP_N_FUSED_PAIRS : 1e-10 * l->flops;
}

static double job_seconds(void *ctx, size_t job)
{
    const struct work *w = ctx;

    return layer_seconds(&w->of->layer[w->jobs.job[job].layer], w->timing);
}

double exp_fused_seconds(const struct exp_fused *f, const struct exp_polydl_timing *t)
{
    double sum = 0;

    for (size_t i = 0; i < f->n_layers; i++)
        sum += first_same(f, i) == i ? layer_seconds(&f->layer[i], t) : 0;
    return sum;
}

int exp_fused_measure(struct exp_fused *f, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                      struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct work w = { .of = f, .setup = t->setup, .timing = t };
    const struct exp_tasks tasks = { .work = EXP_WORK_ROUNDS,
                                     .doing = "timing fused operators",
                                     .run = measure,
                                     .take = take_times,
                                     .seconds = job_seconds };
    struct exp_tasks_options one = *o;
    char *computer, *setting;
    int err = exp_polydl_computer(&computer, why);

    setting = exp_format("%s; %" PRIu64 " ns", computer, t->budget_ns);
    one.n_threads = 1;
    if (!err)
        err = run_all(&w, tasks, setting, &one, counts, why);
    free(setting);
    free(computer);
    return err;
}

int exp_fused_simulate(struct exp_fused *f, const struct exp_setup *setup, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct work w = { .of = f, .setup = setup, .alone = sim_machine_caches_alone(f->machine) };
    const struct exp_tasks tasks = { .work = EXP_WORK_REPLAY,
                                     .doing = "simulating fused operators",
                                     .run = simulate,
                                     .take = take_cells,
                                     .seconds = job_seconds };
    char *setting = exp_kept_counts_setting(&w.alone);
    int err = run_all(&w, tasks, setting, o, counts, why);

    free(setting);
    return err;
}
