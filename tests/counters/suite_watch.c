/*
 * Replays against the hardware: a data breakpoint counts the touches of an element by the running code, OpenBLAS
 * included; the replay has to touch the element as often. No performance counters are needed.
 */
#include <CUnit/CUnit.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "counters/perf/ctr_watch.h"
#include "experiments/bench/case/case.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/base.h"
#include "kernels/ukr/dispatch.h"
#include "sim/trace/trace.h"
#include "tests/counters/watching.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/kernels/shapes.h"
#include "tests/suites.h"

/* Counts the replay's touches of an element, or two; clearing the output for GEMM's beta = 0 is counted apart. */
struct touches {
    uint64_t addr;
    unsigned bytes;
    uint64_t loads, stores, clears;
};

static void count_touch(void *ctx, const struct sim_access *a)
{
    struct touches *t = ctx;

    if (t->addr + t->bytes <= a->addr || a->addr + a->bytes <= t->addr)
        return;
    t->loads += a->kind == SIM_LOAD;
    t->stores += a->kind == SIM_STORE && a->phase != CONV_PHASE_ZERO;
    t->clears += a->kind == SIM_STORE && a->phase == CONV_PHASE_ZERO;
}

static struct touches replayed(const struct conv_plan *plan, enum conv_tensor tensor, size_t index)
{
    struct touches t = { .bytes = sizeof(float) };
    struct sim_expander expander;
    struct conv_replay replay;

    sim_expander_init(&expander, count_touch, &t);
    conv_replay_init(&replay, plan, &expander.sink);
    t.addr = replay.bind.addr[tensor] + index * sizeof(float);
    CU_ASSERT_FATAL(conv_nest_run(plan, &replay.base) == 0);
    return t;
}

static int run_sconv(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas)
{
    struct conv_exec exec;

    (void)blas;
    conv_exec_init(&exec, plan, bind);
    return conv_nest_run(plan, &exec.base);
}

typedef int (*run_fn)(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas);

/* Runs under watch: a plan, or a call of a micro-kernel. */
struct work {
    run_fn run;
    const struct conv_plan *plan;
    const struct conv_binding *bind;
    const struct conv_blas *blas;
    const struct conv_ukr *ukr;
    const struct conv_ukr_args *args;
};

static void do_work(void *work)
{
    const struct work *x = work;

    if (x->ukr)
        x->ukr->fn(x->ukr, x->args);
    else
        CU_ASSERT_EQUAL(x->run(x->plan, x->bind, x->blas), 0);
}

/*
 * Tells whether counts agree: all accesses, and the writes. OpenBLAS clears whole matrices with libc's memset, whose
 * string instruction counts once per byte; vectors count once per element.
 */
static bool agree(const void *touches, const uint64_t *count)
{
    const struct touches *want = touches;

    return count[0] - count[1] == want->loads &&
           (count[1] == want->stores + want->clears || count[1] == want->stores + want->clears * sizeof(float));
}

/* Counts accesses to 4 or 8 bytes at an aligned address: all, and the writes. Returns 0 or a reason. */
static int watched(struct work *x, const struct touches *want, uint64_t count[2], struct sim_why why)
{
    const struct ctr_watch_point point[2] = {
        { conv_in_ptr(want->addr), want->bytes, CTR_WATCH_READS_AND_WRITES },
        { conv_in_ptr(want->addr), want->bytes, CTR_WATCH_WRITES },
    };
    struct ctr_watch *w;
    int err = ctr_watch_open(&w, point, 2, why);

    if (err)
        return err;
    err = watch_until(w, do_work, x, agree, want, count);
    ctr_watch_close(w);
    if (err)
        sim_fail(why, err, "watching failed with %d", err);
    return err;
}

