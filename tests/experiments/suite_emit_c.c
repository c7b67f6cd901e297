/* Generated C: the loops are the nest's, results the reference's, accesses the replay's. */
#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/watch/watch.h"
#include "experiments/emit/build.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/fused.h"
#include "kernels/conv_naive.h"
#include "kernels/emit/program.h"
#include "kernels/nest/nest.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { N_PLANS = 8 };

/* ---- plans ---- */

static const struct conv_ukr *emitted_ukr(enum cpu_isa isa)
{
    const struct conv_ukr *u;

    do
        u = conv_ukr_at(rng_below(conv_ukr_count()));
    while (!conv_emitted_lanes(u) || u->isa != isa);
    return u;
}

static struct conv_layer_plan random_plan(enum cpu_isa isa)
{
    const struct csa_caches caches = {
        (double)rng_range(64, 20000), (double)rng_range(64, 60000), (double)rng_range(64, 90000), 64, 1, 2, 3, 0, 0, 0
    };
    struct conv_layer_plan n = { .layer = "conv*/\n?", .machine = "toy", .caches = caches };
    struct conv_sconv_options options = kcheck_random_options();
    struct conv_problem p = kcheck_random_problem();
    const struct conv_ukr *u = emitted_ukr(isa);
    struct csa_tiling t = csa_analyse(&p, &caches, u->n_win, u->n_f, rng_below(2) ? CSA_IS : CSA_WS);

    options.pads_first = false;
    CU_ASSERT_FATAL(conv_plan_sconv_with(&n.plan, &p, u, &t, &options) == 0);
    conv_program_adapt(&n.plan);
    return n;
}

/* Micro-kernels that read windows in place, tap by tap, and the width of filters whose taps go together. */
struct walker {
    enum cpu_isa isa;
    const char *ukr;
    size_t width;
};

/* Windows walked tap by tap, with wide filters and more kinds of windows than have code of their own. */
static struct conv_layer_plan walking_plan(const struct walker *w)
{
    const struct csa_caches caches = { 20000, 60000, 90000, 64, 1, 2, 3, 0, 0, 0 };
    const struct conv_sconv_options options = { .reads_in_place = true, .prefetches = true };
    struct conv_layer_plan n = { .layer = "conv*/\n?", .machine = "toy", .caches = caches };
    const size_t pad = w->width / 2, h = 5 + rng_below(8), width = w->width > 5 ? 9 : 5 + rng_below(36);
    struct conv_problem p = { IMAGES(1, 2 + rng_below(8), h, width), FILTERS(1 + rng_below(30), w->width, w->width),
                              PADDING(pad, pad, pad, pad), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *u = conv_ukr_find(w->ukr);
    struct csa_tiling t;
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    t = csa_analyse(&p, &caches, u->n_win, u->n_f, CSA_WS);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&n.plan, &p, u, &t, &options) == 0 && n.plan.sconv.walks);
    return n;
}

/* ---- loops ---- */

/* A digest of a nest's calls without folding. */
struct digest {
    uint64_t value;
    size_t n;
};

static void mix(struct digest *d, uint64_t x)
{
    d->value = (d->value ^ x) * 0x100000001b3;
}

static void mix_call(struct digest *d, unsigned routine, const int64_t at[CONV_FOLD_MOST_OPERANDS])
{
    mix(d, routine);
    for (int o = 0; o < CONV_FOLD_MOST_OPERANDS; o++)
        mix(d, (uint64_t)at[o]);
    d->n++;
}

/* Iterations of the loops around, the outermost first. */
struct loops {
    size_t i[CONV_FOLD_DEPTH];
    unsigned n;
};

/* Mixes in a call, at the present iterations of the loops around the call. */
static void mix_item(struct digest *d, const struct conv_item *item, const struct loops *l)
{
    int64_t at[CONV_FOLD_MOST_OPERANDS];

    CU_ASSERT_EQUAL_FATAL(item->depth, l->n);
    memcpy(at, item->at, sizeof at);
    for (unsigned k = 0; k < item->depth; k++)
        for (int o = 0; o < CONV_FOLD_MOST_OPERANDS; o++)
            at[o] += (int64_t)l->i[l->n - 1 - k] * item->step[k][o];
    mix_call(d, item->routine, at);
}

