/* Simulations as tasks, a variant on a machine each. */
#include "experiments/polydl/time/exp_polydl_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/polydl/analysis/exp_walk.h"
#include "experiments/polydl/analysis/exp_working_sets.h"
#include "experiments/polydl/exp_polydl.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/replay/exp_quantity.h"
#include "experiments/store/exp_tasks.h"
#include "sim/hierarchy.h"

#define DURATION "simulated_ns"
#define CALLS "simulated_calls" /* of the micro-kernel */

/*
 * The calls from the first on that have so many multiply-adds are simulated; of most layers these are all. What prefetchers
 * do repeats soon, and simulating it takes seven times as long.
 */
static const uint64_t most_macs[EXP_N_POLYDL_REPLAYS] = { 1000000000, 125000000 };

/* Names what a task simulates. */
struct simulation {
    size_t layer, variant;
    enum exp_polydl_replay replay;
};

struct simulating {
    struct exp_polydl *of;
    const struct conv_small *small;
    struct sim_machine machine[EXP_N_POLYDL_REPLAYS];
    char *setting[EXP_N_POLYDL_REPLAYS];
    size_t n_replays; /* 1: the machine is its caches alone */
    struct exp_task_list list;
    struct simulation *simulation; /* of each task */
};

/* ---- the work ---- */

struct stopping {
    const struct exp_pool *pool;
    uint64_t calls, most_calls;
};

/* Asked before each call of a micro-kernel, it looks at the pool now and then. */
static bool stops(void *ctx)
{
    struct stopping *s = ctx;

    if (s->calls == s->most_calls || (s->calls % 1024 == 0 && (exp_interrupted() || exp_pool_stopped(s->pool))))
        return true;
    s->calls++;
    return false;
}

/* Prepares the walk of a variant. Returns how many of its calls are simulated. */
static uint64_t prepare(const struct simulating *s, const struct simulation *x, struct exp_walk *w)
{
    const struct exp_variant *v = &s->of->layer[x->layer].variants.variant[x->variant];
    uint64_t base[EXP_N_OPERANDS], most, all;

    exp_operands_replayed(v, base);
    exp_walk_init(w, v, base);
    most = most_macs[x->replay] / (w->first.m * w->first.n * w->first.k);
    all = exp_walk_calls(w);
    return most >= all ? all : most ? most : 1;
}

static int replay(const struct simulating *s, const struct simulation *x, struct sim_hierarchy *h,
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
    const struct simulating *s = ctx;
    const struct simulation *x = &s->simulation[job];
    const uint64_t begin = ctr_thread_ns();
    struct sim_hierarchy *h = NULL;
    uint64_t calls;
    int err = sim_hierarchy_new(&h, &s->machine[x->replay]);

    if (!err)
        err = replay(s, x, h, pool, &calls);
    if (!err)
        err = sim_hierarchy_error(h);
    if (!err) {
        const struct sim_cell total = sim_stats_total(sim_hierarchy_stats(h));

        exp_kept_counts_put(result, &s->machine[x->replay], "", &total);
        exp_result_put(result, CALLS, calls);
        exp_result_put(result, DURATION, ctr_thread_ns() - begin);
    }
    sim_hierarchy_free(h);
    return err == -EINVAL ? exp_fail(why, err, "the simulator refuses this machine") : err;
}

/* Returns the cycles in which all lines move that come into a level or leave it. */
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

/* Estimates the cycles: all of it is the micro-kernel's phase. */
static void estimate(const struct simulating *s, const struct exp_polydl_layer *l, struct exp_polydl_simulated *to)
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

/* Scales counts of a share of the calls to all of them. */
static void scale(struct sim_cell *cell, double share)
{
    uint64_t count[sizeof *cell / sizeof(uint64_t)];

    _Static_assert(sizeof *cell % sizeof(uint64_t) == 0, "a cell is counts");
    memcpy(count, cell, sizeof *cell);
    for (size_t i = 0; i < sizeof *cell / sizeof(uint64_t); i++)
        count[i] = (uint64_t)((double)count[i] / share + 0.5);
    memcpy(cell, count, sizeof *cell);
}

static int take(void *ctx, size_t task, const struct exp_result *r)
{
    const struct simulating *s = ctx;
    const struct simulation *x = &s->simulation[task];
    struct exp_polydl_layer *l = &s->of->layer[x->layer];
    struct exp_polydl_simulated *to = &l->of[x->variant].simulated[x->replay];
    struct exp_walk w;
    uint64_t ns, calls;
    size_t at = 0;

    exp_kept_counts_get(r, &s->machine[x->replay], "", &to->total, &at);
    exp_result_get(r, CALLS, &calls);
    exp_result_get(r, DURATION, &ns);
    prepare(s, x, &w);
    to->share = (double)calls / (double)exp_walk_calls(&w);
    if (to->share < 1)
        scale(&to->total, to->share);
    to->seconds = (double)ns / 1e9;
    estimate(s, l, to);
    to->is_known = true;
    return 0;
}

/* A multiply-add takes this long: through caches alone, and with prefetchers. */
static const double mac_seconds[EXP_N_POLYDL_REPLAYS] = { 2.6e-10, 1.6e-9 };

