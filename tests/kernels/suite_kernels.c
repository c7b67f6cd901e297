/* Every kernel, packing routine and nest against the plain loops, on random shapes. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ukr/dispatch.h"
#include "kernels/plan/tune.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Returns a random machine small enough for edges of every tile set and channel set. */
static struct csa_caches random_caches(void)
{
    return (struct csa_caches){
        .l1_bytes = (double)rng_range(256, 40000),
        .l2_bytes = (double)rng_range(2048, 400000),
        .l3_bytes = (double)rng_range(4096, 2000000),
        .line_bytes = 64,
        .l2_cycles = 14,
        .l3_cycles = 50,
        .dram_cycles = 200,
    };
}

static int plan_random_sconv(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *u)
{
    struct csa_caches caches = random_caches();
    struct csa_tiling t = csa_analyse(p, &caches, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
    const struct conv_sconv_options options = kcheck_random_options();

    if (!rng_below(4)) { /* any tile counts are valid, not only CSA's */
        t.k2 = (size_t)rng_range(1, 5);
        t.k3 = (size_t)rng_range(1, 5);
    }
    return conv_plan_sconv_with(plan, p, u, &t, &options);
}

static void check_on(struct kcheck *k, const struct conv_plan *plan)
{
    struct conv_mismatch where;
    int err = kcheck_run(k, plan, &where);

    test_check(err == 0, "%s %s %s: error %d at output %zu: got %.9g, want %.9g +- %.3g", conv_plan_kernel_name(plan),
               plan->algorithm == CONV_SCONV ? csa_schedule_name(plan->sconv.tiling.schedule) : "no tiling",
               kcheck_describe(&plan->problem), err, where.index, where.got, where.want, where.bound);
}

static void check_plan(const struct conv_plan *plan)
{
    struct kcheck k;

    CU_ASSERT_FATAL(kcheck_init(&k, &plan->problem, rng_below(2)) == 0);
    check_on(&k, plan);
    kcheck_release(&k);
}

static void sconv_equals_naive(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        struct conv_problem p = kcheck_random_problem();

        for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
            struct conv_plan plan;

            if (!conv_ukr_runs(kcheck_ukrs()->ukr[i]))
                continue;
            CU_ASSERT_FATAL(plan_random_sconv(&plan, &p, kcheck_ukrs()->ukr[i]) == 0);
            check_plan(&plan);
        }
    }
}

/*
 * Returns a shape whose output rows are as wide as the input rows, so that all walking micro-kernels read the windows
 * in place.
 */
static struct conv_problem random_walk(void)
{
    for (;;) {
        struct conv_problem p = kcheck_random_problem();
        char why[128];

        p.r = (size_t)rng_range(1, 5);
        p.s = 3 + 2 * (size_t)rng_below(3);
        p.stride_h = p.stride_w = 1;
        p.pad_left = (size_t)rng_below((uint32_t)((p.s - 1) * p.dilation_w) + 1);
        p.pad_right = (p.s - 1) * p.dilation_w - p.pad_left;
        if (!conv_problem_finish(&p, SIM_WHY(why)))
            return p;
    }
}

static void walking_equals_naive(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        const struct conv_problem p = random_walk();

        for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
            const struct conv_ukr *u = kcheck_ukrs()->ukr[i];
            const struct csa_caches caches = random_caches();
            const struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
            const struct conv_sconv_options options = { .packs_filters = rng_below(2),
                                                        .reads_in_place = true,
                                                        .prefetches = rng_below(2) };
            struct conv_plan plan;

            if (!u->walk || !conv_ukr_runs(u))
                continue;
            CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
            CU_ASSERT(plan.sconv.walks);
            check_plan(&plan);
        }
    }
}

/* A tuned plan with the best micro-kernel of an instruction set. */
static void check_tuned(const struct conv_problem *p, enum cpu_isa isa)
{
    struct csa_caches caches = random_caches();
    const struct conv_tune_options tune = { .ukr = conv_ukr_of(isa), .packs_filters = rng_below(2) };
    struct conv_plan plan;

    CU_ASSERT_FATAL(conv_plan_tuned(&plan, p, &caches, &tune) == 0);
    check_plan(&plan);
}

