/* Times and simulations as tasks: times a layer each, simulations a variant on a machine each. */
#include "experiments/papers/polydl/time/time.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/bench/case/estimate.h"
#include "experiments/bench/replay/quantity.h"
#include "experiments/papers/polydl/analysis/analysis.h"
#include "experiments/papers/polydl/analysis/walk.h"
#include "sim/hierarchy.h"
#include "sim/machine/machine_here.h"

/* ---- layers in words: everything that decides a result ---- */

static bool is_same_source(const struct exp_variant_source *a, const struct exp_variant_source *b)
{
    if (!a->problem != !b->problem)
        return false;
    if (a->problem)
        return a->block == b->block && conv_problem_equal(a->problem, b->problem);
    return a->gemm.m == b->gemm.m && a->gemm.n == b->gemm.n && a->gemm.k == b->gemm.k;
}

/* Tells whether two layers have equal variants of equal shapes. */
static bool are_same(const struct exp_polydl_layer *a, const struct exp_polydl_layer *b)
{
    bool is_same = is_same_source(&a->source, &b->source) && a->variants.n == b->variants.n;

    for (size_t i = 0; i < a->variants.n && is_same; i++)
        is_same = !strcmp(a->variants.variant[i].name, b->variants.variant[i].name);
    return is_same;
}

/* Returns the first layer that equals a layer, or the layer itself. */
static size_t first_same(const struct exp_polydl *p, size_t layer)
{
    size_t i = 0;

    while (!are_same(&p->layer[i], &p->layer[layer]))
        i++;
    return i;
}

/* Writes shape, block and micro-kernel, and the variant or all variants (NULL); from malloc. */
static char *text_of(const struct exp_polydl_layer *l, const struct exp_variant *v, const char *micro_kernel)
{
    const struct exp_gemm *g = &l->source.gemm;
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    if (l->source.problem)
        exp_problem_print(l->source.problem, out);
    else
        fprintf(out, "gemm m=%" PRIu64 " n=%" PRIu64 " k=%" PRIu64 " ", g->m, g->n, g->k);
    fprintf(out, "block=%" PRIu64 "; %s", l->source.block, micro_kernel);
    for (size_t i = 0; i < l->variants.n && !v; i++)
        fprintf(out, "; %s", l->variants.variant[i].name);
    if (v)
        fprintf(out, "; %s", v->name);
    fclose(out);
    return text;
}

/* ---- jobs ---- */

void exp_polydl_jobs_add(struct exp_polydl_jobs *l, struct exp_polydl_job job, struct exp_task task)
{
    assert(task.name && task.what);
    task.program = exp_store_program();
    *(struct exp_task *)exp_append(&l->task, &l->n, sizeof task) = task;
    *(struct exp_polydl_job *)exp_append(&l->job, &l->n_jobs, sizeof job) = job;
}

int exp_polydl_jobs_run(struct exp_polydl_jobs *l, struct exp_tasks tasks, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why)
{
    int err;

    tasks.task = l->task;
    tasks.n_jobs = l->n;
    err = exp_tasks_run(&tasks, o, counts, why);
    for (size_t i = 0; i < l->n; i++) {
        free((char *)l->task[i].name);
        free((char *)l->task[i].what);
    }
    free(l->task);
    free(l->job);
    return err;
}

/* ---- times ---- */

enum { NAME_BYTES = 64 };

void exp_polydl_time_move(struct exp_result_moving *x, const char *prefix, struct exp_polydl_time *t)
{
    static const char *const names[] = { "rounds", "fastest_ns", "median_ns", "half1_ns", "half2_ns" };
    double rounds = (double)t->n_rounds;
    double *const value[] = { &rounds, &t->fastest_ns, &t->median_ns, &t->half_ns[0], &t->half_ns[1] };
    char name[NAME_BYTES];

    for (size_t i = 0; i < sizeof names / sizeof names[0] && (x->from || t->n_rounds); i++) {
        uint64_t count = (uint64_t)*value[i];

        exp_say(name, sizeof name, "%s%s", prefix, names[i]);
        exp_result_move(x, name, &count);
        *value[i] = (double)count;
    }
    t->n_rounds = (size_t)rounds;
}

int exp_polydl_computer(char **text, struct exp_why *why)
{
    struct sim_here host;
    char name[128] = "";
    int err = sim_here_look(&host, SIM_WHY(why->text));

    gethostname(name, sizeof name - 1);
    *text = exp_format("%s, %s", name, err ? "" : host.cpu.name);
    return err;
}

