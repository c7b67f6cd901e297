/* Times as tasks, a layer each. */
#include "experiments/polydl/time/exp_polydl_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_polydl.h"
#include "experiments/store/exp_tasks.h"
#include "sim/machine/machine_here.h"

struct measuring {
    struct exp_polydl *of;
    const struct exp_polydl_timing *timing;
    struct exp_task_list list;
    size_t *layer; /* of each task */
    char setting[512];
};

/* ---- times and counts ---- */

enum { N_TIME_COUNTS = 5, NAME_BYTES = 64 };

/* The counts of a time, in their order. */
static void spread(const struct exp_polydl_time *t, uint64_t value[N_TIME_COUNTS])
{
    value[0] = t->n_rounds;
    value[1] = (uint64_t)t->fastest_ns;
    value[2] = (uint64_t)t->median_ns;
    value[3] = (uint64_t)t->half_ns[0];
    value[4] = (uint64_t)t->half_ns[1];
}

static void gather(struct exp_polydl_time *t, const uint64_t value[N_TIME_COUNTS])
{
    t->n_rounds = value[0];
    t->fastest_ns = (double)value[1];
    t->median_ns = (double)value[2];
    t->half_ns[0] = (double)value[3];
    t->half_ns[1] = (double)value[4];
}

static void say_name(char name[NAME_BYTES], const char *of, size_t number, size_t count)
{
    static const char *const counts[N_TIME_COUNTS] = { "rounds", "fastest_ns", "median_ns", "half1_ns", "half2_ns" };

    exp_say(name, NAME_BYTES, "%s%zu.%s", of, number, counts[count]);
}

static void put_time(struct exp_result *r, const char *of, size_t number, const struct exp_polydl_time *t)
{
    uint64_t value[N_TIME_COUNTS];
    char name[NAME_BYTES];

    spread(t, value);
    for (size_t i = 0; i < N_TIME_COUNTS && t->n_rounds; i++) {
        say_name(name, of, number, i);
        exp_result_put(r, name, value[i]);
    }
}

static void get_time(const struct exp_result *r, const char *of, size_t number, struct exp_polydl_time *t)
{
    uint64_t value[N_TIME_COUNTS];
    char name[NAME_BYTES];

    for (size_t i = 0; i < N_TIME_COUNTS; i++) {
        say_name(name, of, number, i);
        exp_result_get(r, name, &value[i]);
    }
    gather(t, value);
}

static const char *const threads_names[EXP_N_POLYDL_THREADS] = { "one", "two" };

/* ---- the work ---- */

static int measure(void *ctx, size_t job, const struct exp_pool *pool, struct exp_result *result, struct exp_why *why)
{
    const struct measuring *m = ctx;
    const struct exp_polydl_layer *l = &m->of->layer[m->layer[job]];
    struct exp_polydl_times times = { .of_variant = calloc(l->variants.n, sizeof *times.of_variant) };
    int err = times.of_variant ? exp_polydl_time(l, m->timing, &times, why) : -ENOMEM;

    (void)pool;
    for (size_t i = 0; i < l->variants.n && !err; i++) {
        for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
            put_time(result, threads_names[t], i, &times.of_variant[i][t]);
    }
    for (size_t b = 0; b < EXP_N_POLYDL_BASELINES && !err; b++)
        put_time(result, "baseline", b, &times.of_baseline[b]);
    free(times.of_variant);
    return err ? err : result->err;
}

static int take(void *ctx, size_t task, const struct exp_result *r)
{
    const struct measuring *m = ctx;
    struct exp_polydl_layer *l = &m->of->layer[m->layer[task]];

    for (size_t i = 0; i < l->variants.n; i++) {
        for (size_t t = 0; t < EXP_N_POLYDL_THREADS; t++)
            get_time(r, threads_names[t], i, &l->of[i].time[t]);
    }
    for (size_t b = 0; b < EXP_N_POLYDL_BASELINES; b++)
        get_time(r, "baseline", b, &l->baseline[b]);
    return 0;
}

static double seconds(void *ctx, size_t job)
{
    const struct measuring *m = ctx;

    return exp_polydl_time_seconds(&m->of->layer[m->layer[job]], m->timing);
}

/* ---- the tasks ---- */

/* Says on which computer times are taken, and how. */
static int say_setting(struct measuring *m, struct exp_why *why)
{
    struct sim_here host;
    char name[128] = "";
    int err = sim_here_look(&host, why->text, sizeof why->text);

    gethostname(name, sizeof name - 1);
    exp_say(m->setting, sizeof m->setting,
            "%s, %s; %u threads; %" PRIu64 " ns, leaders %" PRIu64 " ns; slices of what is slow", name,
            err ? "" : host.cpu.name, m->timing->n_threads, m->timing->budget_ns, m->timing->refine_ns);
    return err;
}

static int list_tasks(struct measuring *m)
{
    const char *kernel = m->timing->uses_xsmm ? "libxsmm" : m->timing->small->name;
    int err = 0;

    for (size_t i = 0; i < m->of->n_layers && !err; i++) {
        const struct exp_polydl_layer *l = &m->of->layer[i];

        if (!l->variants.n || exp_polydl_first_same(m->of, i) != i)
            continue;
        m->layer[m->list.n] = i;
        err = exp_task_list_add(&m->list, &(struct exp_task){ .kind = "time",
                                                              .name = exp_format("%s %s", l->model, l->name),
                                                              .what = exp_polydl_text(l, NULL, kernel),
                                                              .setting = m->setting,
                                                              .program = exp_store_program() });
    }
    return err;
}

static int begin(struct measuring *m, struct exp_why *why)
{
    m->layer = calloc(m->of->n_layers + 1, sizeof *m->layer);
    if (exp_task_list_init(&m->list, m->of->n_layers) || !m->layer)
        return -ENOMEM;
    return say_setting(m, why) ? -EIO : list_tasks(m);
}

static void end(struct measuring *m)
{
    exp_task_list_release(&m->list);
    free(m->layer);
}

/* Gives layers that are the same the same times. */
static void copy(struct exp_polydl *p)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct exp_polydl_layer *from = &p->layer[exp_polydl_first_same(p, i)];
        struct exp_polydl_layer *to = &p->layer[i];

        if (from == to)
            continue;
        for (size_t v = 0; v < to->variants.n; v++)
            memcpy(to->of[v].time, from->of[v].time, sizeof to->of[v].time);
        memcpy(to->baseline, from->baseline, sizeof to->baseline);
    }
}

int exp_polydl_measure(struct exp_polydl *p, const struct exp_polydl_timing *t, const struct exp_tasks_options *o,
                       struct exp_tasks_counts *counts, struct exp_why *why)
{
    struct measuring m = { .of = p, .timing = t };
    struct exp_tasks_options one = *o;
    int err = begin(&m, why);
    const struct exp_tasks tasks = { .task = m.list.task,
                                     .first = m.list.first,
                                     .n_jobs = m.list.n,
                                     .work = EXP_WORK_ROUNDS,
                                     .doing = "timing",
                                     .run = measure,
                                     .take = take,
                                     .seconds = seconds,
                                     .ctx = &m };

    one.n_threads = 1;
    if (!err)
        err = exp_tasks_run(&tasks, &one, counts, why);
    if (!err)
        copy(p);
    end(&m);
    return err;
}

double exp_polydl_measure_seconds(const struct exp_polydl *p, const struct exp_polydl_timing *t)
{
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++) {
        if (p->layer[i].variants.n && exp_polydl_first_same(p, i) == i)
            sum += exp_polydl_time_seconds(&p->layer[i], t);
    }
    return sum;
}