static void tuned_equals_naive(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        struct conv_problem p = kcheck_random_problem();
        char why[128];

        if (round % 2) { /* in place */
            p.r = p.s = p.stride_h = p.stride_w = 1;
            p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
            CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
        }
        for (unsigned isa = 0; isa < CPU_N_ISAS; isa++) {
            if (conv_ukr_runs(conv_ukr_of((enum cpu_isa)isa)))
                check_tuned(&p, (enum cpu_isa)isa);
        }
    }
}

/* Gives a shape groups, and changes nothing else. */
static struct conv_problem with_groups(struct conv_problem p)
{
    static const size_t per_group[] = { 1, 1, 1, 2, 3 };
    char why[128];

    p.groups = (size_t)rng_range(1, 40);
    p.c = p.groups * per_group[rng_below(5)];
    p.k = p.groups * per_group[rng_below(5)];
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

static void check_direct(const struct conv_problem *p, const struct conv_direct *kernel)
{
    struct conv_plan plan;

    if (!conv_direct_runs(kernel) || !conv_direct_suits(kernel, p))
        return;
    CU_ASSERT_FATAL(conv_plan_direct(&plan, p, kernel, (double)rng_range(64, 60000)) == 0);
    check_plan(&plan);
}

static void direct_equals_naive(void)
{
    for (unsigned round = 0; round < test_rounds(200); round++) {
        struct conv_problem p = kcheck_random_problem();

        p = round % 2 ? p : with_groups(p);
        for (size_t i = 0; i < conv_direct_count(); i++) {
            const struct conv_problem own = kcheck_random_direct(conv_direct_at(i));

            check_direct(&p, conv_direct_at(i));
            check_direct(&own, conv_direct_at(i));
        }
    }
}

static void gemm_equals_naive(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_gemm_core core = *conv_gemm_core_find("SkylakeX");

        core.p = (size_t)rng_range(1, 70);
        core.q = (size_t)rng_range(1, 70);
        core.r = (size_t)rng_range(1, 70);
        core.unroll_win = (size_t)rng_range(1, 16);
        for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
            struct conv_plan plan;

            if (!conv_ukr_runs(kcheck_ukrs()->ukr[i]))
                continue;
            CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, &core, kcheck_ukrs()->ukr[i]) == 0);
            check_plan(&plan);
        }
    }
}

static void base_equals_naive(void)
{
    struct conv_blas blas;
    char why[256];

    if (conv_blas_load(&blas, SIM_WHY(why))) {
        test_skip("%s", why);
        return;
    }
    for (unsigned round = 0; round < test_rounds(60); round++) {
        struct conv_problem p = kcheck_random_problem();
        const struct conv_gemm_core *core = conv_gemm_core_find("SkylakeX");
        struct conv_mismatch where;
        struct conv_plan plan;
        struct kcheck k;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, core, &core->ukr) == 0);
        CU_ASSERT_FATAL(kcheck_init(&k, &p, rng_below(2)) == 0);
        test_check(kcheck_run_base(&k, &plan, &blas, &where) == 0, "base %s: output %zu: got %.9g, want %.9g",
                   kcheck_describe(&p), where.index, where.got, where.want);
        kcheck_release(&k);
    }
    /* OpenBLAS keeps threads and buffers; unloading OpenBLAS saves nothing. */
}

/* OpenBLAS's choice on a CPU newer than itself would be a straw man. */
static void openblas_runs_the_core_for_this_cpu(void)
{
    const char *want = sim_cpu_has(CPU_ISA_MMA) ? "POWER10" : conv_gemm_core_for_host();
    const char *set = getenv("OPENBLAS_CORETYPE");
    struct conv_blas blas;
    char why[256];

    if (!want) {
        test_skip("no core is known to be the best for this CPU");
        return;
    }
    if (conv_blas_load(&blas, SIM_WHY(why))) {
        test_skip("%s", why);
        return;
    }
    if (set && strcmp(set, want))
        test_skip("OPENBLAS_CORETYPE asks for %s", set);
    else
        test_check(!strcmp(blas.core, want), "OpenBLAS runs core %s, not %s", blas.core, want);
}

