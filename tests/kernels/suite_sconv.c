/* The library as its users call it: right results for any shape, option and thread count; errors for everything else.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/emit/plan_json.h"
#include "kernels/epilogue.h"
#include "kernels/lib/sconv_shape.h"
#include "kernels/nest/share.h"
#include "kernels/plan/tune.h"
#include "tests/failing_alloc.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/kernels/shapes.h"
#include "tests/suites.h"

/* A 3x3 convolution of five channels into seven, which many tests refuse for other reasons. */
static const struct sconv_shape small = {
    .batch = 1,
    .in_c = 5,
    .in_h = 9,
    .in_w = 9,
    .out_c = 7,
    .k_h = 3,
    .k_w = 3,
    .stride_h = 1,
    .stride_w = 1,
    .pad_top = 1,
    .pad_left = 1,
    .pad_bottom = 1,
    .pad_right = 1,
    .dilation_h = 1,
    .dilation_w = 1,
    .groups = 1,
};

enum { SMALL_IN = 5 * 9 * 9, SMALL_WEIGHTS = 7 * 5 * 9, SMALL_OUT = 7 * 9 * 9 };

/*
 * Returns one machine for a whole test. The toy one makes tiles small, so that every loop of the nest has more than
 * one turn.
 */
static struct sconv_machine *machine(const char *path)
{
    struct sconv_machine *m = NULL;
    char why[256];

    CU_ASSERT_FATAL(sconv_machine_create(&m, path, why, sizeof why) == 0);
    return m;
}

struct fixture {
    struct kcheck k;
    struct kbuffer out, residual, bias, workspace;
    struct sconv_options options;
    struct sconv_plan *plan;
    size_t n_out;
    size_t odd_weight; /* of these weights one is not finite: its index + 1; 0: none */
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
 * Tells whether a weight that is not finite meets padding there: zero times it is NaN, where plans multiply padding at
 * all.
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
    struct sconv_machine *const machines[] = { machine("sim/machines/toy.cfg"), machine(NULL) };

    for (unsigned round = 0; round < test_rounds(300); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct fixture f;

        fixture_init(&f, &p, machines[rng_below(2)], rng_below(2), false);
        CU_ASSERT_EQUAL(run(&f), 0);
        check_result(&f);
        fixture_release(&f);
    }
    sconv_machine_free(machines[0]);
    sconv_machine_free(machines[1]);
}

static void not_a_number_propagates(void)
{
    struct sconv_machine *m = machine("sim/machines/toy.cfg");

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

/* Weights too: where they meet padding, plans that pack windows multiply them by zero, others leave them out. */
static void odd_weights_propagate(void)
{
    struct sconv_machine *m = machine("sim/machines/toy.cfg");

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

/* ---- the same plan from many threads ---- */

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
    struct sconv_machine *m = machine("sim/machines/toy.cfg");

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

/* ---- threads share the work: every step that computes belongs to exactly one ---- */

struct counter {
    struct conv_backend base;
    size_t n_points;
};

static int count(struct conv_backend *self, const struct conv_step *s)
{
    if (conv_step_computes(s))
        ((struct counter *)self)->n_points += s->n_win * s->n_f * s->n_k;
    return 0;
}

static void shares_add_up(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct conv_problem p = kcheck_random_problem();
        const struct csa_caches caches = { .l1_bytes = 4096, .l2_bytes = 16384, .l3_bytes = 65536, .line_bytes = 64 };
        const struct conv_ukr *u = conv_ukr_best();
        struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)rng_below(CSA_N_SCHEDULES));
        size_t n_threads = (size_t)rng_range(1, 7);
        struct counter c = { .base.step = count };
        struct conv_plan plan;

        if (rng_below(2))
            CU_ASSERT_FATAL(conv_plan_direct(&plan, &p, conv_direct_at(0), caches.l1_bytes) == 0)
        else
            CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        for (size_t axis = 0; axis < CONV_N_SHARE_AXES; axis++) {
            c.n_points = 0;
            for (size_t i = 0; i < n_threads; i++) {
                struct conv_share s;

                conv_share_init(&s, &c.base, &plan, (enum conv_share_axis)axis, i, n_threads);
                CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
            }
            test_check((double)c.n_points == conv_macs(&p), "%s over %zu threads by %s: %zu points",
                       kcheck_describe(&p), n_threads, conv_share_axis_name((enum conv_share_axis)axis), c.n_points);
        }
    }
}

