/* Plans of every algorithm: names, parts, choices, and tensors beyond the address space. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/base.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/csa/csa2.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/plan_part.h"
#include "kernels/plan/plan_winograd.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/shapes.h"
#include "tests/suites.h"

/* A shape of any size, unchecked: conv_problem_finish would refuse the largest. */
static struct conv_problem unchecked(size_t c, size_t k, size_t p, size_t q, size_t taps)
{
    return (struct conv_problem){ .n = 1,
                                  .c = c,
                                  .h = p + taps - 1,
                                  .w = q + taps - 1,
                                  .k = k,
                                  .r = taps,
                                  .s = taps,
                                  UNIT_STEPS,
                                  .groups = 1,
                                  .p = p,
                                  .q = q };
}

#define TWO(n) ((size_t)1 << (n))

/* Each product or sum of sizes is the only one beyond the address space. */
static void sconv_refuses_what_no_address_space_holds(void)
{
    static const struct {
        const char *what;
        size_t c, k, n_c, k2;
        int err;
    } plans[] = {
        { "nothing", 64, 64, 64, 4, 0 },
        { "filters", TWO(40), TWO(40), 1, 1, -EOVERFLOW },
        { "filters' bytes", 1, TWO(62), 1, 1, -EOVERFLOW },
        { "filters' bytes, with a sign", 1, TWO(61), 1, 1, -EOVERFLOW },
        { "steps of windows", TWO(40), 1, TWO(40), TWO(40), -EOVERFLOW },
        { "panels of windows", TWO(31), 1, TWO(31), TWO(30), -EOVERFLOW },
        { "all tensors", TWO(30), TWO(30), TWO(30), 1, -EOVERFLOW },
        { "half of all tensors", TWO(29), TWO(30), TWO(29), 1, 0 },
    };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__ref");

    for (size_t i = 0; i < COUNT(plans); i++) {
        const struct conv_problem p = unchecked(plans[i].c, plans[i].k, 4, 4, 1);
        const struct csa_tiling t = { .schedule = CSA_WS,
                                      .n_win = 16,
                                      .n_f = 24,
                                      .n_c = plans[i].n_c,
                                      .k2 = plans[i].k2,
                                      .k3 = 1,
                                      .in_tiles = 1,
                                      .f_tiles = 1 };
        struct conv_plan plan;
        int err = conv_plan_sconv(&plan, &p, u, &t, false);

        test_check(err == plans[i].err, "%s: %d", plans[i].what, err);
    }
}

static void gemm_refuses_what_no_address_space_holds(void)
{
    static const struct {
        const char *what;
        size_t c, k, p, q, taps, block;
        int err;
    } plans[] = {
        { "nothing", 64, 64, 4, 4, 3, 64, 0 },
        { "panels of windows", TWO(40), 1, TWO(20), TWO(20), 1, TWO(41), -EOVERFLOW },
        { "panels of filters", TWO(40), TWO(40), 1, 1, 1, TWO(41), -EOVERFLOW },
        { "matrix", TWO(40), 1, TWO(20), TWO(20), 3, 64, -EOVERFLOW },
    };

    for (size_t i = 0; i < COUNT(plans); i++) {
        const struct conv_problem p = unchecked(plans[i].c, plans[i].k, plans[i].p, plans[i].q, plans[i].taps);
        struct conv_gemm_core core = *conv_gemm_core_find("Haswell");
        struct conv_plan plan;
        int err;

        core.p = core.q = core.r = plans[i].block;
        err = conv_plan_gemm(&plan, &p, &core, &core.ukr);
        test_check(err == plans[i].err, "%s: %d", plans[i].what, err);
    }
}

static void winograd_refuses_what_no_address_space_holds(void)
{
    static const struct {
        const char *what;
        size_t c, k, p, q;
        int err;
    } plans[] = {
        { "nothing", 64, 64, 14, 14, 0 },
        { "panels of a product's tiles", TWO(60), 1, 4, 4, -EOVERFLOW },
        { "a product", 1, TWO(60), 4, 4, -EOVERFLOW },
        { "panels of all products", TWO(54), 1, 4, 4, -EOVERFLOW },
        { "all products", 1, TWO(54), 4, 4, -EOVERFLOW },
        { "filters", TWO(29), TWO(29), 4, 4, -EOVERFLOW },
    };
    const struct conv_ukr *u = conv_ukr_find("f32_16x24__ref");

    CU_ASSERT_FATAL(conv_winograd_takes_ukr(u));
    for (size_t i = 0; i < COUNT(plans); i++) {
        const struct conv_problem p = unchecked(plans[i].c, plans[i].k, plans[i].p, plans[i].q, 3);
        struct conv_plan plan;
        int err = conv_plan_winograd(&plan, &p, u, 4, 1, false);

        test_check(err == plans[i].err, "%s: %d", plans[i].what, err);
    }
}