/* The work of tasks: times, or simulations. */
struct work {
    struct exp_polydl *of;
    const struct exp_polydl_timing *timing;
    const struct conv_small *small;
    struct sim_machine machine[EXP_N_POLYDL_REPLAYS];
    struct exp_polydl_jobs jobs;
};

/* Moves all times of a layer. */
static void move_layer(struct exp_polydl_layer *l, struct exp_result_moving x)
{
    static const char *const threads_names[EXP_N_POLYDL_THREADS] = { "one", "two" };
    char prefix[NAME_BYTES];

    for (size_t i = 0; i < l->variants.n * EXP_N_POLYDL_THREADS; i++) {
        const size_t variant = i / EXP_N_POLYDL_THREADS, threads = i % EXP_N_POLYDL_THREADS;

        exp_say(prefix, sizeof prefix, "%s%zu.", threads_names[threads], variant);
        exp_polydl_time_move(&x, prefix, &l->of[variant].time[threads]);
    }
    for (size_t b = 0; b < EXP_N_POLYDL_BASELINES; b++) {
        exp_say(prefix, sizeof prefix, "baseline%zu.", b);
        exp_polydl_time_move(&x, prefix, &l->baseline[b]);
    }
}

static int measure(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct work *m = ctx;
    struct exp_polydl_layer *l = &m->of->layer[m->jobs.job[job].layer];
    int err = exp_polydl_time(l, m->timing, why);

    (void)pool;
    if (!err)
        move_layer(l, (struct exp_result_moving){ .to = result });
    return err ? err : result->err;
}

static void take_times(void *ctx, size_t task, const struct exp_result *r)
{
    const struct work *m = ctx;

    move_layer(&m->of->layer[m->jobs.job[task].layer], (struct exp_result_moving){ .from = r });
}

static double measure_seconds(void *ctx, size_t job)
{
    const struct work *m = ctx;

    return exp_polydl_time_seconds(&m->of->layer[m->jobs.job[job].layer], m->timing);
}

int exp_polydl_measure(struct exp_polydl *p, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct work m = { .of = p, .timing = t };
    const struct exp_tasks tasks = { .work = EXP_WORK_ROUNDS,
                                     .doing = "timing",
                                     .run = measure,
                                     .take = take_times,
                                     .seconds = measure_seconds,
                                     .ctx = &m };
    struct exp_tasks_options one = *o;
    char *computer, *setting;
    int err = exp_polydl_computer(&computer, why);

    setting = exp_format("%s; %u threads; %" PRIu64 " ns, leaders %" PRIu64 " ns; slices of what is slow", computer,
                         t->n_threads, t->budget_ns, t->refine_ns);
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        if (l->variants.n && first_same(p, i) == i)
            exp_polydl_jobs_add(&m.jobs, (struct exp_polydl_job){ .layer = i },
                                (struct exp_task){ .kind = "time",
                                                   .name = exp_format("%s %s", l->model, l->name),
                                                   .what = text_of(l, NULL, t->uses_xsmm ? "libxsmm" : t->small->name),
                                                   .setting = setting });
    }
    one.n_threads = 1;
    if (!err)
        err = exp_polydl_jobs_run(&m.jobs, tasks, &one, counts, why);
    for (size_t i = 0; i < p->n_layers && !err; i++) {
        const struct exp_polydl_layer *from = &p->layer[first_same(p, i)];
        struct exp_polydl_layer *to = &p->layer[i];

        for (size_t v = 0; v < to->variants.n; v++)
            memmove(to->of[v].time, from->of[v].time, sizeof to->of[v].time);
        memmove(to->baseline, from->baseline, sizeof to->baseline);
    }
    free(setting);
    free(computer);
    return err;
}

/* ---- simulations ---- */

#define DURATION "simulated_ns"
#define CALLS "simulated_calls" /* of the micro-kernel */

/*
 * The first calls with this many multiply-adds are simulated; of most layers these are all calls. Prefetchers'
 * behaviour repeats soon, and takes seven times as long to simulate.
 */
static const uint64_t most_macs[EXP_N_POLYDL_REPLAYS] = { 1000000000, 125000000 };

struct stopping {
    const struct exp_pool *pool;
    uint64_t calls, most_calls;
};

/* Looks at the pool now and then, before calls of a micro-kernel. */
static bool stops(void *ctx)
{
    struct stopping *s = ctx;

    if (s->calls == s->most_calls || (s->calls % 1024 == 0 && (exp_interrupted() || exp_pool_stopped(s->pool))))
        return true;
    s->calls++;
    return false;
}

