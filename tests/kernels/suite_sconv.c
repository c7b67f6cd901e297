/* The library's results are right for any shape, option and thread count, from one thread or many at a time. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/conv_naive.h"
#include "kernels/lib/sconv_shape.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/sconv_small.h"
#include "tests/rng.h"
#include "tests/suites.h"

struct fixture {
    struct kcheck k;
    struct kbuffer out, residual, bias, workspace;
    struct sconv_options options;
    struct sconv_plan *plan;
    size_t n_out;
    size_t odd_weight; /* index + 1 of the weight that is not finite; 0: all are finite */
};

static void fill(const struct fixture *f, float *x, size_t n)
{
    if (f->k.exact)
        rng_small_ints(x, n, 20);
    else
        rng_floats(x, n);
}

static void fixture_init(struct fixture *f, const struct conv_problem *p, const struct sconv_machine *m, bool exact,
                         bool plain)
{
    struct sconv_shape shape = sconv_shape_of(p);

    *f = (struct fixture){ .n_out = p->n * p->k * conv_windows(p) };
    CU_ASSERT_FATAL(kcheck_init(&f->k, p, exact) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&f->out, f->n_out) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&f->residual, f->n_out) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&f->bias, p->k) == 0);
    fill(f, f->residual.data, f->n_out);
    fill(f, f->bias.data, p->k);
    memset(f->out.data, 0xff, f->n_out * sizeof(float));
    if (!plain) {
        f->options.bias = rng_below(3) ? f->bias.data : NULL;
        f->options.adds_residual = rng_below(2) != 0;
        f->options.activation = (enum sconv_activation)rng_below(3);
        f->options.threads = (unsigned)rng_below(5);
    }
    CU_ASSERT_FATAL(sconv_plan_create(&f->plan, &shape, m, f->k.filter, &f->options) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&f->workspace, sconv_workspace_bytes(f->plan) / sizeof(float) + 2) == 0);
}

static void fixture_release(struct fixture *f)
{
    sconv_plan_free(f->plan);
    kcheck_release(&f->k);
    kbuffer_release(&f->out);
    kbuffer_release(&f->residual);
    kbuffer_release(&f->bias);
    kbuffer_release(&f->workspace);
}

static double finish(const struct fixture *f, double sum, size_t filter, size_t index)
{
    sum += f->options.bias ? (double)f->bias.data[filter] : 0;
    sum += f->options.adds_residual ? (double)f->residual.data[index] : 0;
    if (f->options.activation != SCONV_NO_ACTIVATION)
        sum = sum < 0 ? 0 : sum;
    return f->options.activation == SCONV_RELU6 && sum > 6 ? 6 : sum;
}

/*
 * Tells whether a weight that is not finite meets padding there: the product with zero is NaN, if plans multiply
 * padding at all.
 */
static bool may_be_nan(const struct fixture *f, size_t filter, size_t window)
{
    const struct conv_problem *p = &f->k.p;
    size_t weight = f->odd_weight - 1, tap = weight % (p->r * p->s);
    size_t ih = window / p->q * p->stride_h + tap / p->s * p->dilation_h;
    size_t iw = window % p->q * p->stride_w + tap % p->s * p->dilation_w;

    return f->odd_weight && weight / conv_reduction(p) == filter &&
           (ih < p->pad_top || ih - p->pad_top >= p->h || iw < p->pad_left || iw - p->pad_left >= p->w);
}

/* Against the plain loops; two more terms, so a little more error. */
static void check_result(const struct fixture *f)
{
    const struct conv_problem *p = &f->k.p;
    size_t windows = conv_windows(p), n_wrong = 0, first = 0;
    double *plane = calloc(windows, sizeof *plane), *magnitude = calloc(windows, sizeof *magnitude);

    CU_ASSERT_FATAL(plane && magnitude);
    for (size_t i = 0; i < p->n * p->k; i++) {
        conv_naive_plane(p, f->k.in, f->k.filter, i / p->k, i % p->k, plane, magnitude);
        for (size_t w = 0; w < windows; w++) {
            double want = finish(f, plane[w], i % p->k, i * windows + w), got = (double)f->out.data[i * windows + w];
            double bound = f->k.exact ? 0 : conv_error_bound(conv_reduction(p) + 2, magnitude[w] + 2);

            if (isnan(got) && may_be_nan(f, i % p->k, w))
                continue;
            if (isnan(want) ? !isnan(got) : !(got == want || fabs(got - want) <= bound))
                first = n_wrong++ ? first : i * windows + w;
        }
    }
    test_check(!n_wrong, "%s: %zu outputs wrong, first %zu; activation %d, bias %d, residual %d, threads %u",
               kcheck_describe(p), n_wrong, first, (int)f->options.activation, f->options.bias != NULL,
               f->options.adds_residual, f->options.threads);
    free(plane);
    free(magnitude);
}

/* The workspace starts at any byte and ends where a guard page begins. */
static int run(struct fixture *f)
{
    size_t bytes = sconv_workspace_bytes(f->plan);
    size_t slack = (bytes / sizeof(float) + 2) * sizeof(float) - bytes;
    unsigned char *workspace = (unsigned char *)(void *)f->workspace.data + slack - rng_below(slack + 1);

    return sconv_run(f->plan, f->k.in, f->out.data, f->options.adds_residual ? f->residual.data : NULL, workspace,
                     bytes);
}

