/* Parts of layers: a part is the whole layer's work, and less of the work. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/blas/gemm_core.h"
#include "kernels/conv_naive.h"
#include "kernels/nest/nest.h"
#include "kernels/plan/plan_part.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* The micro-kernel calls of a nest, without the calls outside the first windows and filters. */
struct calls {
    struct conv_backend base;
    size_t images, windows, filters;
    struct conv_step *step;
    size_t n, room;
};

static int keep(struct conv_backend *self, const struct conv_step *s)
{
    struct calls *c = (struct calls *)self;

    if (s->kind != CONV_STEP_UKR || s->image >= c->images || s->win0 >= c->windows || s->f0 >= c->filters)
        return 0;
    if (c->n == c->room) {
        c->room = c->room ? 2 * c->room : 1024;
        c->step = realloc(c->step, c->room * sizeof *c->step);
        CU_ASSERT_FATAL(c->step != NULL);
    }
    c->step[c->n++] = *s;
    return 0;
}

static bool is_same_call(const struct conv_step *a, const struct conv_step *b)
{
    return a->image == b->image && a->group == b->group && a->win0 == b->win0 && a->n_win == b->n_win &&
           a->f0 == b->f0 && a->n_f == b->n_f && a->k0 == b->k0 && a->n_k == b->n_k && a->in_panel == b->in_panel &&
           a->f_panel == b->f_panel && a->accumulate == b->accumulate;
}

static struct calls calls_of(const struct conv_plan *plan, const struct conv_plan *part)
{
    struct calls c = { .base.step = keep,
                       .images = part->problem.n,
                       .windows = conv_plan_part_windows(part),
                       .filters = conv_plan_part_filters(part) };

    CU_ASSERT(conv_nest_run(plan, &c.base) == 0);
    return c;
}

static struct conv_part random_part(const struct conv_problem *p)
{
    return (struct conv_part){ (size_t)rng_range(1, (int64_t)p->n), (size_t)rng_range(1, (int64_t)p->p),
                               (size_t)rng_range(1, (int64_t)conv_group_filters(p)) };
}

static struct conv_plan random_sconv(const struct conv_problem *p)
{
    const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
    const struct csa_caches c = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3, 0, 0, 0
    };
    const struct csa_tiling t = csa_analyse(p, &c, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
    const struct conv_sconv_options options = { .packs_filters = rng_below(2), .reads_in_place = rng_below(2) };
    struct conv_plan plan;

    CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, p, u, &t, &options) == 0);
    return plan;
}

static void sconv_parts_are_the_first_calls_of_the_whole(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_plan whole = random_sconv(&p), plan;
        struct conv_part part = random_part(&p);
        struct calls of_whole, of_part;
        size_t same = 0;

        CU_ASSERT_FATAL(conv_plan_part(&plan, &whole, &part) == 0);
        of_whole = calls_of(&whole, &plan);
        of_part = calls_of(&plan, &plan);
        while (same < of_part.n && same < of_whole.n && is_same_call(&of_part.step[same], &of_whole.step[same]))
            same++;
        test_check(of_part.n > 0 && same == of_part.n && same == of_whole.n,
                   "%s: %zu rows, %zu filters: %zu calls, the whole makes %zu there; %zu are the same",
                   kcheck_describe(&p), part.rows, part.filters, of_part.n, of_whole.n, same);
        CU_ASSERT(conv_plan_part_windows(&plan) >= part.rows * p.q && conv_plan_part_filters(&plan) >= part.filters);
        CU_ASSERT(memcmp(&plan.layout, &whole.layout, sizeof plan.layout) == 0);
        free(of_whole.step);
        free(of_part.step);
    }
}

/* [n][c][h][w] of the whole, cut down to the part's. */
static float *cut_input(const float *in, const struct conv_problem *whole, const struct conv_problem *part)
{
    float *cut = malloc(part->n * part->c * part->h * part->w * sizeof *cut);

    CU_ASSERT_FATAL(cut != NULL);
    for (size_t i = 0; i < part->n * part->c; i++)
        memcpy(cut + i * part->h * part->w, in + i * whole->h * whole->w, part->h * part->w * sizeof *cut);
    return cut;
}

static float *random_floats(size_t n)
{
    float *x = malloc(n * sizeof *x);

    CU_ASSERT_FATAL(x != NULL);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_range(-4, 4);
    return x;
}

