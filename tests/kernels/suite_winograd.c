/* Winograd's convolution: results within derived bounds, every point once, choices, and what the layout holds. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/lib/sconv_shape.h"
#include "kernels/plan/plan_winograd.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/winograd.h"
#include "sim/trace/trace.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* A random shape for Winograd: 3x3, odd sizes, ragged tiles, any padding, batches. */
static struct conv_problem random_shape(void)
{
    for (;;) {
        struct conv_problem p = kcheck_random_problem();
        char why[128];

        p.r = p.s = 3;
        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
        p.pad_top = rng_below(4);
        p.pad_left = rng_below(4);
        p.pad_bottom = rng_below(4);
        p.pad_right = rng_below(4);
        if (rng_below(4) == 0)
            p.w = (size_t)rng_range(1, 90);
        if (!conv_problem_finish(&p, SIM_WHY(why)))
            return p;
    }
}

static struct conv_plan plan_of(const struct conv_problem *p, const struct conv_ukr *u, size_t m)
{
    struct conv_plan plan;

    CU_ASSERT_FATAL(!conv_winograd_why_not(p));
    CU_ASSERT_FATAL(conv_plan_winograd(&plan, p, u, m, (size_t)rng_range(1, 120), rng_below(4) == 0) == 0);
    return plan;
}

static void check_plan(const struct conv_plan *plan)
{
    struct conv_mismatch where;
    struct kcheck k;
    int err;

    CU_ASSERT_FATAL(kcheck_init(&k, &plan->problem, rng_below(2)) == 0);
    err = kcheck_run(&k, plan, &where);
    test_check(err == 0, "%s, %s %s: error %d at output %zu: got %.9g, want %.9g +- %.3g", plan->winograd.kernel->name,
               conv_plan_kernel_name(plan), kcheck_describe(&plan->problem), err, where.index, where.got, where.want,
               where.bound);
    kcheck_release(&k);
}

static void winograd_equals_naive(void)
{
    for (unsigned round = 0; round < test_rounds(25); round++) {
        const struct conv_problem p = random_shape();

        for (size_t i = 0; i < conv_ukr_count(); i++) {
            const struct conv_ukr *u = conv_ukr_at(i);

            for (size_t m = 2; m <= 4 && conv_winograd_takes_ukr(u) && conv_ukr_runs(u); m += 2) {
                const struct conv_plan plan = plan_of(&p, u, m);

                check_plan(&plan);
            }
        }
    }
}

/* Small shapes are many in a short time: 100,000 of them in make check-long. */
static void many_small_shapes_equal_naive(void)
{
    for (unsigned round = 0; round < test_rounds(1000); round++) {
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        struct conv_problem p = random_shape();
        struct conv_plan plan;
        char why[128];

        p.n = 1;
        p.c = (size_t)rng_range(1, 9);
        p.k = (size_t)rng_range(1, 9);
        p.h = (size_t)rng_range(3, 14);
        p.w = (size_t)rng_range(3, 14);
        CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
        while (!conv_winograd_takes_ukr(u) || !conv_ukr_runs(u))
            u = conv_ukr_at(rng_below(conv_ukr_count()));
        plan = plan_of(&p, u, rng_below(2) ? 2 : 4);
        check_plan(&plan);
    }
}

/* Counts how often each point of a product is computed: tiles, filters, channels. */
struct visitor {
    struct conv_backend base;
    const struct conv_plan *plan;
    unsigned char *points, *outputs;
    size_t n_tiles, n_wrong;
};

/* Adds a visit to each point of a micro-kernel step; returns whether the step lies in its product. */
static bool visit_product(struct visitor *v, const struct conv_step *s)
{
    const struct conv_plan_winograd *w = &v->plan->winograd;
    const size_t product = s->out_panel / w->out_step;
    const size_t row = s->image * conv_winograd_products(w->kernel) + product;

    for (size_t i = 0; i < s->n_win * s->n_f; i++) {
        const size_t tile = s->win0 + i % s->n_win, f = s->f0 + i / s->n_win;

        v->points[(row * v->n_tiles + tile) * v->plan->problem.k + f]++;
    }
    return s->in_panel / w->in_step == product && s->f_panel / w->filter_step == product && !s->accumulate &&
           s->n_k == v->plan->problem.c;
}

static int visit(struct conv_backend *self, const struct conv_step *s)
{
    struct visitor *v = (struct visitor *)self;
    const struct conv_problem *p = &v->plan->problem;

    if (s->win0 + s->n_win > v->n_tiles || s->f0 + s->n_f > p->k || s->k0 + s->n_k > p->c)
        v->n_wrong++;
    else if (s->kind == CONV_STEP_UKR)
        v->n_wrong += !visit_product(v, s);
    for (size_t t = 0; t < s->n_win && s->kind == CONV_STEP_WINOGRAD_OUT && !v->n_wrong; t++)
        v->outputs[s->image * v->n_tiles + s->win0 + t]++;
    return 0;
}