/* Mixes in every call of items, in the order of the stream before folding. */
static void mix_items(struct digest *d, const struct conv_item *item, size_t n, struct loops *l)
{
    for (size_t k = 0; k < n; k++) {
        if (!item[k].times) {
            mix_item(d, &item[k], l);
            continue;
        }
        l->n++;
        for (size_t i = 0; i < item[k].times; i++) {
            l->i[l->n - 1] = i;
            mix_items(d, item[k].body, item[k].n_body, l);
        }
        l->n--;
    }
}

/* Streams of loops in loops, with edges, and some noise. */
static void folding_loses_nothing(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        size_t n[3] = { 1 + rng_below(7), 1 + rng_below(7), 1 + rng_below(9) };
        struct digest direct = { 1, 0 }, expanded = { 1, 0 };
        struct conv_fold fold = { 0 };

        for (size_t a = 0; a < n[0]; a++)
            for (size_t b = 0; b < n[1]; b++)
                for (size_t c = 0; c < n[2] + 1; c++) {
                    const int64_t at[CONV_FOLD_MOST_OPERANDS] = { (int64_t)(a * 100 + c), (int64_t)(b * 7),
                                                                  rng_below(40) ? 3 : (int64_t)rng_below(3) };
                    unsigned routine = c < n[2] ? c % 2 : 2;

                    mix_call(&direct, routine, at);
                    CU_ASSERT_FATAL(conv_fold_add(&fold, routine, at) == 0);
                }
        mix_items(&expanded, fold.item, fold.n, &(struct loops){ .n = 0 });
        CU_ASSERT(direct.value == expanded.value && direct.n == expanded.n);
        conv_fold_release(&fold);
    }
}

static void loops_are_found(void)
{
    struct conv_fold fold = { 0 };

    for (int64_t a = 0; a < 50; a++)
        for (int64_t b = 0; b < 70; b++)
            for (int64_t c = 0; c < 31; c++) {
                const int64_t at[CONV_FOLD_MOST_OPERANDS] = { a * 5000 - b, b * 9 + c, c };

                CU_ASSERT_FATAL(conv_fold_add(&fold, c == 30, at) == 0);
            }
    CU_ASSERT(fold.n == 1 && fold.item[0].times == 50 && fold.item[0].n_body == 1);
    CU_ASSERT(fold.item[0].body[0].times == 70 && fold.item[0].body[0].n_body == 2);
    conv_fold_release(&fold);
}

/* ---- code ---- */

static const enum cpu_isa isas[] = { CPU_ISA_NONE, CPU_ISA_AVX2, CPU_ISA_AVX512 };

/* Makes plans of an instruction set: one for each of the set's walkers, then random plans. */
static void random_plans(enum cpu_isa isa, struct conv_layer_plan plan[N_PLANS])
{
    static const struct walker walkers[] = {
        { CPU_ISA_AVX2, "f32_16x16__avx2", 3 },      { CPU_ISA_AVX2, "f32_16x16__avx2", 7 },
        { CPU_ISA_AVX2, "f32_16x24_taps__avx2", 3 }, { CPU_ISA_AVX2, "f32_16x24_taps__avx2", 5 },
        { CPU_ISA_AVX512, "f32_14x32__avx512", 7 },
    };
    size_t n = 0;

    for (size_t i = 0; i < COUNT(walkers); i++) {
        if (walkers[i].isa == isa)
            plan[n++] = walking_plan(&walkers[i]);
    }
    while (n < N_PLANS)
        plan[n++] = random_plan(isa);
}

/*
 * Builds random plans of an instruction set, with the fused operations after the convolution; false if the plans cannot
 * run here.
 */
static bool build(enum cpu_isa isa, struct conv_layer_plan plan[N_PLANS], const struct conv_fusion *after, bool records,
                  struct exp_emit_code *code)
{
    struct exp_why why = { "" };

    if (!sim_cpu_has(isa) || exp_emit_why_no_compiler(EXP_EMIT_C)) {
        test_skip("%s", sim_cpu_has(isa) ? exp_emit_why_no_compiler(EXP_EMIT_C) : "this CPU cannot execute the code");
        return false;
    }
    random_plans(isa, plan);
    return test_check(exp_emit_build(code, EXP_EMIT_C, plan, N_PLANS, after, records, &why) == 0, "%s", why.text);
}

static const struct exp_emit_code *running;
static size_t running_number;