/* Prepares the walk of a variant. Returns the number of simulated calls. */
static uint64_t prepare(const struct work *s, const struct exp_polydl_job *x, struct exp_walk *w)
{
    const struct exp_variant *v = &s->of->layer[x->layer].variants.variant[x->variant];
    uint64_t base[EXP_N_OPERANDS], most, all;

    exp_operands_replayed(v, base);
    exp_walk_init(w, v, base);
    most = most_macs[x->replay] / (w->first.m * w->first.n * w->first.k);
    all = exp_walk_calls(w);
    return most >= all ? all : most ? most : 1;
}

static int replay(const struct work *s, const struct exp_polydl_job *x, struct sim_hierarchy *h,
                  const struct exp_pool *pool, uint64_t *calls)
{
    struct exp_walk w;
    struct stopping stopping = { .pool = pool, .most_calls = prepare(s, x, &w) };
    int err = exp_walk_replay(&w, 1, s->small, sim_hierarchy_sink(h), stops, &stopping);

    *calls = stopping.calls;
    return stopping.calls == stopping.most_calls ? 0 : err;
}

static int simulate(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct work *s = ctx;
    const struct exp_polydl_job *x = &s->jobs.job[job];
    const uint64_t begin = ctr_thread_ns();
    struct sim_hierarchy *h = NULL;
    uint64_t calls;
    int err = sim_hierarchy_new(&h, &s->machine[x->replay]);

    if (!err)
        err = replay(s, x, h, pool, &calls);
    if (!err)
        err = sim_hierarchy_error(h);
    if (!err) {
        struct sim_cell total = sim_stats_total(sim_hierarchy_stats(h));

        exp_kept_counts_move(&(struct exp_result_moving){ .to = result }, &s->machine[x->replay], "", &total);
        exp_result_put(result, CALLS, calls);
        exp_result_put(result, DURATION, ctr_thread_ns() - begin);
    }
    sim_hierarchy_free(h);
    return err == -EINVAL ? exp_fail(why, err, "the simulator refuses this machine") : err;
}

/* Returns the cycles to move all lines that come into a level or leave the level. */
static double moving_cycles(const struct sim_machine *m, const struct sim_cell *total)
{
    const struct exp_sources from = exp_sources_of(m, 1);
    double sum = 0;

    for (size_t i = 0; i < m->n_levels; i++) {
        const struct sim_level_counts *l = &total->level[i];

        sum += (double)((l->lines_in + l->write_backs) * m->level[i].line_bytes) / from.source[i + 1].bandwidth;
    }
    return sum;
}

/* Estimates the cycles: all work is of the micro-kernel's phase. */
static void estimate(const struct work *s, const struct exp_polydl_layer *l, struct exp_polydl_simulated *to)
{
    const struct sim_machine *m = s->of->machine;
    struct sim_cell phase[CONV_N_PHASES] = { [CONV_PHASE_UKR] = to->total };
    const double macs_each = (double)m->issue.mac_rows * (double)m->issue.mac_columns;
    struct exp_estimate e;

    to->cycles = to->traffic_cycles = (double)NAN;
    if (exp_estimate_why_not(m))
        return;
    e = exp_estimate_phases(m, phase, (uint64_t)(l->flops / 2 / macs_each));
    to->cycles = e.total_cycles;
    to->traffic_cycles = e.issue_cycles + moving_cycles(m, &to->total);
}

/* Scales counts of a share of the calls to all calls. */
static void scale(struct sim_cell *cell, double share)
{
    uint64_t count[sizeof *cell / sizeof(uint64_t)];

    _Static_assert(sizeof *cell % sizeof(uint64_t) == 0, "a cell is counts");
    memcpy(count, cell, sizeof *cell);
    for (size_t i = 0; i < sizeof *cell / sizeof(uint64_t); i++)
        count[i] = (uint64_t)((double)count[i] / share + 0.5);
    memcpy(cell, count, sizeof *cell);
}