/* The tensors of every plan: one alone, and two together. */
static void tensors_together_fit_or_not(void)
{
    static const struct {
        size_t c, k;
        int err;
    } plans[] = { { TWO(60), 1, -EOVERFLOW }, /* twice 2^62 bytes */
                  { TWO(59), 1, 0 },
                  { TWO(60), 3, -EOVERFLOW }, /* 2^62 bytes and 3 * 2^62 bytes */
                  { TWO(61), 1, -EOVERFLOW } };

    for (size_t i = 0; i < COUNT(plans); i++) {
        const struct conv_problem p = unchecked(plans[i].c, plans[i].k, 1, 1, 1);
        struct conv_plan plan;
        int err = conv_plan_plugin(&plan, &p, "any", NULL);

        test_check(err == plans[i].err, "%zu: %d", i, err);
    }
}

static struct conv_problem padded_layer(void)
{
    struct conv_problem p = { IMAGES(2, 64, 14, 14), FILTERS(64, 3, 3), UNIT_STEPS, .groups = 1 };
    char why[128];

    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
    CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
    return p;
}

static void plans_say_what_they_are(void)
{
    static const struct {
        struct conv_sconv_options options;
        const char *ukr, *windows;
    } packed[] = {
        { { 0 }, "f32_16x24__ref", "packed" },
        { { .pads_first = true }, "f32_16x24__ref", "packed after padding" },
        { { .lowers_first = true }, "f32_16x24__ref", "packed after im2col" },
        { { .skips_padding = true }, "f32_16x24__ref", "packed without rows of padding" },
        { { .reads_in_place = true }, "f32_16x24__ref", "packed" }, /* cannot walk */
    };
    const struct conv_problem p = padded_layer();
    const struct conv_gemm_core *core = conv_gemm_core_find("Haswell");
    const struct conv_ukr *ref = conv_ukr_find("f32_16x24__ref");
    const struct csa_tiling t = csa2_tiling(&p, ref, CSA_WS, 64, 2, 2);
    const struct conv_problem pointwise = unchecked(8, 8, 4, 4, 1);
    const struct conv_direct *direct = conv_direct_for(&pointwise, CPU_ISA_NONE);
    struct conv_plan plan;

    for (size_t i = 0; i < COUNT(packed); i++) {
        CU_ASSERT_FATAL(!conv_plan_sconv_with(&plan, &p, conv_ukr_find(packed[i].ukr), &t, &packed[i].options));
        test_check(!strcmp(conv_plan_windows_name(&plan), packed[i].windows), "%zu: %s", i,
                   conv_plan_windows_name(&plan));
        CU_ASSERT(!strcmp(conv_plan_kernel_name(&plan), packed[i].ukr) && conv_plan_isa(&plan) == CPU_ISA_NONE);
        CU_ASSERT(conv_plan_runs(&plan) && !conv_plan_core(&plan) && !conv_plan_is_base(&plan));
    }
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);
        const struct csa_tiling own = csa2_tiling(&p, u, CSA_WS, 64, 2, 2);

        CU_ASSERT_FATAL(
            !conv_plan_sconv_with(&plan, &p, u, &own, &(struct conv_sconv_options){ .reads_in_place = true }));
        CU_ASSERT(!strcmp(conv_plan_windows_name(&plan), "in place") == conv_plan_can_walk(&p, u));
        CU_ASSERT(conv_plan_isa(&plan) == u->isa && conv_plan_runs(&plan) == conv_ukr_runs(u));
    }
    CU_ASSERT_FATAL(!conv_plan_gemm(&plan, &p, core, &core->ukr));
    CU_ASSERT_STRING_EQUAL(conv_plan_windows_name(&plan), "packed");
    CU_ASSERT(conv_plan_core(&plan) == core && conv_plan_is_base(&plan) && !conv_plan_runs(&plan));
    CU_ASSERT_FATAL(!conv_plan_gemm(&plan, &p, core, ref));
    CU_ASSERT(!conv_plan_is_base(&plan) && conv_plan_runs(&plan));
    CU_ASSERT_FATAL(!conv_plan_winograd(&plan, &p, ref, 2, 4, false));
    CU_ASSERT_STRING_EQUAL(conv_plan_windows_name(&plan), "transformed");
    CU_ASSERT_STRING_EQUAL(conv_plan_kernel_name(&plan), "f32_16x24__ref");
    CU_ASSERT(conv_plan_runs(&plan));
    CU_ASSERT_FATAL(direct && !conv_plan_direct(&plan, &pointwise, direct, 32768));
    CU_ASSERT_STRING_EQUAL(conv_plan_windows_name(&plan), "in place");
    CU_ASSERT(conv_plan_kernel_name(&plan) == direct->name && conv_plan_isa(&plan) == direct->isa);
    CU_ASSERT_FATAL(!conv_plan_plugin(&plan, &p, "mine.c", NULL));
    CU_ASSERT_STRING_EQUAL(conv_plan_kernel_name(&plan), "mine.c");
    CU_ASSERT(conv_plan_isa(&plan) == CPU_ISA_NONE && conv_plan_runs(&plan) && !plan.nest);
    CU_ASSERT(plan.layout.bytes[CONV_OUTPUT] == 2 * 64 * 14 * 14 * sizeof(float) && !plan.layout.bytes[CONV_IM2COL]);
}