/* Steps of micro-kernels that a thread gets. */
static int count_steps(struct conv_backend *self, const struct conv_step *s)
{
    ((struct counter *)self)->n_points += s->kind == CONV_STEP_UKR;
    return 0;
}

/* Tiles that follow rows are shared out as tiles: 13 rows of 13 outputs between two threads are 7 and 6. */
static void shares_follow_the_cut(void)
{
    struct conv_problem p = { IMAGES(1, 4, 13, 13), FILTERS(8, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find("f32_14x32__avx512");
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    struct csa_tiling t;
    struct conv_plan plan;
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    t = csa_analyse_in_place(&p, &caches, u->n_win, u->n_f, CSA_IS);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &(struct conv_sconv_options){ .reads_in_place = true }) ==
                    0);
    for (size_t i = 0; i < 2; i++) {
        struct counter c = { .base.step = count_steps };
        struct conv_share s;

        conv_share_init(&s, &c.base, &plan, CONV_SHARE_WINDOWS, i, 2);
        CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
        CU_ASSERT_EQUAL(c.n_points, 7 - i);
    }
}

/* 14x14 outputs are 12 tiles of 16 windows and one of 4: what a share has too much is less than one call. */
static void shares_are_even(void)
{
    struct conv_problem p = { IMAGES(1, 64, 14, 14), FILTERS(256, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    for (unsigned round = 0; round < 2 * CSA_N_SCHEDULES; round++) {
        const struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)(round / 2));
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        for (size_t n_threads = 2; n_threads < 8; n_threads++) {
            for (size_t i = 0; i < n_threads; i++) {
                struct counter c = { .base.step = count };
                struct conv_share s;

                conv_share_init(&s, &c.base, &plan, round % 2 ? CONV_SHARE_WINDOWS : CONV_SHARE_FILTERS, i, n_threads);
                CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
                test_check(fabs((double)c.n_points - conv_macs(&p) / (double)n_threads) <=
                               (double)(u->n_win * u->n_f * p.c),
                           "share %zu of %zu has %zu multiply-adds", i, n_threads, c.n_points);
            }
        }
    }
}

static int count_packed(struct conv_backend *self, const struct conv_step *s)
{
    if (s->kind == CONV_STEP_PACK_WINDOWS)
        ((struct counter *)self)->n_points += s->n_win * s->n_k;
    return 0;
}

/* By windows, threads pack what they read: what is packed twice is less than a tile for each of them. */
static void shares_pack_what_they_read(void)
{
    struct conv_problem p = { IMAGES(1, 64, 14, 14), FILTERS(256, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__avx512");
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    for (int schedule = 0; schedule < CSA_N_SCHEDULES; schedule++) {
        const struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, (enum csa_schedule)schedule);
        struct counter c = { .base.step = count_packed };
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_sconv(&plan, &p, u, &t, false) == 0);
        for (size_t i = 0; i < 3; i++) {
            struct conv_share s;

            conv_share_init(&s, &c.base, &plan, CONV_SHARE_WINDOWS, i, 3);
            CU_ASSERT_EQUAL(conv_nest_run(&plan, &s.base), 0);
        }
        test_check(c.n_points >= p.c * conv_windows(&p) && c.n_points <= p.c * (conv_windows(&p) + 2 * u->n_win),
                   "%s: three threads pack %zu elements", csa_schedule_name((enum csa_schedule)schedule), c.n_points);
    }
}

/*
 * 15x16 outputs are 5 tiles of 48 windows: two threads take 3 and 2 of them, but 16 each of 32 tiles of filters. Where
 * windows are packed, each thread would pack all, which takes more than a fifth to be gained.
 */
