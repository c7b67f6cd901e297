#include "experiments/polydl/fused/exp_fused.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/polydl/time/exp_baselines.h"
#include "experiments/replay/exp_quantity.h"
#include "experiments/setup/exp_case.h"
#include "experiments/store/exp_tasks.h"
#include "sim/hierarchy.h"
#include "sim/machine/machine_here.h"

/* The tasks of all layers: one each, but for layers that are the same. */
struct work {
    struct exp_fused *of;
    const struct exp_setup *setup;         /* that plans */
    const struct exp_fused_timing *timing; /* NULL: simulating */
    struct sim_machine alone;
    char *setting;
    struct exp_task_list list;
    size_t *layer; /* of each task */
};

static bool are_same(const struct exp_fused_layer *a, const struct exp_fused_layer *b)
{
    return conv_problem_equal(&a->shape, &b->shape);
}

static size_t first_same(const struct exp_fused *f, size_t layer)
{
    size_t i = 0;

    while (!are_same(&f->layer[i], &f->layer[layer]))
        i++;
    return i;
}

/* ---- counts by name ---- */

enum { NAME_BYTES = 64 };

static void say_prefix(char name[NAME_BYTES], enum exp_fused_pair pair, enum exp_fused_way way)
{
    exp_say(name, NAME_BYTES, "%s/%s/", exp_fused_pair_name(pair), exp_fused_way_name(way));
}

/* Calls fn for every pair and way, up to a way. */
static void for_each(enum exp_fused_way end, void *ctx,
                     void (*fn)(void *ctx, enum exp_fused_pair pair, enum exp_fused_way way, const char *prefix))
{
    for (enum exp_fused_pair pair = 0; pair < EXP_N_FUSED_PAIRS; pair++) {
        for (enum exp_fused_way way = 0; way < end; way++) {
            char prefix[NAME_BYTES];

            say_prefix(prefix, pair, way);
            fn(ctx, pair, way, prefix);
        }
    }
}

/* ---- times ---- */

struct kept_times {
    struct exp_result *put;
    const struct exp_result *get;
    struct exp_polydl_time (*time)[EXP_N_FUSED_WAYS];
};

static const char *count_name(char name[2 * NAME_BYTES], const char *prefix, const char *count)
{
    exp_say(name, 2 * NAME_BYTES, "%s%s", prefix, count);
    return name;
}

static void put_time(void *ctx, enum exp_fused_pair pair, enum exp_fused_way way, const char *prefix)
{
    const struct kept_times *k = ctx;
    const struct exp_polydl_time *t = &k->time[pair][way];
    char name[2 * NAME_BYTES];

    if (!t->n_rounds)
        return;
    exp_result_put(k->put, count_name(name, prefix, "rounds"), t->n_rounds);
    exp_result_put(k->put, count_name(name, prefix, "fastest_ns"), (uint64_t)t->fastest_ns);
    exp_result_put(k->put, count_name(name, prefix, "median_ns"), (uint64_t)t->median_ns);
}

static void get_time(void *ctx, enum exp_fused_pair pair, enum exp_fused_way way, const char *prefix)
{
    const struct kept_times *k = ctx;
    uint64_t rounds, fastest, median;
    char name[2 * NAME_BYTES];

    exp_result_get(k->get, count_name(name, prefix, "rounds"), &rounds);
    exp_result_get(k->get, count_name(name, prefix, "fastest_ns"), &fastest);
    exp_result_get(k->get, count_name(name, prefix, "median_ns"), &median);
    k->time[pair][way] =
        (struct exp_polydl_time){ .n_rounds = rounds, .fastest_ns = (double)fastest, .median_ns = (double)median };
}

static int measure(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct work *w = ctx;
    struct exp_fused_layer l = w->of->layer[w->layer[job]];
    struct kept_times k = { .put = result, .time = l.time };
    int err = exp_fused_time(&l, w->timing, why);

    (void)pool;
    if (!err)
        for_each(EXP_N_FUSED_WAYS, &k, put_time);
    return err ? err : result->err;
}

static int take_times(void *ctx, size_t task, const struct exp_result *r)
{
    const struct work *w = ctx;
    struct kept_times k = { .get = r, .time = w->of->layer[w->layer[task]].time };

    for_each(EXP_N_FUSED_WAYS, &k, get_time);
    return 0;
}