/* Checks one random element of each tensor. Returns false if data breakpoints are refused here. */
static bool check_elements(run_fn run, const struct conv_plan *plan, const struct conv_blas *blas,
                           const enum conv_tensor *tensor, size_t n_tensors)
{
    struct exp_tensors t;
    struct work work = { .run = run, .plan = plan, .bind = &t.bind, .blas = blas };
    char why[256];
    int err = 0;

    CU_ASSERT_FATAL(exp_tensors_init(&t, plan) == 0);
    for (size_t i = 0; i < n_tensors && !err; i++) {
        size_t n = plan->layout.bytes[tensor[i]] / sizeof(float);
        size_t index = n ? rng_below(n) : 0;
        struct touches want;
        uint64_t got[2];

        if (!n)
            continue;
        want = replayed(plan, tensor[i], index);
        want.addr = t.bind.addr[tensor[i]] + index * sizeof(float);
        err = watched(&work, &want, got, SIM_WHY(why));
        if (err)
            test_skip("%s", why);
        else
            test_check(agree(&want, got),
                       "%s, %s: element %zu of %s: %llu loads, %llu stores; replayed %llu, %llu, cleared %llu times",
                       conv_plan_kernel_name(plan), kcheck_describe(&plan->problem), index, conv_tensor_name(tensor[i]),
                       (unsigned long long)(got[0] - got[1]), (unsigned long long)got[1],
                       (unsigned long long)want.loads, (unsigned long long)want.stores,
                       (unsigned long long)want.clears);
    }
    exp_tensors_release(&t);
    return !err;
}

/* In the order of masked_from. */
static const enum conv_tensor sconv_tensors[] = { CONV_PACKED_INPUT, CONV_PACKED_FILTER, CONV_INPUT, CONV_OUTPUT };

/*
 * Returns how many of sconv_tensors are never read by AVX2's masked loads, whose masked-off lanes AMD's CPUs count.
 * Inputs and partial outputs are, and packed filters where the last vector of filters side by side is not full.
 */
static size_t masked_from(const struct conv_ukr *u, const struct conv_problem *p)
{
    const size_t vector = 8;

    if (u->isa == CPU_ISA_AVX512)
        return COUNT(sconv_tensors);
    return u->walk == CONV_WALK_ANY && p->k / p->groups % vector ? 1 : 2;
}

static void sconv_touches_elements_as_replayed(void)
{
    for (unsigned round = 0; round < test_rounds(15); round++) {
        struct conv_problem p = kcheck_random_problem();

        for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
            const struct conv_ukr *u = kcheck_ukrs()->ukr[i];
            struct csa_caches c = { 9000, 60000, 200000, 64, 14, 50, 200, 0, 0, 0 };
            struct csa_tiling t = csa_analyse(&p, &c, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);
            const struct conv_sconv_options options = kcheck_random_options();
            struct conv_plan plan;

            if (!conv_ukr_runs(u) || u->isa == CPU_ISA_NONE)
                continue;
            CU_ASSERT_FATAL(conv_plan_sconv_with(&plan, &p, u, &t, &options) == 0);
            if (!check_elements(run_sconv, &plan, NULL, sconv_tensors, masked_from(u, &p)))
                return;
        }
    }
}

/* Makes a layer too large for OpenBLAS's kernels for small matrices. */
static struct conv_problem openblas_problem(void)
{
    struct conv_problem p = {
        IMAGES(1, (size_t)rng_range(20, 70), (size_t)rng_range(20, 40), (size_t)rng_range(20, 40)),
        FILTERS((size_t)rng_range(20, 90), 3, 3),
        PADDING(1, 1, 1, 1),
        UNIT_STEPS,
        .groups = 1,
    };
    char why[128];

    if (!rng_below(3))
        p.r = p.s = 1, p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0, p.c *= 8;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

/* Makes a layer for these kernels: planes of a window or a few, and filters with few steps or many. */
static struct conv_problem small_problem(void)
{
    struct conv_problem p = {
        IMAGES(1, (size_t)rng_range(1, 90), (size_t)rng_range(1, 9), (size_t)rng_range(1, 12)),
        FILTERS((size_t)rng_range(1, 12), 1, 1),
        PADDING(0, 0, 0, 0),
        UNIT_STEPS,
        .groups = 1,
    };
    char why[128];