static void take_counts(void *ctx, size_t task, const struct exp_result *r)
{
    const struct work *s = ctx;
    const struct exp_polydl_job *x = &s->jobs.job[task];
    struct exp_polydl_layer *l = &s->of->layer[x->layer];
    struct exp_polydl_simulated *to = &l->of[x->variant].simulated[x->replay];
    struct exp_walk w;
    uint64_t ns, calls;

    exp_kept_counts_move(&(struct exp_result_moving){ .from = r }, &s->machine[x->replay], "", &to->total);
    exp_result_get(r, CALLS, &calls);
    exp_result_get(r, DURATION, &ns);
    prepare(s, x, &w);
    to->share = (double)calls / (double)exp_walk_calls(&w);
    if (to->share < 1)
        scale(&to->total, to->share);
    to->seconds = (double)ns / 1e9;
    estimate(s, l, to);
    to->is_known = true;
}

/* A multiply-add takes this long: through caches alone, and with prefetchers. */
static const double mac_seconds[EXP_N_POLYDL_REPLAYS] = { 2.6e-10, 1.6e-9 };

/* Returns how long a variant of a layer takes. */
static double variant_seconds(const struct exp_polydl_layer *l, enum exp_polydl_replay replay)
{
    return mac_seconds[replay] * fmin(l->flops / 2, (double)most_macs[replay]);
}

static double simulate_seconds(void *ctx, size_t job)
{
    const struct work *s = ctx;
    const struct exp_polydl_job *x = &s->jobs.job[job];

    return variant_seconds(&s->of->layer[x->layer], x->replay);
}

/* Adds the replays of a layer's variants through a machine. */
static void add_replays(struct work *s, size_t layer, enum exp_polydl_replay replay, const char *setting)
{
    const struct exp_polydl_layer *l = &s->of->layer[layer];

    for (size_t i = 0; i < l->variants.n; i++) {
        const struct exp_variant *v = &l->variants.variant[i];
        char *what = text_of(l, v, s->small->name);

        if (l->flops / 2 > (double)most_macs[replay]) {
            char *all = what;

            what = exp_format("%s; the first %" PRIu64 " multiply-adds", all, most_macs[replay]);
            free(all);
        }
        exp_polydl_jobs_add(&s->jobs, (struct exp_polydl_job){ layer, i, replay },
                            (struct exp_task){ .kind = "replay",
                                               .name = exp_format("%s %s '%s'", l->model, l->name, v->name),
                                               .what = what,
                                               .setting = setting });
    }
}

/* Gives equal layers equal counts, and a machine of caches alone both kinds of counts. */
static void copy_counts(struct exp_polydl *p, bool is_plain)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *from = &p->layer[first_same(p, i)];

        for (size_t v = 0; v < from->variants.n; v++) {
            struct exp_polydl_simulated *x = p->layer[i].of[v].simulated;

            memmove(x, from->of[v].simulated, sizeof from->of[v].simulated);
            if (is_plain)
                x[EXP_POLYDL_WHOLE] = x[EXP_POLYDL_ALONE];
        }
    }
}

int exp_polydl_simulate(struct exp_polydl *p, const struct conv_small *small, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct work s = { .of = p, .small = small, .machine = { sim_machine_caches_alone(p->machine), *p->machine } };
    const struct exp_tasks tasks = { .work = EXP_WORK_REPLAY,
                                     .doing = "simulating",
                                     .run = simulate,
                                     .take = take_counts,
                                     .seconds = simulate_seconds,
                                     .ctx = &s };
    char *alone = exp_kept_counts_setting(&s.machine[EXP_POLYDL_ALONE]),
         *whole = exp_kept_counts_setting(&s.machine[EXP_POLYDL_WHOLE]);
    const bool is_plain = !strcmp(alone, whole);
    int err;

    for (enum exp_polydl_replay replay = 0; replay < (is_plain ? 1 : EXP_N_POLYDL_REPLAYS); replay++) {
        for (size_t i = 0; i < p->n_layers; i++) {
            if (first_same(p, i) == i)
                add_replays(&s, i, replay, replay == EXP_POLYDL_ALONE ? alone : whole);
        }
    }
    err = exp_polydl_jobs_run(&s.jobs, tasks, o, counts, why);
    if (!err)
        copy_counts(p, is_plain);
    free(alone);
    free(whole);
    return err;
}

double exp_polydl_seconds(const struct exp_polydl *p, const struct exp_polydl_timing *t)
{
    const bool has_whole = !sim_machine_is_plain(p->machine);
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];
        const double whole = has_whole ? variant_seconds(l, EXP_POLYDL_WHOLE) : 0;

        if (!l->variants.n || first_same(p, i) != i)
            continue;
        sum +=
            t ? exp_polydl_time_seconds(l, t) : (double)l->variants.n * (variant_seconds(l, EXP_POLYDL_ALONE) + whole);
    }
    return sum;
}