static void multiply_nothing(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                             int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    (void)order, (void)trans_a, (void)trans_b, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
    (void)ldb, (void)beta, (void)c, (void)ldc;
    CU_FAIL("BLAS is called");
}

static void dimensions_beyond_blas_are_refused(void)
{
    const struct conv_blas blas = { .sgemm = multiply_nothing };
    const struct conv_problem p[] = { unchecked(1, 1, TWO(16), TWO(15), 1), unchecked(1, TWO(31), 1, 1, 1),
                                      unchecked(TWO(31), 1, 1, 1, 1) };
    const struct conv_gemm_core *core = conv_gemm_core_find("Haswell");

    for (size_t i = 0; i < COUNT(p); i++) {
        const struct conv_binding nowhere = { { 0 } };
        struct conv_plan plan;

        CU_ASSERT_FATAL(!conv_plan_gemm(&plan, &p[i], core, &core->ukr));
        CU_ASSERT_EQUAL(conv_base_run(&plan, &nowhere, &blas), -EOVERFLOW);
    }
}

/* CONV_CPU masks the kernels of a plan: its micro-kernel, and Winograd's transforms. */
static void masked_plans_do_not_run(void)
{
    const char *limit = getenv(CPU_LIMIT_VARIABLE);
    char *saved = limit ? strdup(limit) : NULL;
    const struct conv_problem p = padded_layer();

    CU_ASSERT_FATAL(!setenv(CPU_LIMIT_VARIABLE, "baseline", 1));
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);
        const struct csa_tiling t = csa2_tiling(&p, u, CSA_WS, 64, 2, 2);
        const bool runs = u->isa == CPU_ISA_NONE;
        struct conv_plan plan;

        CU_ASSERT_FATAL(!conv_plan_sconv(&plan, &p, u, &t, false));
        CU_ASSERT_EQUAL(conv_plan_runs(&plan), runs);
        if (!conv_winograd_takes_ukr(u))
            continue;
        CU_ASSERT_FATAL(!conv_plan_winograd(&plan, &p, u, 2, 4, false));
        CU_ASSERT_EQUAL(conv_plan_runs(&plan), runs);
    }
    CU_ASSERT(!(saved ? setenv(CPU_LIMIT_VARIABLE, saved, 1) : unsetenv(CPU_LIMIT_VARIABLE)));
    free(saved);
}

/* Winograd and direct plans cut images alone, or nothing. */
static void other_plans_are_cut_by_images(void)
{
    const struct conv_problem p = padded_layer(), pointwise = unchecked(8, 8, 40, 40, 1);
    const struct conv_direct *direct = conv_direct_for(&pointwise, CPU_ISA_NONE);
    struct conv_plan whole, plan;
    struct conv_part part = conv_part_whole(&p);

    CU_ASSERT_FATAL(!conv_plan_winograd(&whole, &p, conv_ukr_find("f32_16x24__ref"), 2, 4, false));
    CU_ASSERT(conv_part_halve(&part, &whole) && part.images == 1 && part.rows == 14 && part.filters == 64);
    CU_ASSERT(!conv_part_halve(&part, &whole));
    CU_ASSERT_FATAL(!conv_plan_part(&plan, &whole, &part));
    CU_ASSERT(plan.problem.n == 1 && conv_plan_part_windows(&plan) == 196 && conv_plan_part_filters(&plan) == 64);
    CU_ASSERT(2 * conv_plan_part_macs(&plan) == conv_plan_part_macs(&whole));
    CU_ASSERT_FATAL(direct && !conv_plan_direct(&whole, &pointwise, direct, 32768));
    part = conv_part_whole(&pointwise);
    CU_ASSERT(!conv_part_halve(&part, &whole));
    part.rows = 1; /* nobody asks for this part: the plan stays */
    CU_ASSERT(!conv_plan_part(&plan, &whole, &part) && !memcmp(&plan, &whole, sizeof plan));
}