    if (!rng_below(3))
        p.r = p.s = 3, p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    return p;
}

static void openblas_touches_elements_as_replayed(void)
{
    static const enum conv_tensor tensors[] = { CONV_INPUT, CONV_FILTER, CONV_IM2COL, CONV_OUTPUT };
    const struct conv_gemm_core *core;
    struct conv_blas blas;
    char why[256];

    if (conv_blas_load(&blas, SIM_WHY(why))) {
        test_skip("%s", why);
        return;
    }
    core = conv_gemm_core_find(blas.core);
    if (!strstr(blas.config, "OpenBLAS 0.3.21 ")) {
        test_skip("the blocking on record is that of OpenBLAS 0.3.21, this is %.40s", blas.config);
        return;
    }
    if (!core) {
        test_skip("OpenBLAS runs core %s, whose blocking is not on record", blas.core);
        return;
    }
    for (unsigned round = 0; round < test_rounds(20); round++) {
        struct conv_problem p = core->has_small && rng_below(2) ? small_problem() : openblas_problem();
        struct conv_plan plan;

        CU_ASSERT_FATAL(conv_plan_gemm(&plan, &p, core, &core->ukr) == 0);
        if (!check_elements(conv_base_run, &plan, &blas, tensors, 4))
            return;
    }
}

/* Compares the accesses of a call of OpenBLAS's micro-kernel to bytes at addr with the emitted accesses. */
static bool check_call(const struct conv_ukr *u, const struct conv_ukr_args *a, uint64_t addr, unsigned bytes)
{
    struct work work = { .ukr = u, .args = a };
    struct touches want = { .addr = addr, .bytes = bytes };
    struct sim_expander expander;
    uint64_t got[2];
    char why[256];

    sim_expander_init(&expander, count_touch, &want);
    u->emit(u, a, &expander.sink);
    if (watched(&work, &want, got, SIM_WHY(why))) {
        test_skip("%s", why);
        return false;
    }
    test_check(got[0] - got[1] == want.loads && got[1] == want.stores,
               "%s %zux%zu k %zu%s: %u bytes: %llu loads, %llu stores; emitted %llu, %llu", u->name, a->n_win, a->n_f,
               a->k, a->accumulate ? " accumulating" : "", bytes, (unsigned long long)(got[0] - got[1]),
               (unsigned long long)got[1], (unsigned long long)want.loads, (unsigned long long)want.stores);
    return true;
}

enum { MAX_STEPS = 24, MAX_TILE = 32 };

/* Checks a tile. Single elements show the number of loads; pairs show whether two elements are loaded together. */
static bool check_tile(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    static float in[MAX_STEPS * MAX_TILE] __attribute__((aligned(64)));
    static float filter[MAX_STEPS * MAX_TILE] __attribute__((aligned(64)));
    static float out[MAX_TILE * MAX_TILE];
    struct conv_ukr_args a = {
        .in = (uintptr_t)in,
        .filter = (uintptr_t)filter,
        .out = (uintptr_t)out,
        .k = (size_t)rng_range(1, MAX_STEPS),
        .ld_out = n_win + rng_below(MAX_TILE - n_win),
        .n_win = n_win,
        .n_f = n_f,
        .accumulate = rng_below(2),
    };
    size_t element = rng_below(a.k * n_win), weight = rng_below(a.k * n_f);
    size_t result = rng_below(n_f) * a.ld_out + rng_below(n_win);

    return check_call(u, &a, a.in + element * sizeof(float), sizeof(float)) &&
           check_call(u, &a, a.in + element / 2 * 2 * sizeof(float), 2 * sizeof(float)) &&
           check_call(u, &a, a.filter + weight * sizeof(float), sizeof(float)) &&
           check_call(u, &a, a.filter + weight / 2 * 2 * sizeof(float), 2 * sizeof(float)) &&
           check_call(u, &a, a.out + result * sizeof(float), sizeof(float));
}

static void openblas_micro_kernels_touch_what_they_emit(void)
{
    for (size_t i = 0; i < kcheck_ukrs()->n; i++) {
        const struct conv_ukr *u = kcheck_ukrs()->ukr[i];

        if (strncmp(u->name, "openblas_", 9) || !conv_ukr_runs(u))
            continue;
        for (size_t n_win = 1; n_win <= u->n_win; n_win++) {
            for (size_t n_f = 1; n_f <= u->n_f; n_f++) {
                if (!check_tile(u, n_win, n_f))
                    return;
            }
        }
    }
}

static const struct test_case cases[] = {
    { "sconv's vector kernels touch elements as often as replayed", sconv_touches_elements_as_replayed },
    { "OpenBLAS's micro-kernels touch what they emit, for every edge", openblas_micro_kernels_touch_what_they_emit },
    { "OpenBLAS touches elements as often as base's replay", openblas_touches_elements_as_replayed },
    { NULL, NULL },
};

const struct test_suite suite_watch = { "watch", cases };