static void shares_by_filters_pack_twice(void)
{
    struct conv_problem p = { IMAGES(1, 64, 15, 16), FILTERS(256, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find("f32_48x8__avx512");
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 24, .line_bytes = 64 };
    struct csa_tiling t;
    struct conv_plan plan;
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    t = csa_analyse_in_l1(&p, &caches, u->n_win, u->n_f, CSA_IS);
    for (int in_place = 0; in_place < 2; in_place++) {
        const struct conv_sconv_options options = { .reads_in_place = in_place };

        CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
        CU_ASSERT_EQUAL(conv_share_choose(&plan, 2), in_place ? CONV_SHARE_FILTERS : CONV_SHARE_WINDOWS);
    }
}

/* ---- errors ---- */

static float weights[SMALL_WEIGHTS], in[SMALL_IN], out[SMALL_OUT];

static void expect_refused(int want, const struct sconv_shape *s, const float *w, const struct sconv_options *o,
                           const char *what)
{
    struct sconv_plan *plan = (struct sconv_plan *)(void *)in;
    int err = sconv_plan_create(&plan, s, NULL, w, o);

    char why[512] = "";

    test_check(err == want && !plan, "%s: %d, plan %s", what, err, plan ? "made" : "NULL");
    test_check(sconv_plan_check(s, NULL, w, o, why, sizeof why) == want && *why && !strchr(why, '\n') &&
                   sconv_plan_check(s, NULL, w, o, NULL, 0) == want,
               "%s: the reason is '%s'", what, why);
    if (!err)
        sconv_plan_free(plan);
}

static void bad_shapes_are_refused(void)
{
    static const size_t offsets[] = {
        offsetof(struct sconv_shape, batch),      offsetof(struct sconv_shape, in_c),
        offsetof(struct sconv_shape, in_h),       offsetof(struct sconv_shape, in_w),
        offsetof(struct sconv_shape, out_c),      offsetof(struct sconv_shape, k_h),
        offsetof(struct sconv_shape, k_w),        offsetof(struct sconv_shape, stride_h),
        offsetof(struct sconv_shape, stride_w),   offsetof(struct sconv_shape, dilation_h),
        offsetof(struct sconv_shape, dilation_w), offsetof(struct sconv_shape, groups),
    };
    static const size_t sizes[] = { offsetof(struct sconv_shape, batch),    offsetof(struct sconv_shape, in_c),
                                    offsetof(struct sconv_shape, in_h),     offsetof(struct sconv_shape, out_c),
                                    offsetof(struct sconv_shape, pad_left), offsetof(struct sconv_shape, stride_h),
                                    offsetof(struct sconv_shape, stride_w), offsetof(struct sconv_shape, dilation_w) };
    struct sconv_shape flat = small;

    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        struct sconv_shape s = small;

        *(size_t *)(void *)((char *)&s + offsets[i]) = 0;
        expect_refused(-EINVAL, &s, weights, NULL, "a 0");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct sconv_shape s = small;

        *(size_t *)(void *)((char *)&s + sizes[i]) = (size_t)-3;
        expect_refused(-EOVERFLOW, &s, weights, NULL, "a negative size");
    }
    flat.in_h = 2;
    flat.pad_top = flat.pad_bottom = 0;
    expect_refused(-EINVAL, &flat, weights, NULL, "a filter too large");
}

static void bad_arguments_are_refused(void)
{
    const float *odd = (const float *)(uintptr_t)((uintptr_t)weights + 1);
    struct sconv_shape groups = small;

    groups.groups = 2;
    expect_refused(-EINVAL, &groups, weights, NULL, "groups that do not divide");
    expect_refused(-EINVAL, NULL, weights, NULL, "no shape");
    expect_refused(-EINVAL, &small, NULL, NULL, "no weights");
    expect_refused(-EINVAL, &small, odd, NULL, "weights at an odd address");
    expect_refused(-EINVAL, &small, weights, &(struct sconv_options){ .bias = odd }, "a bias at an odd address");
    expect_refused(-EINVAL, &small, weights, &(struct sconv_options){ .activation = (enum sconv_activation)3 },
                   "an activation");
    expect_refused(-EINVAL, &small, weights, &(struct sconv_options){ .threads = SCONV_MAX_THREADS + 1 }, "threads");
    CU_ASSERT_EQUAL(sconv_plan_create(NULL, &small, NULL, weights, NULL), -EINVAL);
    CU_ASSERT_EQUAL(sconv_machine_create(NULL, NULL, NULL, 0), -EINVAL);
    CU_ASSERT_EQUAL(sconv_workspace_bytes(NULL), 0);
    CU_ASSERT_EQUAL(sconv_plan_describe(NULL, NULL, 0), 0);
    sconv_plan_free(NULL);
    sconv_machine_free(NULL);
}