static void random_convolutions_are_right(void)
{
    struct sconv_machine *const machines[] = { sconv_small_machine("sim/machines/toy.cfg"), sconv_small_machine(NULL) };

    for (unsigned round = 0; round < test_rounds(300); round++) {
        struct conv_problem p = rng_below(4) ? kcheck_random_problem()
                                             : kcheck_random_direct(conv_direct_at(rng_below(conv_direct_count())));
        struct fixture f;

        fixture_init(&f, &p, machines[rng_below(2)], rng_below(2), false);
        CU_ASSERT_EQUAL(run(&f), 0);
        check_result(&f);
        fixture_release(&f);
    }
    sconv_machine_free(machines[0]);
    sconv_machine_free(machines[1]);
}

/* Runs of more tiles than fit the cache are finished in parts. */
static void long_runs_are_finished(void)
{
    struct sconv_machine *m = sconv_small_machine("sim/machines/clx4208.cfg");

    for (unsigned round = 0; round < test_rounds(6); round++) {
        struct conv_problem p = { .n = 1, .c = 4 + rng_below(6), .k = 30 + rng_below(30), .r = 1, .s = 1 };
        struct fixture f;
        char why[128];

        p.h = p.w = 60 + rng_below(3);
        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
        CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
        fixture_init(&f, &p, m, rng_below(2), false);
        CU_ASSERT_EQUAL(run(&f), 0);
        check_result(&f);
        fixture_release(&f);
    }
    sconv_machine_free(m);
}

static void not_a_number_propagates(void)
{
    struct sconv_machine *m = sconv_small_machine("sim/machines/toy.cfg");

    for (unsigned round = 0; round < test_rounds(100); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct fixture f;

        fixture_init(&f, &p, m, false, false);
        f.k.in[rng_below(p.n * p.c * p.h * p.w)] = NAN;
        f.residual.data[rng_below(f.n_out)] = rng_below(2) ? (float)NAN : INFINITY;
        CU_ASSERT_EQUAL(run(&f), 0);
        check_result(&f);
        fixture_release(&f);
    }
    sconv_machine_free(m);
}

/*
 * Odd weights, too: at padding, plans that pack windows multiply the weights by zero, and further plans leave padding
 * out.
 */
static void odd_weights_propagate(void)
{
    struct sconv_machine *m = sconv_small_machine("sim/machines/toy.cfg");

    for (unsigned round = 0; round < test_rounds(100); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct sconv_shape shape = sconv_shape_of(&p);
        struct fixture f;

        fixture_init(&f, &p, m, false, false);
        f.odd_weight = 1 + rng_below(p.k * conv_reduction(&p));
        f.k.filter[f.odd_weight - 1] = rng_below(2) ? (float)NAN : INFINITY;
        sconv_plan_free(f.plan);
        CU_ASSERT_FATAL(sconv_plan_create(&f.plan, &shape, m, f.k.filter, &f.options) == 0);
        CU_ASSERT_EQUAL(run(&f), 0);
        check_result(&f);
        fixture_release(&f);
    }
    sconv_machine_free(m);
}

/* ---- a plan from many threads ---- */

struct caller {
    const struct fixture *f;
    float *out;
    void *workspace;
    int err;
    pthread_t thread;
};

enum { N_CALLERS = 4, N_CALLS = 20 };

static void *call(void *ctx)
{
    struct caller *c = ctx;

    for (int i = 0; i < N_CALLS && !c->err; i++)
        c->err = sconv_run(c->f->plan, c->f->k.in, c->out, c->f->options.adds_residual ? c->f->residual.data : NULL,
                           c->workspace, sconv_workspace_bytes(c->f->plan));
    return NULL;
}

static void callers_do_not_disturb_each_other(void)
{
    struct sconv_machine *m = sconv_small_machine("sim/machines/toy.cfg");

    for (unsigned round = 0; round < test_rounds(10); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct caller c[N_CALLERS] = { { 0 } };
        struct fixture f;

        fixture_init(&f, &p, m, true, false);
        for (int i = 0; i < N_CALLERS; i++) {
            c[i].f = &f;
            c[i].out = calloc(f.n_out, sizeof(float));
            c[i].workspace = calloc(1, sconv_workspace_bytes(f.plan));
            CU_ASSERT_FATAL(c[i].out && c[i].workspace);
            CU_ASSERT_FATAL(!pthread_create(&c[i].thread, NULL, call, &c[i]));
        }
        for (int i = 0; i < N_CALLERS; i++) {
            pthread_join(c[i].thread, NULL);
            CU_ASSERT_EQUAL(c[i].err, 0);
            memcpy(f.out.data, c[i].out, f.n_out * sizeof(float));
            check_result(&f);
            free(c[i].out);
            free(c[i].workspace);
        }
        fixture_release(&f);
    }
    sconv_machine_free(m);
}

static const struct test_case cases[] = {
    { "random convolutions with any epilogue and thread count are right", random_convolutions_are_right },
    { "long runs are finished in parts", long_runs_are_finished },
    { "NaN and infinities propagate through epilogues", not_a_number_propagates },
    { "weights that are not finite propagate, to padding or not", odd_weights_propagate },
    { "one plan serves many threads at a time", callers_do_not_disturb_each_other },
    { NULL, NULL },
};

const struct test_suite suite_sconv = { "sconv", cases };
