/* Fused work: each output is finished once, after all sums of the output; and steps fail. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/backend/fused.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/csa/csa2.h"
#include "kernels/plan/plan_winograd.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/winograd.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/nest_plans.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { OUTPUTS = 1 << 20 }; /* address of the outputs, without memory */

/* ---- plans of every kind ---- */

static struct conv_plan sconv_plan(void)
{
    const struct conv_problem p = kcheck_random_problem();
    const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
    const struct csa_tiling t = nest_random_tiling(&p, u);
    const struct conv_sconv_options options = kcheck_random_options();
    struct conv_plan plan;

    CU_ASSERT_FATAL(!conv_plan_sconv_with(&plan, &p, u, &t, &options));
    return plan;
}

static struct conv_gemm_core core; /* test program only: the last plan points to this core */

static struct conv_plan gemm_plan(void)
{
    const struct conv_problem p = kcheck_random_problem();
    struct conv_plan plan;

    core = nest_random_core();
    core.has_small = rng_below(2);
    CU_ASSERT_FATAL(!conv_plan_gemm(&plan, &p, &core, rng_below(2) ? &core.ukr : conv_ukr_find("f32_16x24__ref")));
    return plan;
}

static struct conv_plan lowered_plan(void)
{
    const struct conv_problem p = kcheck_random_problem();
    struct conv_plan plan;

    core = nest_random_core();
    CU_ASSERT_FATAL(!conv_plan_lowered(&plan, &p, &core, conv_ukr_find("f32_16x24__ref"), rng_below(2)));
    return plan;
}

static struct conv_plan direct_plan(void)
{
    return nest_random_direct(conv_direct_at(rng_below(conv_direct_count())));
}

static struct conv_plan winograd_plan(void)
{
    for (;;) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        struct conv_plan plan;
        char why[128];

        p.r = p.s = 3;
        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
        if (conv_problem_finish(&p, SIM_WHY(why)) || conv_winograd_why_not(&p) || !conv_winograd_takes_ukr(u))
            continue;
        CU_ASSERT_FATAL(
            !conv_plan_winograd(&plan, &p, u, rng_below(2) ? 2 : 4, (size_t)rng_range(1, 60), rng_below(2)));
        return plan;
    }
}

/* Tiles of a plane, or of many filters, in long runs. */
static struct conv_plan long_plan(void)
{
    struct conv_problem p = { IMAGES(1, 5, 30, 40), FILTERS(700, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
    struct csa_tiling t;
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
    t = csa2_tiling(&p, u, rng_below(2) ? CSA_IS : CSA_WS, (size_t)rng_range(1, 5), 1000, 1000);
    CU_ASSERT_FATAL(
        !conv_plan_sconv_with(&plan, &p, u, &t, &(struct conv_sconv_options){ .reads_in_place = rng_below(2) }));
    return plan;
}

/* Planes of one output: direct steps of all images, and of a part of the filters. */
static struct conv_plan matrix_plan(void)
{
    struct conv_problem p = { IMAGES(3, 2000, 1, 1), FILTERS(200, 1, 1), UNIT_STEPS, .groups = 1 + rng_below(2) };
    const struct conv_direct *d;
    struct conv_plan plan;
    char why[128];

    CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
    do
        d = conv_direct_at(rng_below(conv_direct_count()));
    while (!conv_direct_suits(d, &p));
    CU_ASSERT_FATAL(!conv_plan_direct(&plan, &p, d, 32768));
    return plan;
}

static const struct {
    const char *name;
    struct conv_plan (*make)(void);
} kinds[] = {
    { "SConv", sconv_plan },     { "GEMM", gemm_plan },         { "SConv on im2col", lowered_plan },
    { "direct", direct_plan },   { "Winograd", winograd_plan }, { "long runs", long_plan },
    { "matrices", matrix_plan },
};

/* ---- a back-end that computes nothing ---- */

struct counting {
    struct conv_backend base;
    const struct conv_plan *plan;
    unsigned char *whole; /* [outputs]: 1: all sums of the output are there */
    size_t n, fails_at;   /* steps; number of the failing step, from 0 */
    size_t reduction;
};

static void mark(struct counting *c, const struct conv_step *s, size_t image, size_t row, size_t win0, size_t n_win)
{
    const struct conv_problem *p = &c->plan->problem;

    for (size_t f = 0; f < s->n_f; f++)
        memset(c->whole + (image * p->k + row + f) * conv_windows(p) + win0, 1, n_win);
}

/* Notes outputs whose sums end with a step. */
static void note_whole(struct counting *c, const struct conv_step *s)
{
    const struct conv_plan *plan = c->plan;
    const size_t row = s->group * plan->group_filters + s->f0;

    if (s->kind == CONV_STEP_WINOGRAD_OUT) {
        const size_t m = plan->winograd.kernel->m, q = plan->problem.q;

        for (size_t tile = s->win0; tile < s->win0 + s->n_win; tile++) {
            const size_t top = tile / plan->winograd.tile_columns * m, left = tile % plan->winograd.tile_columns * m;

            for (size_t i = top; i < top + m && i < plan->problem.p; i++)
                mark(c, s, s->image, row, i * q + left, left + m < q ? m : q - left);
        }
    } else if (plan->algorithm != CONV_WINOGRAD && conv_step_computes(s) && s->k0 + s->n_k == c->reduction) {
        for (size_t image = s->image; image < s->image + conv_step_images(s); image++)
            mark(c, s, image, row, s->win0, s->n_win);
    }
}

static int count_step(struct conv_backend *self, const struct conv_step *s)
{
    struct counting *c = (struct counting *)self;

    if (c->n++ == c->fails_at)
        return -1000 - (int)(c->n % 1000);
    note_whole(c, s);
    return 0;
}

/* ---- a finish without computing ---- */

struct finishing {
    struct conv_fused fused; /* first */
    struct counting *of;
    unsigned char *times; /* [outputs] */
    size_t n_outputs, n_early, n_outside;
};

static void finish_box(struct conv_fused *self, const struct conv_epilogue_args *a)
{
    struct finishing *f = (struct finishing *)self;

    for (size_t row = 0; row < a->n_f; row++) {
        for (size_t i = 0; i < a->n_win; i++) {
            const size_t at = (size_t)(a->out - OUTPUTS) / sizeof(float) + row * a->ld_out + i;

            f->n_outside += at >= f->n_outputs;
            if (at >= f->n_outputs)
                continue;
            f->n_early += !f->of->whole[at];
            f->times[at]++;
        }
    }
}

struct run_of_nest {
    struct counting counting;
    struct finishing finishing;
    int err;
};

/* Runs the nest, alone or with fused work, up to the failing step. */
static void run_nest(struct run_of_nest *r, const struct conv_plan *plan, size_t fails_at, bool is_fused, bool gathers)
{
    const struct conv_after after = { .out = OUTPUTS };
    const struct conv_problem *p = &plan->problem;
    struct finishing *f = &r->finishing;

    *r = (struct run_of_nest){
        .counting = { .base.step = count_step, .plan = plan, .fails_at = fails_at, .reduction = conv_reduction(p) }
    };
    f->n_outputs = p->n * p->k * conv_windows(p);
    r->counting.whole = calloc(f->n_outputs, 1);
    f->times = calloc(f->n_outputs, 1);
    CU_ASSERT_FATAL(r->counting.whole && f->times);
    f->of = &r->counting;
    conv_fused_init(&f->fused, &r->counting.base, plan, &after, NULL);
    f->fused.finish = finish_box;
    if (gathers)
        conv_fused_gather(&f->fused);
    r->err = conv_nest_run(plan, is_fused ? &f->fused.base : &r->counting.base);
    if (is_fused && !r->err)
        conv_fused_end(&f->fused);
}

static void release(struct run_of_nest *r)
{
    free(r->counting.whole);
    free(r->finishing.times);
}

static void every_output_is_finished_once(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        for (size_t i = 0; i < COUNT(kinds); i++) {
            const struct conv_plan plan = kinds[i].make();

            for (int gathers = 0; gathers < 2; gathers++) {
                struct run_of_nest r;
                size_t wrong = 0;

                run_nest(&r, &plan, SIZE_MAX, true, gathers);
                for (size_t at = 0; at < r.finishing.n_outputs; at++)
                    wrong += r.finishing.times[at] != 1;
                test_check(!r.err && !wrong && !r.finishing.n_early && !r.finishing.n_outside,
                           "%s, %s%s: of %zu outputs %zu are not finished once, %zu too early, and %zu are elsewhere",
                           kinds[i].name, kcheck_describe(&plan.problem), gathers ? ", gathered" : "",
                           r.finishing.n_outputs, wrong, r.finishing.n_early, r.finishing.n_outside);
                release(&r);
            }
        }
    }
}

/* The nest returns the failing step's error, and makes no further step. The step's outputs are not finished. */
static void steps_that_fail_end_the_nest(void)
{
    for (unsigned round = 0; round < test_rounds(12); round++) {
        for (size_t i = 0; i < COUNT(kinds); i++) {
            const struct conv_plan plan = kinds[i].make();
            struct run_of_nest r;
            size_t n;

            run_nest(&r, &plan, SIZE_MAX, false, false);
            n = r.counting.n;
            CU_ASSERT(!r.err && n > 0);
            release(&r);
            for (size_t at = 0; at < n; at += at < 20 || n - at < 20 ? 1 : (n - 39) / 10 + 1) {
                for (int is_fused = 0; is_fused < 2; is_fused++) {
                    run_nest(&r, &plan, at, is_fused, false);
                    test_check(r.err == -1000 - (int)((at + 1) % 1000) && r.counting.n == at + 1 &&
                                   !r.finishing.n_early && !r.finishing.n_outside,
                               "%s, %s%s: of %zu steps step %zu fails: %d after %zu steps", kinds[i].name,
                               kcheck_describe(&plan.problem), is_fused ? ", fused" : "", n, at, r.err, r.counting.n);
                    release(&r);
                }
            }
        }
    }
}

/* A sink gets the accesses of the kernel's emission: each output is loaded and stored once. */
struct tally_sink {
    struct sim_sink sink;
    uint64_t bytes[SIM_N_KINDS];
};

static void add_bytes(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct tally_sink *t = (struct tally_sink *)self;

    for (size_t i = 0; i < n_runs; i++)
        t->bytes[run[i].kind] += (uint64_t)run[i].count * run[i].access_bytes * n_times;
}

static void fused_work_is_replayed(void)
{
    for (unsigned round = 0; round < test_rounds(20); round++) {
        for (size_t i = 0; i < COUNT(kinds); i++) {
            const struct conv_plan plan = kinds[i].make();
            const struct conv_after after = { .out = OUTPUTS, .activation = CONV_ACTIVATION_RELU };
            const size_t bytes = plan.problem.n * plan.problem.k * conv_windows(&plan.problem) * sizeof(float);
            struct counting c = { .plan = &plan, .fails_at = SIZE_MAX, .reduction = conv_reduction(&plan.problem) };
            struct tally_sink t = { .sink.accept = add_bytes };
            struct conv_fused f;

            c.base.step = count_step;
            c.whole = calloc(bytes, 1);
            CU_ASSERT_FATAL(c.whole != NULL);
            conv_fused_init(&f, &c.base, &plan, &after, &t.sink);
            CU_ASSERT_EQUAL(conv_nest_run(&plan, &f.base), 0);
            conv_fused_end(&f);
            test_check(t.bytes[SIM_LOAD] == bytes && t.bytes[SIM_STORE] == bytes,
                       "%s, %s: %llu bytes loaded, %llu stored", kinds[i].name, kcheck_describe(&plan.problem),
                       (unsigned long long)t.bytes[SIM_LOAD], (unsigned long long)t.bytes[SIM_STORE]);
            free(c.whole);
        }
    }
}

static const struct test_case cases[] = {
    { "every output is finished once, after all its sums", every_output_is_finished_once },
    { "steps that fail end the nest", steps_that_fail_end_the_nest },
    { "fused work is replayed", fused_work_is_replayed },
    { NULL, NULL },
};

const struct test_suite suite_fused = { "fused", cases };