/* Each packing routine for a shape writes the panel of the definition. */
static void packed_windows_follow_the_definition(void)
{
    for (unsigned round = 0; round < test_rounds(300); round++) {
        struct conv_problem p = round % 4 ? kcheck_random_problem() : kcheck_random_patches();

        for (size_t i = 0; i < conv_pack_windows_count(); i++) {
            const struct conv_pack_windows *pack = conv_pack_windows_at(i);
            size_t width = kcheck_random_width(pack), index;

            if (!pack->fn || !sim_cpu_has(pack->isa) || !conv_pack_windows_suits(pack, &p, width))
                continue;
            test_check(kcheck_pack_windows(pack, &p, width, &index) == 0,
                       "%s, panels of %zu, %s: panel element %zu is wrong", pack->name, width, kcheck_describe(&p),
                       index);
        }
    }
}

static void micro_kernels_stay_inside_their_tile(void)
{
    for (unsigned round = 0; round < test_rounds(40); round++) {
        for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
            const struct conv_ukr *u = kcheck_ukrs()->ukr[i];
            size_t n_win = (size_t)rng_range(1, (int64_t)u->n_win);
            size_t n_f = (size_t)rng_range(1, (int64_t)u->n_f);

            if (conv_ukr_runs(u))
                test_check(kcheck_ukr(u, n_win, n_f, (size_t)rng_range(1, 40)) == 0, "%s %zux%zu", u->name, n_win, n_f);
        }
    }
}

static void wrong_adds_one_too_many(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    conv_ukr_find(u->name)->fn(u, a);
    conv_out_ptr(a->out)[(a->n_f - 1) * a->ld_out + a->n_win - 1] += 1;
}

static void wrong_writes_past_the_tile(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    conv_ukr_find(u->name)->fn(u, a);
    conv_out_ptr(a->out)[(a->n_f - 1) * a->ld_out + a->n_win] = 0;
}

static void wrong_ignores_accumulate(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    struct conv_ukr_args overwrite = *a;

    overwrite.accumulate = false;
    conv_ukr_find(u->name)->fn(u, &overwrite);
}

static void wrong_kernels_are_caught(void)
{
    static const conv_ukr_fn wrong[] = { wrong_adds_one_too_many, wrong_writes_past_the_tile,
                                         wrong_ignores_accumulate };
    struct conv_ukr u = *conv_ukr_find("f32_16x24__ref");

    for (size_t i = 0; i < COUNT(wrong); i++) {
        u.fn = wrong[i];
        test_check(kcheck_ukr(&u, 7, 5, 9) != 0, "wrong kernel %zu passed", i);
    }
}

static void large_values_and_nan_propagate(void)
{
    struct conv_problem p = kcheck_random_problem();
    float not_a_number = (float)strtod("nan", NULL);

    for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
        struct conv_plan plan;
        struct kcheck k;

        if (!conv_ukr_runs(kcheck_ukrs()->ukr[i]))
            continue;
        CU_ASSERT_FATAL(plan_random_sconv(&plan, &p, kcheck_ukrs()->ukr[i]) == 0);
        CU_ASSERT_FATAL(kcheck_init(&k, &p, false) == 0);
        k.in[rng_below(p.n * p.c * p.h * p.w)] = not_a_number;
        check_on(&k, &plan);
        kcheck_release(&k);
    }
}

/* Prefetches of a call, by tensor, and the span of the prefetched addresses. */
struct asked {
    struct sim_sink sink;
    uint64_t n[CONV_N_TENSORS], lowest[CONV_N_TENSORS], highest[CONV_N_TENSORS];
};