/* ---- simulations ---- */

struct kept_cells {
    const struct sim_machine *machine;
    struct exp_result *put;
    const struct exp_result *get;
    const struct exp_fused_site *site;
    struct sim_cell (*cell)[EXP_FUSED_ONEDNN];
    size_t at;
    int err;
};

/* Simulates, and puts what of it is counted. */
static void put_cell(void *ctx, enum exp_fused_pair pair, enum exp_fused_way way, const char *prefix)
{
    struct kept_cells *k = ctx;
    struct sim_hierarchy *h = NULL;

    if (!k->err && exp_interrupted())
        k->err = -EINTR;
    if (!k->err)
        k->err = sim_hierarchy_new(&h, k->machine);
    if (!k->err)
        k->err = exp_fused_run(k->site, pair, way, sim_hierarchy_sink(h));
    if (!k->err) {
        const struct sim_cell total = sim_stats_total(sim_hierarchy_stats(h));

        exp_kept_counts_put(k->put, k->machine, prefix, &total);
    }
    sim_hierarchy_free(h);
}

static void get_cell(void *ctx, enum exp_fused_pair pair, enum exp_fused_way way, const char *prefix)
{
    struct kept_cells *k = ctx;

    exp_kept_counts_get(k->get, k->machine, prefix, &k->cell[pair][way], &k->at);
}

static int simulate(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct work *w = ctx;
    struct exp_layer_plans planned = { .plans.n_cases = 0 };
    struct kept_cells k = { .machine = &w->alone, .put = result };
    const struct exp_fused_layer *l = &w->of->layer[w->layer[job]];
    int err = exp_layer_plans_init(&planned, w->setup, l->of, &l->shape, "sconv_tuned", why);

    (void)pool;
    if (!err) {
        const struct exp_fused_site site = exp_fused_synthetic(&exp_layer_plans_case(&planned, "sconv_tuned")->plan);

        k.site = &site;
        for_each(EXP_FUSED_ONEDNN, &k, put_cell);
        err = k.err;
    }
    exp_layer_plans_release(&planned);
    return err == -EINVAL ? exp_fail(why, err, "the simulator refuses this machine") : err;
}

static int take_cells(void *ctx, size_t task, const struct exp_result *r)
{
    const struct work *w = ctx;
    struct kept_cells k = { .machine = &w->alone, .get = r, .cell = w->of->layer[w->layer[task]].simulated };

    for_each(EXP_FUSED_ONEDNN, &k, get_cell);
    return 0;
}

/* ---- the tasks ---- */

/* Writes the shape and its plan; from malloc, NULL when out of memory or if there is no plan. */
static char *what_of(const struct work *w, const struct exp_fused_layer *l)
{
    struct exp_layer_plans planned = { .plans.n_cases = 0 };
    char plan[EXP_PLAN_TEXT_BYTES], shape[512] = "", *text = NULL;
    struct exp_why why;

    if (!exp_layer_plans_init(&planned, w->setup, l->of, &l->shape, "sconv_tuned", &why)) {
        exp_plan_text(&exp_layer_plans_case(&planned, "sconv_tuned")->plan, plan);
        for (size_t i = 0; i < CONV_N_FIELDS; i++)
            exp_say_more(shape, sizeof shape, " %s=%zu", conv_fields[i].name, conv_field(&l->shape, i));
        text = exp_format("conv%s; %s", shape, plan);
    }
    exp_layer_plans_release(&planned);
    return text;
}

static int list_tasks(struct work *w, const char *kind)
{
    for (size_t i = 0; i < w->of->n_layers; i++) {
        const struct exp_fused_layer *l = &w->of->layer[i];
        int err;

        if (first_same(w->of, i) != i || (w->timing && *l->why_not))
            continue;
        w->layer[w->list.n] = i;
        err = exp_task_list_add(&w->list, &(struct exp_task){ .kind = kind,
                                                              .name = exp_format("%s %s", l->of->model, l->of->name),
                                                              .what = what_of(w, l),
                                                              .setting = w->setting,
                                                              .program = exp_store_program() });
        if (err)
            return err;
    }
    return 0;
}

