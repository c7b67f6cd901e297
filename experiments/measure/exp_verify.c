/* The verification half of exp_measure.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_program.h"
#include "experiments/measure/exp_measure.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/conv_naive.h"

struct verify_all {
    struct exp_experiment *e;
    struct exp_progress *progress;
    unsigned n_threads;
    struct exp_why *why;
};

static const float *tensor(const struct exp_tensors *t, enum conv_tensor which)
{
    return conv_in_ptr(t->bind.addr[which]);
}

/* Compares one output plane of a case with the oracle's. */
static int compare_plane(const struct exp_case *c, const float *out, size_t first, const double *plane,
                         const double *magnitude, const struct verify_all *all)
{
    const struct conv_problem *p = &c->layer->problem;

    for (size_t w = 0; w < conv_windows(p); w++) {
        double bound = exp_tensors_exact(p) ? 0 : conv_error_bound(conv_reduction(p), magnitude[w]);

        if (!(fabs((double)out[first + w] - plane[w]) <= bound))
            return exp_fail(all->why, -EILSEQ,
                            "layer '%s': %s (%s) computes a wrong result: output element %zu is %.9g, must be %.9g",
                            c->layer->name, c->algo->name, conv_plan_kernel_name(&c->plan), first + w,
                            (double)out[first + w], plane[w]);
    }
    return 0;
}

/* Runs every algorithm of a layer that runs here; tensors of the others stay empty. */
static int run_layer(const struct exp_experiment *e, struct exp_case *first, struct exp_tensors *tensors)
{
    int err = 0;

    for (size_t a = 0; a < e->n_algos && !err; a++) {
        if (first[a].algo->why_not_run(e->setup))
            continue;
        err = exp_tensors_init(&tensors[a], &first[a].plan);
        if (!err)
            err = first[a].algo->run(e->setup, &first[a].plan, &tensors[a].bind);
    }
    return err;
}

static int compare_layer(const struct verify_all *all, struct exp_case *first, const struct exp_tensors *tensors,
                         const struct exp_tensors *any, const struct exp_pool *pool)
{
    const struct conv_problem *p = &first->layer->problem;
    double *plane = calloc(conv_windows(p), sizeof *plane);
    const double plane_seconds = exp_verify_seconds(first, all->n_threads) / (double)(p->n * p->k);
    double *magnitude = exp_tensors_exact(p) ? NULL : calloc(conv_windows(p), sizeof *magnitude);
    int err = plane && (magnitude || exp_tensors_exact(p)) ? 0 : -ENOMEM;

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        conv_naive_plane(p, tensor(any, CONV_INPUT), tensor(any, CONV_FILTER), i / p->k, i % p->k, plane, magnitude);
        for (size_t a = 0; a < all->e->n_algos && !err; a++) {
            if (tensors[a].arena)
                err = compare_plane(&first[a], tensor(&tensors[a], CONV_OUTPUT), i * conv_windows(p), plane, magnitude,
                                    all);
        }
        exp_progress_step(all->progress, EXP_WORK_VERIFY, plane_seconds);
        if (!err && exp_pool_stopped(pool))
            err = exp_interrupted() ? -EINTR : -ECANCELED;
    }
    free(magnitude);
    free(plane);
    return err;
}

static const struct exp_tensors *any_of(const struct exp_tensors *tensors, size_t n)
{
    for (size_t a = 0; a < n; a++) {
        if (tensors[a].arena)
            return &tensors[a];
    }
    return NULL;
}

static int verify_layer(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct verify_all *all = ctx;
    struct exp_case *first = &all->e->cases[index * all->e->n_algos];
    struct exp_tensors tensors[EXP_N_ALGOS] = { { 0 } };
    const struct exp_tensors *any;
    int err;

    (void)thread;
    if (first->same_as != index * all->e->n_algos)
        return 0; /* the same shape was verified with another layer */
    exp_progress_begin(all->progress, EXP_WORK_VERIFY, first->layer->name, "verifying");
    err = run_layer(all->e, first, tensors);
    any = any_of(tensors, all->e->n_algos);
    if (!err && any)
        err = compare_layer(all, first, tensors, any, pool);
    for (size_t a = 0; a < all->e->n_algos; a++)
        exp_tensors_release(&tensors[a]);
    if (!err && !any) /* nothing runs here */
        exp_progress_drop(all->progress, EXP_WORK_VERIFY, exp_verify_seconds(first, all->n_threads));
    return err;
}

double exp_verify_seconds(const struct exp_case *c, unsigned n_threads)
{
    return 1e-9 * conv_macs(&c->layer->problem) / n_threads;
}

int exp_verify_all(struct exp_experiment *e, const struct exp_measure_options *o, struct exp_progress *progress,
                   struct exp_why *why)
{
    struct verify_all all = { e, progress, o->n_threads, why };
    int err = exp_pool_run(e->model->n_layers, o->n_threads, verify_layer, &all, exp_interrupted, NULL);

    if (err == -EILSEQ)
        return err; /* the job said what is wrong */
    if (err == -ENOMEM)
        return exp_fail(why, err, "out of memory for the tensors of a layer; LAYERS= narrows, TIMING=0 needs none");
    return err ? exp_fail(why, err, err == -EINTR ? "interrupted while verifying" : "verification failed") : 0;
}
