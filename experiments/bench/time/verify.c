/* Results checked before anything is timed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/program.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/case/elements.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/conv_naive.h"

struct verify_all {
    struct exp_experiment *e;
    struct exp_progress *progress;
    unsigned n_threads;
    bool plugins_only;
    struct exp_why *why;
};

#define NAMED "layer '" /* beginning of a reason with the layer's name */

void exp_case_refuse(struct exp_case *c, const char *reason, enum exp_plugin_fault fault)
{
    const bool is_named = fault == EXP_PLUGIN_REFUSES || !strncmp(reason, NAMED, strlen(NAMED));
    char *text = is_named ? exp_copy_text(reason) : exp_format("%s, in layer '%s'", reason, c->layer->name);

    c->why_refused = exp_plugin_keep(c->algo->plugin, text);
    c->is_wrong = fault == EXP_PLUGIN_IS_WRONG;
    free(text);
}

/* The first layer in which a plug-in is wrong gives the reason for all layers. */
void exp_experiment_condemn(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        const struct exp_case *c = &e->cases[i];

        if (c->is_wrong && !exp_algo_why_not_run(c->algo, e->setup))
            exp_plugin_condemn(c->algo->plugin, c->why_refused);
    }
}

/* One output plane, as the oracle computes the plane. */
struct plane {
    const float *in, *filter; /* values */
    size_t number;
    double *sum, *magnitude;
    bool has_magnitude;
};

static void compute_plane(struct plane *x, const struct conv_problem *p, bool with_magnitude)
{
    conv_naive_plane(p, x->in, x->filter, x->number / p->k, x->number % p->k, x->sum,
                     with_magnitude ? x->magnitude : NULL);
    x->has_magnitude = with_magnitude;
}

/*
 * Returns the allowed distance of an element from the oracle's value. The distance is 0 if every sum of products is an
 * integer exact in a float. But a plug-in may use a transform, and then an output is no integer: exp_plugin_error_bound
 * holds.
 */
static double bound_of(const struct exp_case *c, struct plane *x, size_t w, double got)
{
    const struct conv_problem *p = &c->layer->problem;

    if (c->plan.algorithm == CONV_WINOGRAD)
        return conv_winograd_likely_error(c->plan.winograd.kernel->m, p->c, exp_tensors_rms(), exp_tensors_rms());
    if (!exp_elements_exact(p))
        return exp_element_bound(p, x->magnitude[w]);
    if (!c->algo->plugin || got == rint(got))
        return 0;
    if (!x->has_magnitude)
        compute_plane(x, p, true);
    return exp_plugin_error_bound(x->magnitude[w]);
}

/* Compares one output plane of a case with the oracle's. */
static int compare_plane(const struct exp_case *c, const void *out, struct plane *x, struct exp_why *why)
{
    const size_t n = conv_windows(&c->layer->problem), first = x->number * n;

    for (size_t w = 0; w < n; w++) {
        const double got = exp_element_of_output(out, first + w, (enum conv_type)c->layer->problem.type);

        if (got == x->sum[w] || fabs(got - x->sum[w]) <= bound_of(c, x, w, got))
            continue;
        return exp_fail(why, -EILSEQ,
                        "layer '%s': %s (%s) computes a wrong result: output element %zu is %.9g, must be %.9g",
                        c->layer->name, c->algo->name, conv_plan_kernel_name(&c->plan), first + w, got, x->sum[w]);
    }
    return 0;
}

/* Compares one plane; a plug-in with wrong values does not run, and the program continues. */
static int compare_case(struct exp_case *c, const void *out, struct plane *x, const struct verify_all *all)
{
    struct exp_why why;
    int err;

    if (!c->algo->plugin)
        return compare_plane(c, out, x, all->why);
    err = c->why_refused ? 0 : compare_plane(c, out, x, &why);
    if (err)
        exp_case_refuse(c, why.text, EXP_PLUGIN_IS_WRONG);
    return 0;
}

/* Runs a case. A plug-in that refuses the layer is not compared. */
static int run_case(const struct exp_experiment *e, struct exp_case *c, struct exp_tensors *tensors)
{
    int err = exp_tensors_init(tensors, &c->plan);
    const char *why;
    enum exp_plugin_fault fault;

    if (err || !c->algo->plugin)
        return err ? err : c->algo->run(e->setup, &c->plan, &tensors->bind);
    why = exp_plugin_check(c->algo->plugin, &c->plan, &tensors->bind, &c->why_doubted, &fault);
    if (why) {
        exp_tensors_release(tensors);
        exp_case_refuse(c, why, fault);
    }
    return 0;
}

/* Tells whether the algorithm does not compute the layer. */
static bool is_outside(const struct exp_case *c)
{
    return c->algo->why_not_layer && c->why_refused;
}