/* ---- choices of Winograd's ---- */

/*
 * 512 channels and filters, 28x28 outputs: 49 tiles of 4x4, 36 products, filters' panels of 36 MiB. Panels and products
 * of a tile take 144 KiB.
 */
static void blocks_follow_the_last_level(void)
{
    static const struct {
        double l3_bytes;
        size_t block;
    } of[] = {
        { 128 << 20, 16 },                   /* the filters fit into half: a tile of the micro-kernel */
        { 72 << 20, 16 },  { 32 << 20, 64 }, /* a quarter of L3 holds 56 tiles: 49 tiles in one block, of whole 16 */
        { 16 << 20, 32 },                    /* 28 tiles: 49 in two blocks of 25 */
        { 1 << 20, 16 },
    };
    struct conv_problem p = { IMAGES(1, 512, 28, 28), FILTERS(512, 3, 3), UNIT_STEPS, .groups = 1 };
    struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .line_bytes = 64 };
    const struct conv_winograd_options o = { .ukr = conv_ukr_find("f32_16x24__ref"), .keeps_ukr = true, .m = 4 };
    char why[128];

    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
    CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
    for (size_t i = 0; i < COUNT(of); i++) {
        struct conv_plan plan;

        caches.l3_bytes = of[i].l3_bytes;
        CU_ASSERT_FATAL(!conv_plan_winograd_tuned(&plan, &p, &caches, &o));
        test_check(plan.winograd.block == of[i].block && plan.ukr == o.ukr, "%g MiB: %zu tiles of %s",
                   of[i].l3_bytes / (1 << 20), plan.winograd.block, plan.ukr->name);
    }
    p = unchecked(512, 512, 12, 12, 3); /* 9 tiles: one of the micro-kernel */
    CU_ASSERT_FATAL(!conv_problem_finish(&p, SIM_WHY(why)));
    {
        struct conv_plan plan;

        caches.l3_bytes = 1 << 20;
        CU_ASSERT(!conv_plan_winograd_tuned(&plan, &p, &caches, &o) && plan.winograd.block == 16);
    }
}

/* Winograd never pays for strides; the instruction set is the option's. */
static void winograd_pays_where_it_can(void)
{
    const struct csa_caches caches = { .l1_bytes = 32768, .l2_bytes = 1 << 20, .l3_bytes = 1 << 25, .line_bytes = 64 };
    const struct conv_winograd_options o = { .ukr = conv_ukr_find("f32_16x24__ref") };
    struct conv_problem p = padded_layer();
    struct conv_plan plan;

    CU_ASSERT(conv_winograd_pays(&p, &caches, &o));
    CU_ASSERT(!conv_plan_winograd_tuned(&plan, &p, &caches, &o) && plan.ukr->isa == CPU_ISA_NONE);
    p.stride_w = 2;
    CU_ASSERT(!conv_winograd_pays(&p, &caches, &o));
}

static const struct test_case cases[] = {
    { "SConv refuses what no address space holds", sconv_refuses_what_no_address_space_holds },
    { "GEMM refuses what no address space holds", gemm_refuses_what_no_address_space_holds },
    { "Winograd refuses what no address space holds", winograd_refuses_what_no_address_space_holds },
    { "tensors together fit or not", tensors_together_fit_or_not },
    { "plans say what they are", plans_say_what_they_are },
    { "dimensions beyond BLAS are refused", dimensions_beyond_blas_are_refused },
    { "masked plans do not run", masked_plans_do_not_run },
    { "other plans are cut by images", other_plans_are_cut_by_images },
    { "blocks follow the last level", blocks_follow_the_last_level },
    { "Winograd pays where it can", winograd_pays_where_it_can },
    { NULL, NULL },
};

const struct test_suite suite_plan = { "plan", cases };