static int begin(struct work *w, const char *kind)
{
    w->layer = calloc(w->of->n_layers + 1, sizeof *w->layer);
    return exp_task_list_init(&w->list, w->of->n_layers) || !w->setting || !w->layer ? -ENOMEM : list_tasks(w, kind);
}

static void end(struct work *w)
{
    exp_task_list_release(&w->list);
    free(w->layer);
    free(w->setting);
}

/* Says on which computer times are taken, and how; from malloc, NULL when out of memory. */
static char *times_setting(const struct exp_fused_timing *t)
{
    struct sim_here host;
    char name[128] = "", why[256];

    gethostname(name, sizeof name - 1);
    return exp_format("%s, %s; %" PRIu64 " ns", name, sim_here_look(&host, why, sizeof why) ? "" : host.cpu.name,
                      t->budget_ns);
}

static double measure_seconds(void *ctx, size_t job)
{
    const struct work *w = ctx;
    const double macs = w->of->layer[w->layer[job]].flops / 2, least = 1e-9 + macs * 2e-11 * 10;
    const double budget = (double)w->timing->budget_ns * 1e-9 * EXP_N_FUSED_WAYS;

    return (budget > least ? budget : least) * EXP_N_FUSED_PAIRS;
}

static double simulate_seconds(void *ctx, size_t job)
{
    const struct work *w = ctx;

    return 1e-10 * w->of->layer[w->layer[job]].flops;
}

/* Does the work of a kind on so many threads, and gives layers that are the same the same results. */
static int run_all(struct work *w, struct exp_tasks *t, const struct exp_tasks_options *o,
                   struct exp_tasks_counts *counts, struct exp_why *why)
{
    int err = begin(w, t->doing);

    t->task = w->list.task;
    t->first = w->list.first;
    t->n_jobs = w->list.n;
    t->ctx = w;
    if (!err)
        err = exp_tasks_run(t, o, counts, why);
    else
        exp_fail(why, err, "out of memory for fused operators");
    for (size_t i = 0; i < w->of->n_layers && !err; i++) {
        const struct exp_fused_layer *from = &w->of->layer[first_same(w->of, i)];
        struct exp_fused_layer *to = &w->of->layer[i];

        memmove(to->time, from->time, sizeof to->time);
        memmove(to->simulated, from->simulated, sizeof to->simulated);
    }
    end(w);
    return err;
}

int exp_fused_measure(struct exp_fused *f, const struct exp_fused_timing *t, const struct exp_tasks_options *o,
                      struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct work w = { .of = f, .setup = t->setup, .timing = t, .setting = times_setting(t) };
    struct exp_tasks tasks = { .work = EXP_WORK_ROUNDS,
                               .doing = "timing fused operators",
                               .run = measure,
                               .take = take_times,
                               .seconds = measure_seconds };
    struct exp_tasks_options one = *o;

    one.n_threads = 1;
    return run_all(&w, &tasks, &one, counts, why);
}

int exp_fused_simulate(struct exp_fused *f, const struct exp_setup *setup, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct work w = { .of = f, .setup = setup, .alone = sim_machine_caches_alone(f->machine) };
    struct exp_tasks tasks = { .work = EXP_WORK_REPLAY,
                               .doing = "simulating fused operators",
                               .run = simulate,
                               .take = take_cells,
                               .seconds = simulate_seconds };

    w.setting = exp_kept_counts_setting(&w.alone);
    return run_all(&w, &tasks, o, counts, why);
}

/* Adds up what the jobs of all layers take. */
static double sum(struct work *w, double (*seconds)(void *ctx, size_t job))
{
    double total = 0;

    w->layer = calloc(1, sizeof *w->layer);
    for (size_t i = 0; i < w->of->n_layers && w->layer; i++) {
        w->layer[0] = i;
        total += first_same(w->of, i) == i ? seconds(w, 0) : 0;
    }
    free(w->layer);
    return total;
}

double exp_fused_measure_seconds(const struct exp_fused *f, const struct exp_fused_timing *t)
{
    return sum(&(struct work){ .of = (struct exp_fused *)f, .timing = t }, measure_seconds);
}

double exp_fused_simulate_seconds(const struct exp_fused *f)
{
    return sum(&(struct work){ .of = (struct exp_fused *)f }, simulate_seconds);
}