static void bad_runs_are_refused(void)
{
    struct sconv_plan *plan, *adding;
    const struct sconv_options adds = { .adds_residual = 1 };
    float *odd = (float *)(uintptr_t)((uintptr_t)out + 2);
    size_t bytes;
    void *ws;

    CU_ASSERT_FATAL(sconv_plan_create(&plan, &small, NULL, weights, NULL) == 0);
    CU_ASSERT_FATAL(sconv_plan_create(&adding, &small, NULL, weights, &adds) == 0);
    bytes = sconv_workspace_bytes(plan);
    ws = calloc(1, bytes);
    CU_ASSERT_FATAL(ws != NULL);
    out[0] = 12345;
    CU_ASSERT_EQUAL(sconv_run(NULL, in, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, NULL, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, NULL, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, NULL, NULL, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, odd, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, odd, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, NULL, ws, bytes - 1), -ENOBUFS);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, in, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(adding, in, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(adding, in, out, out, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, in + 1, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, ws, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(out[0], 12345);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, NULL, ws, bytes), 0);
    CU_ASSERT_EQUAL(out[0], 0);
    free(ws);
    sconv_plan_free(plan);
    sconv_plan_free(adding);
}

/* The reason names what is wrong; arguments that run are fine. */
static void reasons_name_the_culprit(void)
{
    const struct sconv_options busy = { .threads = 65 };
    struct sconv_shape odd = small;
    struct sconv_plan *plan;
    char why[256] = "", ws[1];

    odd.stride_w = (size_t)-3;
    CU_ASSERT_EQUAL(sconv_plan_check(&odd, NULL, weights, NULL, why, sizeof why), -EOVERFLOW);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "stride_w 18446744073709551613"));
    CU_ASSERT_EQUAL(sconv_plan_check(&small, NULL, weights, &busy, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "threads is 65, must be at most 64");
    CU_ASSERT_EQUAL(sconv_plan_check(&small, NULL, weights, &busy, why, 8), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "threads");
    CU_ASSERT_EQUAL(sconv_plan_check(&small, NULL, weights, NULL, NULL, 5), -EINVAL);
    CU_ASSERT_EQUAL(sconv_plan_check(&small, NULL, weights, NULL, why, sizeof why), 0);
    CU_ASSERT_FATAL(sconv_plan_create(&plan, &small, NULL, weights, NULL) == 0);
    CU_ASSERT_EQUAL(sconv_run_check(plan, in, out, NULL, ws, 1, why, sizeof why), -ENOBUFS);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "workspace_bytes is 1, must be at least "));
    CU_ASSERT_EQUAL(sconv_run_check(plan, in, out, in, ws, SIZE_MAX, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "residual is not NULL, but the plan adds none");
    CU_ASSERT_EQUAL(sconv_run_check(plan, in, in + 1, NULL, ws, SIZE_MAX, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "dst overlaps src");
    sconv_plan_free(plan);
}

static void errors_have_texts(void)
{
    static const int known[] = { 0, -EINVAL, -EOVERFLOW, -ENOBUFS, -ENOTSUP, -ENOMEM, -ENOENT, -EACCES, -EISDIR };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CU_ASSERT(strlen(sconv_strerror(known[i])) > 0);
        CU_ASSERT_STRING_NOT_EQUAL(sconv_strerror(known[i]), sconv_strerror(12345));
    }
    CU_ASSERT(strlen(sconv_strerror(12345)) > 0);
    CU_ASSERT(sconv_version()[0] >= '0' && sconv_version()[0] <= '9');
}

/* Every allocation fails once, in its turn, and all after it; nothing leaks (the sanitizer looks) and the result is
 * clean. */
static void failed_allocations_are_reported(void)
{
    const struct sconv_options o = { .bias = weights };
    struct sconv_plan *plan = NULL;
    size_t n = 0;
    int err = -ENOMEM;

    for (; n < 20 && err; n++) {
        failing_alloc_after(n);
        err = sconv_plan_create(&plan, &small, NULL, weights, &o);
        CU_ASSERT_EQUAL(failing_alloc_stop() > 0, err != 0);
        CU_ASSERT(err == 0 || (err == -ENOMEM && !plan));
    }
    CU_ASSERT_EQUAL(n, 6); /* machine, its wisdom, plan, bias, packed filters: five can fail */
    sconv_plan_free(plan);
}

static void machine_files_report_their_errors(void)
{
    struct sconv_machine *m = (struct sconv_machine *)(void *)in;
    char why[160] = "";

    CU_ASSERT_EQUAL(sconv_machine_create(&m, "no/such.cfg", why, sizeof why), -ENOENT);
    CU_ASSERT(!m && strstr(why, "no/such.cfg"));
    CU_ASSERT_EQUAL(sconv_machine_create(&m, "no/such.cfg", NULL, 0), -ENOENT);
    CU_ASSERT_EQUAL(sconv_machine_create(&m, "tests/rng.h", why, sizeof why), -EINVAL);
}