/* The counterpart of conv_nest_run for kcheck_run_with. */
static int run_code(const struct conv_plan *plan, const struct conv_binding *bind)
{
    const char *layer = "conv*/\n?";
    float *packed = conv_out_ptr(bind->addr[CONV_PACKED_FILTER]);
    const float *filter = conv_in_ptr(bind->addr[CONV_FILTER]);

    if (!plan->sconv.options.packs_filters)
        exp_emit_code_packer(running, layer, running_number)(filter, packed);
    exp_emit_code_function(running, layer, running_number)(conv_in_ptr(bind->addr[CONV_INPUT]), filter, packed,
                                                           conv_out_ptr(bind->addr[CONV_PACKED_INPUT]),
                                                           conv_out_ptr(bind->addr[CONV_OUTPUT]));
    return 0;
}

static const struct conv_fusion nothing = { .adds_bias = false };
static struct conv_fusion following; /* the fused operations of the running code */
static float biases[512];

/* As run_code, with biases. */
static void run_fused(const struct conv_plan *plan, const struct conv_binding *bind)
{
    const char *layer = "conv*/\n?";
    float *packed = conv_out_ptr(bind->addr[CONV_PACKED_FILTER]);
    const float *filter = conv_in_ptr(bind->addr[CONV_FILTER]);

    CU_ASSERT_FATAL(plan->problem.k <= COUNT(biases));
    if (!plan->sconv.options.packs_filters)
        exp_emit_code_packer(running, layer, running_number)(filter, packed);
    exp_emit_code_fused(running, layer, running_number)(conv_in_ptr(bind->addr[CONV_INPUT]), filter, packed,
                                                        conv_out_ptr(bind->addr[CONV_PACKED_INPUT]),
                                                        conv_out_ptr(bind->addr[CONV_OUTPUT]), biases);
}

typedef void (*access_fn)(const void *address, size_t bytes, int kind);
typedef int (*run_fn)(const struct conv_plan *plan, const struct conv_binding *bind);

/* Has recording code call `see` at every access. */
static void record(const struct exp_emit_code *code, access_fn see)
{
    access_fn *at = dlsym(code->library, "sconv_access");

    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    *at = see;
}

/*
 * Builds code of every instruction set, fused with `following`, and has run() run the code plan by plan; see: for
 * record().
 */
static void run_each(access_fn see, run_fn run)
{
    const bool changes_results = following.adds_bias || following.activation;

    for (size_t i = 0; i < COUNT(isas); i++) {
        struct conv_layer_plan plan[N_PLANS];
        struct exp_emit_code code;

        if (!build(isas[i], plan, &following, see, &code))
            continue;
        running = &code;
        if (see)
            record(&code, see);
        for (running_number = 0; running_number < N_PLANS; running_number++) {
            const struct conv_plan *p = &plan[running_number].plan;
            struct conv_mismatch where;
            struct kcheck k;
            int err;

            CU_ASSERT_FATAL(kcheck_init(&k, &p->problem, true) == 0);
            err = kcheck_run_with(&k, p, run, &where);
            test_check(!err || (changes_results && err == -EILSEQ), "%s %s: wrong", p->ukr->name,
                       kcheck_describe(&p->problem));
            kcheck_release(&k);
        }
        exp_emit_code_release(&code);
    }
}

static void results_are_right(void)
{
    following = nothing;
    run_each(NULL, run_code);
}