static void check_visits(const struct conv_plan *plan)
{
    const struct conv_plan_winograd *w = &plan->winograd;
    struct visitor v = { .base.step = visit, .plan = plan, .n_tiles = w->tile_rows * w->tile_columns };
    const size_t n_outputs = plan->problem.n * v.n_tiles;
    const size_t n_points = n_outputs * conv_winograd_products(w->kernel) * plan->problem.k;
    size_t n_wrong = 0;

    v.points = calloc(n_points + n_outputs, 1);
    CU_ASSERT_FATAL(v.points != NULL);
    v.outputs = v.points + n_points;
    CU_ASSERT(conv_nest_run(plan, &v.base) == 0);
    for (size_t i = 0; i < n_points + n_outputs; i++)
        n_wrong += v.points[i] != 1;
    test_check(!n_wrong && !v.n_wrong, "%s: %zu of %zu points not once, %zu steps out of bounds",
               kcheck_describe(&plan->problem), n_wrong, n_points + n_outputs, v.n_wrong);
    free(v.points);
}

static void winograd_visits_every_point_once(void)
{
    for (unsigned i = 0; i < test_rounds(100); i++) {
        const struct conv_problem p = random_shape();
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        struct conv_plan plan;

        if (!conv_winograd_takes_ukr(u))
            continue;
        plan = plan_of(&p, u, rng_below(2) ? 2 : 4);
        check_visits(&plan);
    }
}

/* ---- replay ---- */

struct bounds {
    struct sim_sink sink;
    const struct conv_plan *plan;
    size_t n_wrong;
    uint64_t loads[CONV_N_TENSORS], stores[CONV_N_TENSORS]; /* bytes */
};

static void take(void *ctx, const struct sim_access *a)
{
    struct bounds *b = ctx;
    const uint64_t start = CONV_REPLAY_BASE + b->plan->layout.offset[a->tag];

    b->n_wrong += a->addr < start || a->addr + a->bytes > start + b->plan->layout.bytes[a->tag];
    *(a->kind == SIM_LOAD ? &b->loads[a->tag] : &b->stores[a->tag]) += a->bytes;
}

/* All accesses lie in their tensors, every output is stored once, and every panel of tiles is written once. */
static void replayed_accesses_lie_in_their_tensors(void)
{
    for (unsigned i = 0; i < test_rounds(30); i++) {
        const struct conv_problem p = random_shape();
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        struct sim_expander expander;
        struct conv_replay replay;
        struct bounds b = { 0 };
        struct conv_plan plan;

        if (!conv_winograd_takes_ukr(u))
            continue;
        plan = plan_of(&p, u, rng_below(2) ? 2 : 4);
        b.plan = &plan;
        sim_expander_init(&expander, take, &b);
        conv_replay_init(&replay, &plan, &expander.sink);
        CU_ASSERT(conv_nest_pack_filters(&plan, &replay.base) == 0);
        CU_ASSERT(conv_nest_run(&plan, &replay.base) == 0);
        test_check(!b.n_wrong, "%s: %zu accesses outside", kcheck_describe(&p), b.n_wrong);
        CU_ASSERT(b.stores[CONV_OUTPUT] == plan.layout.bytes[CONV_OUTPUT]);
        CU_ASSERT(b.stores[CONV_PACKED_FILTER] == plan.layout.bytes[CONV_PACKED_FILTER]);
        CU_ASSERT(b.loads[CONV_OUTPUT] == 0 && b.stores[CONV_INPUT] == 0 && b.loads[CONV_IM2COL] > 0);
        CU_ASSERT(b.loads[CONV_INPUT] > 0 && b.stores[CONV_PACKED_INPUT] > 0 && b.loads[CONV_PACKED_INPUT] > 0);
    }
}

/* ---- by hand ---- */

