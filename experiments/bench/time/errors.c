#include "experiments/bench/time/errors.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/error.h"
#include "kernels/backend/backend.h"
#include "kernels/conv_naive.h"
#include "kernels/plan/tune.h"

enum { MOST_PLANES = 4 };

static void fill(float *x, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes / sizeof *x; i++)
        x[i] = (float)(exp_random_next(&seed) >> 40) * 0x1p-23F - 1;
}

static void compare(struct exp_errors *errors, const float *out, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)out[i] - want[i]);

        errors->largest = fmax(errors->largest, error);
        errors->sum += error;
        errors->squares += want[i] * want[i];
    }
    errors->n += n;
}

/* Evenly spread planes of the first image. */
static int compare_planes(struct exp_errors *errors, const struct conv_problem *p, const struct exp_tensors *t)
{
    const size_t n = conv_windows(p), step = p->k / MOST_PLANES + 1;
    double *want = calloc(n, sizeof *want);

    for (size_t f = 0; f < p->k && want; f += step) {
        conv_naive_plane(p, conv_in_ptr(t->bind.addr[CONV_INPUT]), conv_in_ptr(t->bind.addr[CONV_FILTER]), 0, f, want,
                         NULL);
        compare(errors, conv_in_ptr(t->bind.addr[CONV_OUTPUT]) + f * n, want, n);
    }
    free(want);
    return want ? 0 : -ENOMEM;
}

int exp_errors_add(struct exp_errors *errors, const struct conv_plan *plan)
{
    struct exp_tensors t;
    struct conv_exec exec;
    int err = exp_tensors_init(&t, plan);

    if (err)
        return err;
    fill(conv_out_ptr(t.bind.addr[CONV_INPUT]), plan->layout.bytes[CONV_INPUT], EXP_TENSORS_INPUT_SEED);
    fill(conv_out_ptr(t.bind.addr[CONV_FILTER]), plan->layout.bytes[CONV_FILTER], EXP_TENSORS_FILTER_SEED);
    conv_exec_init(&exec, plan, &t.bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    if (!err)
        err = conv_nest_run(plan, &exec.base);
    if (!err)
        err = compare_planes(errors, &plan->problem, &t);
    exp_tensors_release(&t);
    return err;
}

static int add_both(const struct exp_experiment *e, size_t i, struct exp_errors errors[2])
{
    const struct exp_case *c = &e->cases[i];
    const struct conv_tune_options tune = { .ukr = e->setup->ukr };
    struct conv_plan direct;
    int err;

    if (c->plan.algorithm != CONV_WINOGRAD || c->same_as != i || exp_case_why_not_run(e, c))
        return 0;
    err = exp_errors_add(&errors[0], &c->plan);
    if (!err)
        err = conv_plan_tuned(&direct, &c->layer->problem, &e->setup->caches, &tune);
    return err ? err : exp_errors_add(&errors[1], &direct);
}

int exp_errors_note(const struct exp_experiment *e, struct exp_progress *progress)
{
    struct exp_errors errors[2] = { { 0 } };
    int err = 0;

    for (size_t i = 0; i < e->n_cases && !err; i++)
        err = add_both(e, i, errors);
    if (!err && errors[0].n)
        exp_progress_note(progress,
                          "errors of Winograd: largest %.2g, mean %.2g, of outputs of root mean square %.2g; of tuned "
                          "SConv: largest %.2g, mean %.2g",
                          errors[0].largest, errors[0].sum / (double)errors[0].n,
                          sqrt(errors[0].squares / (double)errors[0].n), errors[1].largest,
                          errors[1].sum / (double)errors[1].n);
    return err;
}
