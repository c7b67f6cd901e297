#include "experiments/validate/exp_validate.h"

#include <errno.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/replay/exp_replay.h"
#include "experiments/setup/exp_case.h"

int exp_validate_check(const struct exp_validation *v, const struct exp_model *model, double *seconds,
                       struct exp_why *why)
{
    struct exp_experiment e = { 0 };
    bool is_older;
    int err = exp_experiment_plan(&e, v->setup, model, v->algos, why);

    *seconds = 0;
    for (size_t i = 0; !err && i < e.n_cases; i++)
        err = exp_counts_take_plan(v->counts, model, &e.cases[i], &is_older, why);
    for (size_t l = 0; l < model->n_layers && !err; l++)
        *seconds += exp_replay_seconds(&e, v->cache, v->n_threads, l);
    exp_experiment_release(&e);
    return err;
}

static void take_counts(const struct exp_validation *v, struct exp_point *point)
{
    struct exp_counts_key key = { point->model, point->algo->name, point->layer->index, 0, v->cache };

    for (key.quantity = 0; key.quantity < ctr_n_quantities(); key.quantity++)
        point->measured[key.quantity] = exp_counts_find(v->counts, &key, &point->why_not_counted[key.quantity]);
}

/* Adds what was counted of a case, which then has the plan that ran; or says why that does not compare. */
static int add_point(struct exp_validation *v, struct exp_experiment *e, size_t i, struct exp_why *why)
{
    struct exp_point *point = exp_points_add(&v->points, e, &e->cases[i]);
    struct exp_why why_not;
    bool is_older;
    int err;

    if (!point)
        return exp_fail(why, -ENOMEM, "out of memory");
    err = exp_counts_take_plan(v->counts, e->model, &e->cases[i], &is_older, &why_not);
    if (err)
        return exp_fail(why, err, "%s", why_not.text);
    exp_say(point->why_not, sizeof point->why_not, "%s", why_not.text);
    v->n_differ += *point->why_not != '\0';
    v->n_older += is_older && !*point->why_not;
    if (!*point->why_not)
        take_counts(v, point);
    return 0;
}

/* Lets a layer that ran with another plan than its twin be replayed by itself. */
static void part_twins(struct exp_experiment *e)
{
    char own[EXP_PLAN_TEXT_BYTES], twins[EXP_PLAN_TEXT_BYTES];

    for (size_t i = 0; i < e->n_cases; i++) {
        exp_plan_text(&e->cases[i].plan, own);
        exp_plan_text(&e->cases[e->cases[i].same_as].plan, twins);
        if (strcmp(own, twins) != 0)
            e->cases[i].same_as = i;
    }
}

static int add_points(struct exp_validation *v, struct exp_experiment *e, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; i < e->n_cases && !err; i++)
        err = add_point(v, e, i, why);
    part_twins(e);
    return err;
}

int exp_validate_model(struct exp_validation *v, const struct exp_model *model, struct exp_progress *progress,
                       struct exp_why *why)
{
    struct exp_experiment e = { 0 };
    const size_t first = v->points.n;
    int err = exp_experiment_plan(&e, v->setup, model, v->algos, why);

    if (!err)
        err = add_points(v, &e, why);
    if (!err)
        err = exp_replay_all(&e, v->cache, v->n_threads, progress, why);
    for (size_t i = 0; i < e.n_cases && !err; i++)
        exp_point_simulate(&v->points.point[first + i], v->setup, &e.cases[i]);
    exp_experiment_release(&e);
    return err;
}