static void norms_are_those_worked_out_by_hand(void)
{
    CU_ASSERT_DOUBLE_EQUAL(conv_winograd_norm(2), 8, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(conv_winograd_norm(4), 48, 1e-9);
    CU_ASSERT(conv_winograd_roundings(2, 1) == 9 && conv_winograd_roundings(4, 64) == 82);
}

/* Bounds of a plane are within the bound for all elements of magnitude 1. */
static void worst_errors_enclose_bounds(void)
{
    const double u = 0x1p-24;

    CU_ASSERT_DOUBLE_EQUAL(conv_winograd_worst_error(2, 64), 72 * u / (1 - 72 * u) * 64 * 64, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(conv_winograd_worst_error(4, 1), 19 * u / (1 - 19 * u) * 48 * 48, 1e-9);
    for (unsigned i = 0; i < test_rounds(20); i++) {
        const struct conv_problem p = random_shape();
        const size_t m = rng_below(2) ? 2 : 4, n_in = p.c * p.h * p.w, n_filter = conv_reduction(&p);
        float *in = calloc(n_in + n_filter, sizeof *in), *filter = in + n_in;
        double *bound = calloc(conv_windows(&p), sizeof *bound), most = 0;

        CU_ASSERT_FATAL(in && bound);
        for (size_t j = 0; j < n_in + n_filter; j++)
            in[j] = rng_below(2) ? 1.0f : -1.0f;
        conv_winograd_error_bounds(m, &p, in, filter, bound);
        for (size_t j = 0; j < conv_windows(&p); j++)
            most = fmax(most, bound[j]);
        CU_ASSERT(most <= conv_winograd_worst_error(m, p.c) * (1 + 1e-12));
        free(bound);
        free(in);
    }
}

/* The error decides between F(4x4), F(2x2) and none. */
static void choices_keep_the_error(void)
{
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 25, .line_bytes = 64 };
    const struct conv_problem p = { 1, 64, 56, 56, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 56, 56, 0 };
    const double of[] = { [2] = conv_winograd_worst_error(2, 64), [4] = conv_winograd_worst_error(4, 64) };
    struct conv_winograd_options o = { .most_error = of[4] };
    struct conv_plan plan;

    CU_ASSERT(conv_winograd_pays(&p, &caches, &o));
    CU_ASSERT(conv_plan_winograd_tuned(&plan, &p, &caches, &o) == 0 && plan.winograd.kernel->m == 4);
    o.most_error = of[4] * 0.999;
    CU_ASSERT(conv_winograd_pays(&p, &caches, &o));
    CU_ASSERT(conv_plan_winograd_tuned(&plan, &p, &caches, &o) == 0 && plan.winograd.kernel->m == 2);
    o.most_error = of[2] * 0.999;
    CU_ASSERT(!conv_winograd_pays(&p, &caches, &o));
}

static void other_shapes_are_refused_in_a_line(void)
{
    static const struct conv_problem same = { .n = 1,
                                              .c = 4,
                                              .h = 8,
                                              .w = 8,
                                              .k = 4,
                                              .r = 3,
                                              .s = 3,
                                              .stride_h = 1,
                                              .stride_w = 1,
                                              .dilation_h = 1,
                                              .dilation_w = 1,
                                              .groups = 1 };
    struct conv_problem p = same;

    CU_ASSERT(!conv_winograd_why_not(&p));
    p.r = 1;
    CU_ASSERT(strstr(conv_winograd_why_not(&p), "3x3") != NULL);
    p = same;
    p.stride_w = 2;
    CU_ASSERT(strstr(conv_winograd_why_not(&p), "stride 1") != NULL);
    p = same;
    p.dilation_h = 2;
    CU_ASSERT(strstr(conv_winograd_why_not(&p), "dilation") != NULL);
    p = same;
    p.groups = 2;
    CU_ASSERT(strstr(conv_winograd_why_not(&p), "group") != NULL);
}

/* The choice runs, whatever the caches, and keeps the given m. */
static void choices_run(void)
{
    for (unsigned i = 0; i < test_rounds(25); i++) {
        const struct conv_problem p = random_shape();
        const struct csa_caches caches = { .l1_bytes = 1000,
                                           .l2_bytes = (double)rng_range(2048, 400000),
                                           .l3_bytes = (double)rng_range(4096, 2000000),
                                           .line_bytes = 64 };
        const struct conv_winograd_options o = { .m = rng_below(3) * 2 };
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_winograd_tuned(&plan, &p, &caches, &o) == 0);
        CU_ASSERT(!o.m || plan.winograd.kernel->m == o.m);
        CU_ASSERT(conv_plan_runs(&plan) && plan.winograd.block % plan.ukr->n_win == 0);
        check_plan(&plan);
    }
}

/* ---- the library ---- */