/* Runs every algorithm of a layer that runs here; the remaining tensors stay empty. */
static int run_layer(const struct verify_all *all, struct exp_case *first, struct exp_tensors *tensors)
{
    const struct exp_experiment *e = all->e;
    int err = 0;

    for (size_t a = 0; a < e->n_algos && !err; a++) {
        if (exp_algo_why_not_run(first[a].algo, e->setup) || is_outside(&first[a]) ||
            (all->plugins_only && !first[a].algo->plugin))
            continue;
        err = run_case(e, &first[a], &tensors[a]);
    }
    return err;
}

/* Returns the values of an input or filter, of which all cases of a layer have equal ones. */
static const float *values_of(const struct exp_case *first, const struct exp_tensors *t, enum conv_tensor tensor)
{
    return exp_elements_values(conv_in_ptr(t->bind.addr[tensor]), first->plan.layout.bytes[tensor],
                               (enum conv_type)first->layer->problem.type, tensor);
}

static int compare_layer(const struct verify_all *all, struct exp_case *first, const struct exp_tensors *tensors,
                         const struct exp_tensors *any, const struct exp_pool *pool)
{
    const struct conv_problem *p = &first->layer->problem;
    const double plane_seconds = exp_verify_seconds(first, all->e->n_algos, all->n_threads) / (double)(p->n * p->k);
    const enum conv_type type = (enum conv_type)p->type;
    struct plane x = { .in = values_of(first, any, CONV_INPUT),
                       .filter = values_of(first, any, CONV_FILTER),
                       .sum = exp_new(conv_windows(p), sizeof(double)),
                       .magnitude = exp_new(conv_windows(p), sizeof(double)) };
    int err = 0;

    for (; x.number < p->n * p->k && !err; x.number++) {
        compute_plane(&x, p, !exp_elements_exact(p));
        for (size_t a = 0; a < all->e->n_algos && !err; a++) {
            if (tensors[a].arena)
                err = compare_case(&first[a], conv_in_ptr(tensors[a].bind.addr[CONV_OUTPUT]), &x, all);
        }
        exp_progress_step(all->progress, EXP_WORK_VERIFY, plane_seconds);
        if (!err && exp_pool_stopped(pool))
            err = exp_interrupted() ? -EINTR : -ECANCELED;
    }
    free(x.magnitude);
    free(x.sum);
    exp_elements_release(x.in, type);
    exp_elements_release(x.filter, type);
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
    struct exp_tensors tensors[EXP_MAX_ALGOS] = { { 0 } };
    const struct exp_tensors *any;
    int err;

    (void)thread;
    if (first->same_as != index * all->e->n_algos)
        return 0; /* an equal shape was verified with another layer */
    exp_progress_begin(all->progress, EXP_WORK_VERIFY, first->layer->name, "verifying");
    err = run_layer(all, first, tensors);
    any = any_of(tensors, all->e->n_algos);
    if (!err && any)
        err = compare_layer(all, first, tensors, any, pool);
    for (size_t a = 0; a < all->e->n_algos; a++) {
        if (first[a].why_doubted && !first[a].why_refused)
            exp_case_refuse(&first[a], first[a].why_doubted, EXP_PLUGIN_IS_WRONG);
    }
    for (size_t a = 0; a < all->e->n_algos; a++)
        exp_tensors_release(&tensors[a]);
    if (!err && !any) /* nothing runs here */
        exp_progress_drop(all->progress, EXP_WORK_VERIFY, exp_verify_seconds(first, all->e->n_algos, all->n_threads));
    return err;
}

/* A plug-in is tried in runs of its own; generated code is compiled. */
double exp_verify_seconds(const struct exp_case *first, size_t n_algos, unsigned n_threads)
{
    double sum = 1e-9 * conv_macs(&first->layer->problem);

    for (size_t a = 0; a < n_algos; a++)
        sum += first[a].algo->plugin ? 0.06 : first[a].algo->is_generated ? 0.5 : 0;
    return sum / n_threads;
}

int exp_verify_all(struct exp_experiment *e, const struct exp_measure_options *o, struct exp_progress *progress,
                   struct exp_why *why)
{
    struct verify_all all = { e, progress, o->n_threads, o->plugins_only, why };
    int err = exp_pool_run(e->model->n_layers, o->n_threads, verify_layer, &all, exp_interrupted, NULL);

    exp_experiment_condemn(e);
    if (err == -EILSEQ)
        return err; /* the job has written the line */
    if (err == -ENOMEM)
        return exp_fail(why, err, "out of memory for the tensors of a layer; LAYERS= narrows, TIMING=0 needs none");
    return err ? exp_fail(why, err, err == -EINTR ? "interrupted while verifying" : "verification failed") : 0;
}