/* Returns the final value of an output, by definition. */
static double finished(double x, size_t filter)
{
    if (following.adds_bias)
        x += (double)biases[filter];
    if (following.activation != CONV_ACTIVATION_NONE && x < 0)
        x = 0;
    return following.activation == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

/* Runs code, then compares with plain loops and the fused operations. The numbers are small integers: all are exact. */
static int run_and_check_finished(const struct conv_plan *plan, const struct conv_binding *bind)
{
    const struct conv_problem *p = &plan->problem;
    const size_t n_windows = conv_windows(p);
    const float *out = conv_in_ptr(bind->addr[CONV_OUTPUT]);
    double *sum = calloc(n_windows, sizeof *sum);
    size_t n_wrong = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(sum);
    if (following.adds_bias)
        run_fused(plan, bind);
    else
        run_code(plan, bind);
    for (size_t i = 0; i < p->n * p->k; i++) {
        conv_naive_plane(p, conv_in_ptr(bind->addr[CONV_INPUT]), conv_in_ptr(bind->addr[CONV_FILTER]), i / p->k,
                         i % p->k, sum, NULL);
        for (size_t w = 0; w < n_windows; w++)
            n_wrong += (double)out[i * n_windows + w] != finished(sum[w], i % p->k);
    }
    test_check(!n_wrong, "%s %s, activation %d%s: %zu outputs wrong", plan->ukr->name, kcheck_describe(p),
               (int)following.activation, following.adds_bias ? " and a bias" : "", n_wrong);
    free(sum);
    return 0;
}

static void what_follows_is_right(void)
{
    for (size_t i = 0; i < COUNT(biases); i++)
        biases[i] = (float)rng_range(-3, 3);
    for (int activation = CONV_ACTIVATION_RELU; activation < CONV_N_ACTIVATIONS; activation++) {
        following = (struct conv_fusion){ rng_below(2), (enum conv_activation)activation };
        run_each(NULL, run_and_check_finished);
    }
}

/* ---- accesses ---- */

/* Has the accesses of the running code. */
static struct watch_list seen;

/* Kinds of the generated code (text/common.inc) have the simulator's numbers. */
static void see(const void *address, size_t bytes, int kind)
{
    const struct sim_run run = {
        .addr = (uintptr_t)address, .count = 1, .access_bytes = (uint32_t)bytes, .kind = (uint8_t)kind
    };

    sim_emit(&seen.expander.sink, &run, 1, 1);
}

static bool is_equal(const struct sim_access *a, const struct sim_access *b)
{
    return a->addr == b->addr && a->bytes == b->bytes && a->kind == b->kind;
}

/* Runs recorded code, then replays the nest at equal addresses. */
static int run_and_compare(const struct conv_plan *plan, const struct conv_binding *bind)
{
    const struct conv_after after = { bind->addr[CONV_OUTPUT], 0, (uintptr_t)biases, 0, following.activation };
    struct watch_list replayed;
    struct conv_replay replay;
    struct conv_fused fused;
    size_t n = 0;

    seen.n = 0;
    if (following.adds_bias)
        run_fused(plan, bind);
    else
        run_code(plan, bind);
    watch_list_init(&replayed, true);
    conv_replay_init(&replay, plan, &replayed.expander.sink);
    replay.bind = *bind;
    if (!plan->sconv.options.packs_filters)
        CU_ASSERT(conv_nest_pack_filters(plan, &replay.base) == 0);
    conv_fused_init(&fused, &replay.base, plan, &after, &replayed.expander.sink);
    CU_ASSERT(conv_nest_run(plan, following.adds_bias ? &fused.base : &replay.base) == 0);
    CU_ASSERT_FATAL(!seen.err && !replayed.err);
    while (n < seen.n && n < replayed.n && is_equal(&seen.access[n], &replayed.access[n]))
        n++;
    test_check(n == seen.n && n == replayed.n, "%s %s: %zu accesses, %zu replayed, first difference at %zu",
               plan->ukr->name, kcheck_describe(&plan->problem), seen.n, replayed.n, n);
    watch_list_release(&replayed);
    return 0;
}

static void compare_accesses(void)
{
    watch_list_init(&seen, true);
    run_each(see, run_and_compare);
    watch_list_release(&seen);
}

static void accesses_are_the_replays(void)
{
    following = nothing;
    compare_accesses();
}

static void fused_accesses_are_the_replays(void)
{
    following = (struct conv_fusion){ true, (enum conv_activation)rng_below(CONV_N_ACTIVATIONS) };
    compare_accesses();
}

/* ---- names ---- */

static void names_are_identifiers(void)
{
    static const char *const layers[] = { "",
                                          "int",
                                          "a b",
                                          "x; system(\"ls\")",
                                          "*/ int y; /*",
                                          "\xc3\xa9t\xc3\xa9",
                                          "0123456789012345678901234567890123456789012345678901234567890123456789" };

    for (size_t i = 0; i < COUNT(layers); i++) {
        char name[CONV_C_NAME_BYTES];

        conv_c_name(name, layers[i], i ? SIZE_MAX : 0);
        test_check(!strncmp(name, "sconv_", 6) &&
                       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(name),
                   "'%s' is called %s", layers[i], name);
    }
}

static const struct test_case cases[] = {
    { "folding loses nothing", folding_loses_nothing },
    { "loops are found", loops_are_found },
    { "generated code computes right", results_are_right },
    { "so does it with what is fused", what_follows_is_right },
    { "generated code's accesses are the replay's", accesses_are_the_replays },
    { "so are the accesses with what is fused", fused_accesses_are_the_replays },
    { "names are identifiers", names_are_identifiers },
    { NULL, NULL },
};

const struct test_suite suite_emit_c = { "emit_c", cases };