static void note_asked(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct asked *a = (struct asked *)self;

    for (size_t i = 0; i < n_runs; i++) {
        uint64_t last = run[i].addr + (n_times - 1) * (uint64_t)run[i].step_bytes +
                        (run[i].count - 1) * (uint64_t)run[i].stride_bytes;

        if (run[i].kind != SIM_PREFETCH || !n_times)
            continue;
        a->lowest[run[i].tag] =
            a->n[run[i].tag] && a->lowest[run[i].tag] < run[i].addr ? a->lowest[run[i].tag] : run[i].addr;
        a->highest[run[i].tag] = a->highest[run[i].tag] > last ? a->highest[run[i].tag] : last;
        a->n[run[i].tag] += run[i].count * n_times;
    }
}

/*
 * Haswell's column of 12 filters and three panels of 8 windows, k = 30. First half: 3 eights (4 windows, 1 output each)
 * and 6 single steps: 18 and 3. Two pairs: 3 eights (4 windows, 3 filters, 1 output) and 6 single steps (a window, 2
 * outputs); the first pair, of the second half of the filters, ends with 2 filters: 36 windows, 20 filters, 30 outputs.
 * Last: 18 windows.
 */
static void haswell_prefetches_what_its_code_says(void)
{
    const struct conv_gemm_core *core = conv_gemm_core_find("Haswell");
    enum { K = 30, LD_OUT = 1000, IN = 1 << 20, FILTER = 2 << 20, OUT = 4 << 20 };
    const struct conv_ukr_args a = {
        .in = IN, .filter = FILTER, .out = OUT, .k = K, .ld_out = LD_OUT, .n_win = 24, .n_f = 12, .accumulate = true
    };
    struct asked asked = { .sink.accept = note_asked };

    core->ukr.emit(&core->ukr, &a, &asked.sink);
    CU_ASSERT(asked.n[CONV_PACKED_INPUT] == 18 + 36 + 18);
    CU_ASSERT(asked.lowest[CONV_PACKED_INPUT] == IN + 512);
    CU_ASSERT(asked.highest[CONV_PACKED_INPUT] == IN + (2 * K + K - 1) * 32 + 512);
    CU_ASSERT(asked.n[CONV_PACKED_FILTER] == 20 && asked.lowest[CONV_PACKED_FILTER] == FILTER);
    CU_ASSERT(asked.highest[CONV_PACKED_FILTER] == FILTER + K * 48 + 5 * 16); /* of the next column, after 6 eights */
    CU_ASSERT(asked.n[CONV_OUTPUT] == 3 + 30 && asked.lowest[CONV_OUTPUT] == OUT);
    CU_ASSERT(asked.highest[CONV_OUTPUT] == OUT + 11 * LD_OUT * 4 + 0x3f);
}

static const struct test_case cases[] = {
    { "sconv with every micro-kernel equals the naive convolution", sconv_equals_naive },
    { "micro-kernels that walk windows equal the naive convolution", walking_equals_naive },
    { "tuned sconv of every instruction set equals the naive convolution", tuned_equals_naive },
    { "direct convolution with every kernel equals the naive convolution", direct_equals_naive },
    { "im2col + our gemm with every micro-kernel equals the naive convolution", gemm_equals_naive },
    { "im2col + OpenBLAS equals the naive convolution", base_equals_naive },
    { "OpenBLAS runs the core that suits this CPU", openblas_runs_the_core_for_this_cpu },
    { "packed windows follow the definition and stay inside the panel", packed_windows_follow_the_definition },
    { "micro-kernels equal the definition and stay inside their tile", micro_kernels_stay_inside_their_tile },
    { "kernels that are wrong on purpose are caught", wrong_kernels_are_caught },
    { "NaN propagates as in the reference", large_values_and_nan_propagate },
    { "OpenBLAS's Haswell kernel prefetches what its code says", haswell_prefetches_what_its_code_says },
    { NULL, NULL },
};

const struct test_suite suite_kernels = { "kernels", cases };