/* A part of GEMM computes the first rows of the layer. */
static void gemm_parts_compute_the_first_rows(void)
{
    const struct conv_gemm_core *core = conv_gemm_core_find("Haswell");

    for (unsigned i = 0; i < test_rounds(100); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_part part = random_part(&p);
        struct conv_plan whole, plan;
        float *in = random_floats(p.n * p.c * p.h * p.w), *cut;
        float *filter = random_floats(p.k * conv_group_channels(&p) * p.r * p.s);
        double *want = calloc(conv_windows(&p), sizeof *want), *got = calloc(conv_windows(&p), sizeof *got);

        CU_ASSERT_FATAL(want && got && conv_plan_gemm(&whole, &p, core, &core->ukr) == 0);
        CU_ASSERT_FATAL(conv_plan_part(&plan, &whole, &part) == 0);
        cut = cut_input(in, &p, &plan.problem);
        test_check((plan.problem.p == part.rows || (plan.problem.h == 1 && plan.problem.p > part.rows)) &&
                       plan.problem.q == p.q && plan.problem.n == part.images &&
                       plan.problem.k == part.filters * p.groups,
                   "%s: %zu rows became %zu", kcheck_describe(&p), part.rows, plan.problem.p);
        conv_naive_plane(&p, in, filter, 0, 0, want, NULL);
        conv_naive_plane(&plan.problem, cut, filter, 0, 0, got, NULL);
        test_check(!memcmp(want, got, part.rows * p.q * sizeof *want), "%s: other sums in the first %zu rows",
                   kcheck_describe(&p), part.rows);
        free(in);
        free(cut);
        free(filter);
        free(want);
        free(got);
    }
}

static void halving_ends_and_halves(void)
{
    for (unsigned i = 0; i < test_rounds(300); i++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_plan whole = random_sconv(&p), plan;
        struct conv_part part = conv_part_whole(&p);
        double macs = conv_macs(&p), before = macs;

        CU_ASSERT(conv_part_is_whole(&part, &p) && conv_plan_part(&plan, &whole, &part) == 0);
        CU_ASSERT(conv_plan_part_macs(&plan) == macs);
        while (conv_part_halve(&part, &whole)) {
            CU_ASSERT_FATAL(conv_plan_part(&plan, &whole, &part) == 0);
            macs = conv_plan_part_macs(&plan);
            CU_ASSERT(macs <= before && !conv_part_is_whole(&part, &p));
            before = macs;
        }
        CU_ASSERT(part.images == 1 && (part.rows == 1 || part.rows * p.q < 128) && part.filters < 64);
    }
}

/* VGG-16's conv3_2: 3136 windows, 256 filters. */
static void halves_are_those_worked_out_by_hand(void)
{
    static const struct {
        size_t rows, filters;
    } want[] = { { 28, 256 }, { 14, 256 }, { 7, 256 }, { 4, 256 }, { 4, 128 }, { 2, 128 }, { 2, 64 }, { 2, 32 } };
    struct conv_problem p = { .n = 1, .c = 256, .h = 56, .w = 56, .k = 256, .r = 3, .s = 3 };
    const struct conv_gemm_core *core = conv_gemm_core_find("Haswell");
    struct conv_plan whole;
    struct conv_part part;
    char why[128];

    p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    CU_ASSERT_FATAL(conv_plan_gemm(&whole, &p, core, &core->ukr) == 0);
    part = conv_part_whole(&p);
    for (size_t i = 0; i < COUNT(want); i++)
        test_check(conv_part_halve(&part, &whole) && part.rows == want[i].rows && part.filters == want[i].filters,
                   "%zu halvings: %zu rows, %zu filters", i + 1, part.rows, part.filters);
    CU_ASSERT(!conv_part_halve(&part, &whole));
}

static const struct test_case cases[] = {
    { "parts of SConv are the whole's first micro-kernel calls, in its order",
      sconv_parts_are_the_first_calls_of_the_whole },
    { "parts of GEMM compute the layer's first rows", gemm_parts_compute_the_first_rows },
    { "halving makes less of a layer, and ends", halving_ends_and_halves },
    { "the halves of a layer are those worked out by hand", halves_are_those_worked_out_by_hand },
    { NULL, NULL },
};

const struct test_suite suite_parts = { "parts", cases };