/* Returns what the library chooses for the shape on this CPU and that machine. */
static struct conv_plan chosen_for(const struct conv_problem *p, const char *machine_file)
{
    struct sim_machine m;
    struct csa_caches caches;
    struct conv_plan plan;
    char why[256];

    CU_ASSERT_FATAL(sim_machine_read(&m, machine_file, why, sizeof why) == 0);
    caches = csa_caches_of(&m, csa_default_share);
    CU_ASSERT_FATAL(conv_plan_tuned(&plan, p, &caches, &(struct conv_tune_options){ .ukr = NULL }) == 0);
    return plan;
}

static void plans_describe_themselves(void)
{
    static const char toy[] = "sim/machines/toy.cfg";
    struct sconv_machine *m = machine(toy);
    const struct sconv_options o = { .bias = weights, .activation = SCONV_RELU6, .threads = 2 };
    struct conv_problem p = { IMAGES(1, 5, 9, 9), FILTERS(7, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 };
    struct sconv_shape shape;
    struct conv_plan chosen;
    struct sconv_plan *plan;
    char text[512], cut[10];
    size_t n, out_h, out_w;

    CU_ASSERT_FATAL(conv_problem_finish(&p, text, sizeof text) == 0);
    chosen = chosen_for(&p, toy);
    shape = sconv_shape_of(&p);
    CU_ASSERT_FATAL(sconv_plan_create(&plan, &shape, m, weights, &o) == 0);
    n = sconv_plan_describe(plan, text, sizeof text);
    CU_ASSERT_EQUAL(n, strlen(text));
    CU_ASSERT(strstr(text, "schedule=") && strstr(text, chosen.ukr->name) &&
              strstr(text, chosen.sconv.options.reads_in_place ? " windows=in_place " : " windows=packed ") &&
              strstr(text, " bias relu6") && strstr(text, "threads=2"));
    CU_ASSERT((strstr(text, " padding=skipped") != NULL) == chosen.sconv.options.skips_padding);
    CU_ASSERT_EQUAL(sconv_plan_describe(plan, cut, sizeof cut), n);
    CU_ASSERT_EQUAL(strlen(cut), sizeof cut - 1);
    CU_ASSERT_EQUAL(sconv_plan_describe(plan, NULL, 0), n);
    CU_ASSERT(!sconv_output_size(plan, &out_h, &out_w) && out_h == 9 && out_w == 9);
    sconv_plan_free(plan);
    sconv_machine_free(m);
}

/* As they are planned: direct, with rows or groups of a step. */
static void depthwise_plans_describe_themselves(void)
{
    struct sconv_shape depthwise = small;
    struct sconv_machine *m = machine("sim/machines/toy.cfg");
    const struct sconv_options o = { .threads = 2 };
    struct sconv_plan *plan;
    char text[512];

    depthwise.groups = depthwise.out_c = depthwise.in_c;
    CU_ASSERT_FATAL(sconv_plan_create(&plan, &depthwise, m, weights, &o) == 0);
    CU_ASSERT(sconv_plan_describe(plan, text, sizeof text) == strlen(text));
    CU_ASSERT(strstr(text, "schedule=direct ukr=f32_direct_8x") && strstr(text, " rows=") && strstr(text, " groups=") &&
              strstr(text, " windows=in_place threads=2 over="));
    sconv_plan_free(plan);
    sconv_machine_free(m);
}

/* What the call writes is read again, and is the plan that sconv_plan_create takes, or the paper's. */
static void plans_are_told_to_compilers(void)
{
    static const char toy[] = "sim/machines/toy.cfg";
    struct conv_problem p = { IMAGES(1, 5, 9, 9), FILTERS(7, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *best = conv_ukr_best();
    struct sconv_machine *m = machine(toy);
    struct conv_noted_plans plans;
    struct sconv_shape shape;
    struct conv_plan chosen;
    char text[8192], why[512];
    size_t n;

    scratch_open();
    CU_ASSERT_FATAL(conv_problem_finish(&p, why, sizeof why) == 0);
    shape = sconv_shape_of(&p);
    chosen = chosen_for(&p, toy);
    for (int planner = SCONV_PAPER; planner <= SCONV_TUNED; planner++) {
        const struct conv_ukr *ukr = planner == SCONV_TUNED ? chosen.ukr : best;

        CU_ASSERT_FATAL(sconv_plan_json(&shape, m, (enum sconv_planner)planner, text, sizeof text, &n) == 0);
        CU_ASSERT_EQUAL(n, strlen(text));
        CU_ASSERT_FATAL(test_check(conv_plans_read(&plans, scratch_text("plan.json", text), NULL, why, sizeof why) == 0,
                                   "%s", why));
        CU_ASSERT(plans.n == 1 && plans.plan[0].plan.ukr == ukr && conv_problem_equal(&plans.plan[0].plan.problem, &p));
        CU_ASSERT_EQUAL(plans.plan[0].plan.sconv.options.prefetches,
                        planner == SCONV_TUNED && chosen.sconv.options.prefetches);
        CU_ASSERT_STRING_EQUAL(plans.plan[0].machine, "toy");
        conv_plans_release(&plans);
    }
    CU_ASSERT(sconv_plan_json(&shape, NULL, SCONV_PAPER, text, sizeof text, NULL) == 0);
    scratch_close();
    sconv_machine_free(m);
}

static void texts_of_plans_have_to_fit(void)
{
    struct sconv_shape depthwise = small, bad = small;
    struct sconv_machine *m = machine("sim/machines/toy.cfg");
    char text[8192] = "x";
    size_t n, again;

    CU_ASSERT_FATAL(sconv_plan_json(&small, m, SCONV_PAPER, text, sizeof text, &n) == 0);
    CU_ASSERT(sconv_plan_json(&small, m, SCONV_PAPER, text, n + 1, &again) == 0 && again == n && strlen(text) == n);
    CU_ASSERT(sconv_plan_json(&small, m, SCONV_PAPER, text, n, &again) == -ENOBUFS && again == n && !*text);
    CU_ASSERT(sconv_plan_json(&small, m, SCONV_PAPER, NULL, 0, &again) == -ENOBUFS && again == n);
    CU_ASSERT_EQUAL(sconv_plan_json(&small, m, SCONV_PAPER, NULL, 1, &again), -EINVAL);
    CU_ASSERT_EQUAL(sconv_plan_json(NULL, m, SCONV_PAPER, text, sizeof text, &again), -EINVAL);
    CU_ASSERT_EQUAL(sconv_plan_json(&small, m, (enum sconv_planner)2, text, sizeof text, &again), -EINVAL);
    bad.stride_w = 0;
    CU_ASSERT_EQUAL(sconv_plan_json(&bad, m, SCONV_PAPER, text, sizeof text, &again), -EINVAL);
    depthwise.groups = depthwise.out_c = depthwise.in_c;
    CU_ASSERT(sconv_plan_json(&depthwise, m, SCONV_TUNED, text, sizeof text, &again) == -ENOTSUP && !*text);
    CU_ASSERT_EQUAL(sconv_plan_json(&depthwise, m, SCONV_PAPER, text, sizeof text, &again), 0);
    sconv_machine_free(m);
}

static const struct test_case cases[] = {
    { "random convolutions with any epilogue and thread count are right", random_convolutions_are_right },
    { "NaN and infinities propagate through epilogues", not_a_number_propagates },
    { "weights that are not finite propagate, to padding or not", odd_weights_propagate },
    { "one plan serves many threads at a time", callers_do_not_disturb_each_other },
    { "threads' shares add up to the whole, on every axis", shares_add_up },
    { "threads' shares are even", shares_are_even },
    { "threads that share windows pack what they read", shares_pack_what_they_read },
    { "threads' shares by filters have to be worth packing twice", shares_by_filters_pack_twice },
    { "threads' shares follow the rows that tiles follow", shares_follow_the_cut },
    { "bad shapes are refused", bad_shapes_are_refused },
    { "bad arguments are refused", bad_arguments_are_refused },
    { "bad runs are refused before anything is written", bad_runs_are_refused },
    { "reasons name the culprit", reasons_name_the_culprit },
    { "every error has a text", errors_have_texts },
    { "failed allocations are reported and leave nothing behind", failed_allocations_are_reported },
    { "machine files report their errors", machine_files_report_their_errors },
    { "plans describe themselves", plans_describe_themselves },
    { "depthwise plans describe themselves", depthwise_plans_describe_themselves },
    { "plans are told to compilers", plans_are_told_to_compilers },
    { "texts of plans have to fit", texts_of_plans_have_to_fit },
    { NULL, NULL },
};

const struct test_suite suite_sconv = { "sconv", cases };