/* Plain loops, bias and ReLU; a thread's results are those of one thread. */
static void check_library(const struct sconv_machine *m, const struct conv_problem *p, struct kcheck *k,
                          unsigned threads)
{
    const struct sconv_shape shape = sconv_shape_of(p);
    const size_t n = conv_windows(p);
    float *bias = calloc(p->k, sizeof *bias), *out = calloc(p->n * p->k * n, sizeof *out);
    double *want = calloc(2 * n, sizeof *want), *bound = want + n;
    const struct sconv_options o = { .bias = bias, .activation = SCONV_RELU, .threads = threads };
    size_t bytes, n_wrong = 0;
    struct sconv_plan *plan;
    char text[512] = "";
    void *workspace;

    CU_ASSERT_FATAL(bias && out && want);
    rng_small_ints(bias, p->k, 9);
    CU_ASSERT_FATAL(sconv_plan_create(&plan, &shape, m, k->filter, &o) == 0);
    sconv_plan_describe(plan, text, sizeof text);
    CU_ASSERT(strstr(text, "schedule=winograd ukr=") != NULL);
    bytes = sconv_workspace_bytes(plan);
    workspace = malloc(bytes);
    CU_ASSERT_FATAL(workspace && sconv_run(plan, k->in, out, NULL, workspace, bytes) == 0);
    for (size_t i = 0; i < p->n * p->k; i++) {
        const size_t image = i / p->k, f = i % p->k;

        conv_naive_plane(p, k->in, k->filter, image, f, want, NULL);
        conv_winograd_error_bounds(strstr(text, "m=2") ? 2 : 4, p, k->in + image * p->c * p->h * p->w,
                                   k->filter + f * conv_reduction(p), bound);
        for (size_t w = 0; w < n; w++)
            n_wrong +=
                !(fabs((double)out[i * n + w] - fmax(want[w] + (double)bias[f], 0)) <= bound[w] + 1e-6 * fabs(want[w]));
    }
    test_check(!n_wrong, "%s, %u threads, %s: %zu outputs are wrong", kcheck_describe(p), threads, text, n_wrong);
    sconv_plan_free(plan);
    free(workspace);
    free(want);
    free(out);
    free(bias);
}

static int machine_where(const char *word, struct sconv_machine **m, char why[256])
{
    int err;

    setenv("SCONV_WINOGRAD", word, 1);
    err = sconv_machine_create(m, "sim/machines/clx4208.cfg", why, 256);
    unsetenv("SCONV_WINOGRAD");
    return err;
}

static void other_words_are_refused(void)
{
    static const char *const words[] = { "perhaps",    "error<=",    "error<=0",  "error<=-1",
                                         "error<=nan", "error<=inf", "error<=1x", "error<1" };
    struct sconv_machine *m;
    char why[256], want[64];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(want, sizeof want, "SCONV_WINOGRAD is '%s'", words[i]);
        CU_ASSERT(machine_where(words[i], &m, why) == -EINVAL && strstr(why, want));
    }
}

static void the_library_takes_winograd_where_asked(void)
{
    struct conv_problem p = { .n = 2,
                              .c = 32,
                              .h = 13,
                              .w = 30,
                              .k = 50,
                              .r = 3,
                              .s = 3,
                              .stride_h = 1,
                              .stride_w = 1,
                              .pad_top = 1,
                              .pad_left = 1,
                              .pad_bottom = 1,
                              .dilation_h = 1,
                              .dilation_w = 1,
                              .groups = 1 };
    struct sconv_machine *m;
    struct kcheck k;
    char why[256];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    CU_ASSERT_FATAL(kcheck_init(&k, &p, false) == 0);
    CU_ASSERT_FATAL(machine_where("yes", &m, why) == 0);
    for (unsigned threads = 1; threads <= 5; threads++)
        check_library(m, &p, &k, threads);
    sconv_machine_free(m);
    CU_ASSERT_FATAL(machine_where("error<=1e3", &m, why) == 0);
    check_library(m, &p, &k, 1);
    sconv_machine_free(m);
    kcheck_release(&k);
}

static const struct test_case cases[] = {
    { "Winograd equals plain loops within its bound", winograd_equals_naive },
    { "many small shapes equal plain loops within the bound", many_small_shapes_equal_naive },
    { "Winograd computes every point once", winograd_visits_every_point_once },
    { "replayed accesses lie in their tensors", replayed_accesses_lie_in_their_tensors },
    { "norms are those worked out by hand", norms_are_those_worked_out_by_hand },
    { "worst errors enclose the bounds", worst_errors_enclose_bounds },
    { "choices keep the error", choices_keep_the_error },
    { "other shapes are refused in a line", other_shapes_are_refused_in_a_line },
    { "chosen plans run", choices_run },
    { "other words for Winograd are refused", other_words_are_refused },
    { "the library takes Winograd where asked", the_library_takes_winograd_where_asked },
    { NULL, NULL },
};

const struct test_suite suite_winograd = { "winograd", cases };