/* Returns how long a variant of a layer takes. */
static double variant_seconds(const struct exp_polydl_layer *l, enum exp_polydl_replay replay)
{
    return mac_seconds[replay] * fmin(l->flops / 2, (double)most_macs[replay]);
}

static double seconds(void *ctx, size_t job)
{
    const struct simulating *s = ctx;
    const struct simulation *x = &s->simulation[job];

    return variant_seconds(&s->of->layer[x->layer], x->replay);
}

/* ---- the tasks ---- */

/* Says what is simulated, from malloc; NULL when out of memory. */
static char *what_of(const struct simulating *s, const struct exp_polydl_layer *l, const struct exp_variant *v,
                     enum exp_polydl_replay replay)
{
    char *text = exp_polydl_text(l, v, s->small->name), *what;

    if (!text || l->flops / 2 <= (double)most_macs[replay])
        return text;
    what = exp_format("%s; the first %" PRIu64 " multiply-adds", text, most_macs[replay]);
    free(text);
    return what;
}

static int add_task(struct simulating *s, struct simulation x)
{
    const struct exp_polydl_layer *l = &s->of->layer[x.layer];
    const struct exp_variant *v = &l->variants.variant[x.variant];

    s->simulation[s->list.n] = x;
    return exp_task_list_add(&s->list, &(struct exp_task){ .kind = "replay",
                                                           .name = exp_format("%s %s '%s'", l->model, l->name, v->name),
                                                           .what = what_of(s, l, v, x.replay),
                                                           .setting = s->setting[x.replay],
                                                           .program = exp_store_program() });
}

static int list_tasks(struct simulating *s)
{
    int err = 0;

    for (size_t replay = 0; replay < s->n_replays; replay++) {
        for (size_t i = 0; i < s->of->n_layers && !err; i++) {
            if (exp_polydl_first_same(s->of, i) != i)
                continue;
            for (size_t v = 0; v < s->of->layer[i].variants.n && !err; v++)
                err = add_task(s, (struct simulation){ i, v, (enum exp_polydl_replay)replay });
        }
    }
    return err;
}

static int begin(struct simulating *s)
{
    const size_t most = exp_polydl_n_variants(s->of) * EXP_N_POLYDL_REPLAYS + 1;

    s->machine[EXP_POLYDL_ALONE] = sim_machine_caches_alone(s->of->machine);
    s->machine[EXP_POLYDL_WHOLE] = *s->of->machine;
    for (size_t i = 0; i < EXP_N_POLYDL_REPLAYS; i++) {
        s->setting[i] = exp_kept_counts_setting(&s->machine[i]);
        if (!s->setting[i])
            return -ENOMEM;
    }
    s->n_replays = strcmp(s->setting[0], s->setting[1]) ? EXP_N_POLYDL_REPLAYS : 1;
    s->simulation = calloc(most, sizeof *s->simulation);
    return exp_task_list_init(&s->list, most) || !s->simulation ? -ENOMEM : list_tasks(s);
}

static void end(struct simulating *s)
{
    exp_task_list_release(&s->list);
    for (size_t i = 0; i < EXP_N_POLYDL_REPLAYS; i++)
        free(s->setting[i]);
    free(s->simulation);
}

/* Gives layers that are the same the same counts, and a machine of caches alone both. */
static void copy(struct simulating *s)
{
    for (size_t i = 0; i < s->of->n_layers; i++) {
        const struct exp_polydl_layer *from = &s->of->layer[exp_polydl_first_same(s->of, i)];
        struct exp_polydl_layer *to = &s->of->layer[i];

        for (size_t v = 0; v < to->variants.n; v++) {
            struct exp_polydl_simulated *x = to->of[v].simulated;

            if (from != to)
                memcpy(x, from->of[v].simulated, sizeof to->of[v].simulated);
            if (s->n_replays == 1)
                x[EXP_POLYDL_WHOLE] = x[EXP_POLYDL_ALONE];
        }
    }
}

int exp_polydl_simulate(struct exp_polydl *p, const struct conv_small *small, const struct exp_tasks_options *o,
                        struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct simulating s = { .of = p, .small = small };
    int err = begin(&s);
    const struct exp_tasks tasks = { .task = s.list.task,
                                     .first = s.list.first,
                                     .n_jobs = s.list.n,
                                     .work = EXP_WORK_REPLAY,
                                     .doing = "simulating",
                                     .run = simulate,
                                     .take = take,
                                     .seconds = seconds,
                                     .ctx = &s };

    if (!err)
        err = exp_tasks_run(&tasks, o, counts, why);
    else
        exp_fail(why, err, "out of memory for the simulations");
    if (!err)
        copy(&s);
    end(&s);
    return err;
}

double exp_polydl_simulate_seconds(const struct exp_polydl *p)
{
    const bool has_whole = !sim_machine_is_plain(p->machine);
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *l = &p->layer[i];

        if (exp_polydl_first_same(p, i) == i)
            sum += (double)l->variants.n *
                   (variant_seconds(l, EXP_POLYDL_ALONE) + (has_whole ? variant_seconds(l, EXP_POLYDL_WHOLE) : 0));
    }
    return sum;
}
