#include "experiments/validate/exp_validate.h"

#include <errno.h>
#include <stdio.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_replay.h"

struct sim_machine exp_validate_caches_alone(const struct sim_machine *m)
{
    struct sim_machine alone = {
        .n_levels = m->n_levels,
        .memory_latency_cycles = m->memory_latency_cycles,
        .issue = m->issue,
    };

    snprintf(alone.name, sizeof alone.name, "%s", m->name);
    snprintf(alone.description, sizeof alone.description, "%s", m->description);
    snprintf(alone.ukr, sizeof alone.ukr, "%s", m->ukr);
    snprintf(alone.gemm_core, sizeof alone.gemm_core, "%s", m->gemm_core);
    for (size_t k = 0; k < m->n_levels; k++) {
        const struct sim_level *from = &m->level[k];
        struct sim_level *to = &alone.level[k];

        snprintf(to->name, sizeof to->name, "%s", from->name);
        snprintf(to->policy, sizeof to->policy, "lru");
        to->n_sets = from->n_sets;
        to->n_ways = from->n_ways;
        to->line_bytes = from->line_bytes;
        to->latency_cycles = from->latency_cycles;
    }
    return alone;
}

/* Plans a model for both simulations. */
static int plan(const struct exp_validation *v, const struct exp_model *model, struct exp_experiment e[EXP_N_VIEWS],
                char *why, size_t why_bytes)
{
    int err = 0;

    for (unsigned view = 0; view < EXP_N_VIEWS; view++)
        e[view] = (struct exp_experiment){ 0 };
    for (unsigned view = 0; view < EXP_N_VIEWS && !err; view++)
        err = exp_experiment_plan(&e[view], v->setup[view], model, v->algos, why, why_bytes);
    return err;
}

static void release(struct exp_experiment e[EXP_N_VIEWS])
{
    for (unsigned view = 0; view < EXP_N_VIEWS; view++)
        exp_experiment_release(&e[view]);
}

int exp_validate_check(const struct exp_validation *v, const struct exp_model *model, double *seconds, char *why,
                       size_t why_bytes)
{
    struct exp_experiment e[EXP_N_VIEWS];
    int err = plan(v, model, e, why, why_bytes);

    *seconds = 0;
    for (size_t i = 0; !err && i < e[0].n_cases; i++)
        err = exp_counts_compare(v->counts, model, &e[0].cases[i], why, why_bytes);
    for (unsigned view = 0; view < EXP_N_VIEWS && !err; view++) {
        for (size_t l = 0; l < model->n_layers; l++)
            *seconds += exp_replay_seconds(&e[view], v->cache, v->n_threads, l);
    }
    release(e);
    return err;
}

static void take_counts(const struct exp_validation *v, struct exp_point *point)
{
    struct exp_counts_key key = { point->model, point->algo->name, point->layer->index, 0, v->cache };
    char ignored[256];

    for (key.quantity = 0; key.quantity < ctr_n_quantities(); key.quantity++)
        point->measured[key.quantity] = exp_counts_find(v->counts, &key, ignored, sizeof ignored);
}

/* What was counted of a case of today, or why that does not compare. */
static int add_point(struct exp_validation *v, const struct exp_experiment *e, size_t i, char *why, size_t why_bytes)
{
    struct exp_point *point = exp_points_add(&v->points, e, &e->cases[i]);
    int err;

    if (!point)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    err = exp_counts_compare(v->counts, e->model, &e->cases[i], point->why_not, sizeof point->why_not);
    if (err)
        return exp_fail(why, why_bytes, err, "%s", point->why_not);
    v->n_differ += *point->why_not != '\0';
    if (!*point->why_not)
        take_counts(v, point);
    return 0;
}

static int add_points(struct exp_validation *v, const struct exp_experiment *e, char *why, size_t why_bytes)
{
    int err = 0;

    for (size_t i = 0; i < e->n_cases && !err; i++)
        err = add_point(v, e, i, why, why_bytes);
    return err;
}

int exp_validate_model(struct exp_validation *v, const struct exp_model *model, struct exp_progress *progress,
                       char *why, size_t why_bytes)
{
    struct exp_experiment e[EXP_N_VIEWS];
    const size_t first = v->points.n;
    int err = plan(v, model, e, why, why_bytes);

    if (!err)
        err = add_points(v, &e[EXP_AS_MACHINE], why, why_bytes);
    for (unsigned view = 0; view < EXP_N_VIEWS && !err; view++) {
        err = exp_replay_all(&e[view], v->cache, v->n_threads, progress, why, why_bytes);
        for (size_t i = 0; i < e[view].n_cases && !err; i++)
            exp_point_simulate(&v->points.point[first + i], (enum exp_view)view, v->setup[view], &e[view].cases[i]);
    }
    release(e);
    return err;
}
