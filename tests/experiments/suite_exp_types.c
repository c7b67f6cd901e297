/*
 * Experiments of the element types beside f32: all algorithms on random shapes against the oracle, wrong kernels that
 * the check must find, accesses of im2col, and replays that keep types apart.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/bench/replay/replay.h"
#include "experiments/bench/time/measure.h"
#include "kernels/ukr/dispatch.h"
#include "tests/experiments/toy.h"
#include "tests/kernels/emission.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/tally.h"
#include "tests/rng.h"
#include "tests/suites.h"

extern const struct test_suite suite_exp_types;

__typeof__(conv_im2col_narrow) logged_conv_im2col_narrow;

/* ---- an experiment of a type ---- */

enum { N_LAYERS = 3, FIRST_TYPE = CONV_F32 + 1 };

struct typed {
    struct exp_setup setup;
    struct exp_layer layer[N_LAYERS];
    struct exp_model model;
    struct exp_experiment experiment;
    struct exp_progress *progress;
    FILE *log;
};

/* Opens an experiment of random shapes, planned for the micro-kernel ukr; NULL: the best. False: the test is skipped. */
static bool open_typed(struct typed *t, enum conv_type type, const char *ukr)
{
    static char names[N_LAYERS][4] = { "a", "b", "c" }, name[] = "random";
    struct exp_why why = { "" };

    *t = (struct typed){ .setup.type = type, .setup.packs_filters = rng_below(2) };
    if (!toy_setup(&t->setup, ukr, "Haswell"))
        return false;
    t->model = (struct exp_model){ .name = name, .path = name, .n_layers = N_LAYERS, .layer = t->layer };
    for (unsigned i = 0; i < N_LAYERS; i++) {
        t->layer[i] = (struct exp_layer){ .name = names[i], .problem = kcheck_random_problem(), .index = i + 1 };
        t->layer[i].problem.type = type;
    }
    t->log = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->log);
    t->progress = exp_progress_new(t->log, false, NULL, ctr_now_ns);
    return test_check(!exp_experiment_plan(&t->experiment, &t->setup, &t->model,
                                           exp_algos_of_type(type) | exp_algo_bit(exp_algo_find("sconv_tuned")), &why),
                      "%s", why.text);
}

static void close_typed(struct typed *t)
{
    exp_progress_free(t->progress);
    exp_experiment_release(&t->experiment);
    exp_setup_release(&t->setup);
    fclose(t->log);
}

static int verify(struct typed *t, struct exp_why *why)
{
    return exp_verify_all(&t->experiment, &(struct exp_measure_options){ .n_threads = 1 }, t->progress, why);
}

static void check_right(enum conv_type type, const char *ukr)
{
    struct exp_why why = { "" };
    struct typed t;

    if (!open_typed(&t, type, ukr))
        return;
    CU_ASSERT_EQUAL(t.experiment.n_algos, 5);
    for (size_t i = 0; i < t.experiment.n_cases; i++) {
        const char *why_not = exp_case_why_not_run(&t.experiment, &t.experiment.cases[i]);

        CU_ASSERT_EQUAL(!why_not, !t.experiment.cases[i].algo->is_of_types || t.setup.onednn);
        test_check(!why_not || strstr(why_not, "oneDNN"), "%s", why_not);
    }
    test_check(!verify(&t, &why), "%s", why.text);
    close_typed(&t);
}

static void all_algorithms_are_right(void)
{
    for (unsigned round = 0; round < test_rounds(15); round++) {
        for (unsigned type = FIRST_TYPE; type < CONV_N_TYPES; type++) {
            check_right((enum conv_type)type, conv_ukr_best_of((enum conv_type)type)->name);
            check_right((enum conv_type)type, "ref");
        }
    }
}

/* ---- wrong kernels ---- */

/* Changes the last sum of a call by the least amount. */
static void compute_wrongly(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    const struct conv_ukr *right = conv_kernels_of(u->type)->ukr[0];
    void *last = conv_out_ptr(a->out + ((a->n_f - 1) * a->ld_out + a->n_win - 1) * CONV_LANE_BYTES);
    int32_t sum;
    float value;

    right->fn(right, a);
    memcpy(&sum, last, sizeof sum);
    memcpy(&value, last, sizeof value);
    if (u->type == CONV_BF16)
        value = nextafterf(value, 1e9f);
    else
        sum++;
    memcpy(last, u->type == CONV_BF16 ? (const void *)&value : (const void *)&sum, sizeof sum);
}

static void check_wrong(enum conv_type type)
{
    struct conv_ukr wrong = *conv_kernels_of(type)->ukr[0];
    struct exp_why why = { "" };
    size_t tuned = 0;
    struct typed t;

    wrong.fn = compute_wrongly;
    wrong.chains = false;
    if (!open_typed(&t, type, "ref"))
        return;
    for (size_t i = 0; i < t.experiment.n_cases; i++)
        tuned = t.experiment.cases[i].algo == exp_algo_find("sconv_tuned") ? i : tuned;
    t.experiment.cases[tuned].plan.ukr = &wrong;
    for (size_t i = t.experiment.n_cases - t.experiment.n_algos; i < t.experiment.n_cases; i++)
        t.experiment.cases[i].same_as = i; /* else an equal shape was verified before */
    CU_ASSERT_EQUAL(verify(&t, &why), -EILSEQ);
    test_check(strstr(why.text, "sconv_tuned (") && strstr(why.text, "computes a wrong result"), "%s", why.text);
    close_typed(&t);
}

static void wrong_kernels_are_found(void)
{
    for (unsigned round = 0; round < test_rounds(10); round++) {
        for (unsigned type = FIRST_TYPE; type < CONV_N_TYPES; type++)
            check_wrong((enum conv_type)type);
    }
}

/* ---- words and reasons ---- */

static void others_say_why(void)
{
    struct exp_setup s = { .type = CONV_BF16 };
    struct exp_why why = { "" };

    if (!toy_setup(&s, "", "Haswell"))
        return;
    for (size_t i = 0; i < exp_algo_record_count(); i++) {
        const struct exp_algo *a = exp_algo_record(i);
        const bool takes = a->members || (a->takes_types && (!a->is_of_types || s.onednn));

        test_check(takes == (exp_algo_why_not_run(a, &s) == NULL), "%s", a->name);
        if (!takes && !a->is_of_types)
            CU_ASSERT_STRING_EQUAL(exp_algo_why_not_run(a, &s), "it computes f32 alone (TYPE=f32)");
        if (!takes && !a->is_of_types)
            CU_ASSERT_STRING_EQUAL(exp_algo_why_not_replay(a, &s), "it computes f32 alone (TYPE=f32)");
    }
    CU_ASSERT_STRING_EQUAL(exp_algo_label(exp_algo_base(), CONV_F32), "im2col + OpenBLAS");
    CU_ASSERT_STRING_EQUAL(exp_algo_label(exp_algo_base(), CONV_BF16), "im2col + our GEMM");
    exp_setup_release(&s);
    s = (struct exp_setup){ .type = CONV_U8S8 };
    CU_ASSERT_FATAL(toy_machine(&s.machine));
    CU_ASSERT_EQUAL(exp_setup_init(&s, "f32_16x24__ref", "", &why), -EINVAL);
    test_check(!strncmp(why.text, "unknown micro-kernel 'f32_16x24__ref' of type u8s8; known: u8s8_16x24__ref, ", 76),
               "%s", why.text);
}

/* A machine gives a type the last micro-kernel that its instruction set and its rates allow, and the rate. */
static void machines_choose_kernels(void)
{
    static const struct {
        const char *machine, *bf16, *u8s8;
        double bf16_rate, u8s8_rate;
    } expected[] = {
        { "zen4", "bf16_16x24__avx512", "u8s8_16x24__avx512", 1, 1 },
        { "gnr", "bf16_32x32__amx", "u8s8_32x32__amx", 2, 2 },
        { "icx", "bf16_16x24__ref", "u8s8_16x24__avx512", 2, 2 },
        { "power10", "bf16_16x24__ref", "u8s8_16x24__ref", 2, 2 },
        { "zen3", "bf16_16x24__ref", "u8s8_16x24__ref", 2, 2 },
    };

    for (size_t i = 0; i < COUNT(expected); i++) {
        for (int k = 0; k < 2; k++) {
            char *path = exp_format("sim/machines/%s.cfg", expected[i].machine);
            struct exp_setup s = { .type = k ? CONV_U8S8 : CONV_BF16 };
            struct exp_why why = { "" };

            if (!test_check(!sim_machine_read(&s.machine, path, why.text, sizeof why.text) &&
                                !exp_setup_init(&s, "", "", &why),
                            "%s", why.text))
                return;
            test_check(!strcmp(s.ukr->name, k ? expected[i].u8s8 : expected[i].bf16), "%s: %s", path, s.ukr->name);
            CU_ASSERT_EQUAL(s.machine.issue.mac_instructions_per_cycle,
                            k ? expected[i].u8s8_rate : expected[i].bf16_rate);
            exp_setup_release(&s);
            free(path);
        }
    }
}

/* Sums of bytes that may exceed 32 bits are refused by the table's line; names say the type. */
static void models_have_a_type(void)
{
    struct exp_model m;
    struct exp_why why = { "" };

    if (!test_check(!exp_model_find(&m, "experiments", "vgg16", &why), "%s", why.text))
        return;
    CU_ASSERT(!exp_model_set_type(&m, CONV_F32, &why) && !strcmp(m.name, "vgg16") && !m.layer[0].problem.type);
    CU_ASSERT(!exp_model_set_type(&m, CONV_S8S8, &why) && !strcmp(m.name, "vgg16_s8s8"));
    CU_ASSERT_EQUAL(m.layer[m.n_layers - 1].problem.type, CONV_S8S8);
    m.layer[2].problem.c = 100000;
    m.layer[2].problem.groups = 1;
    CU_ASSERT_EQUAL(exp_model_set_type(&m, CONV_U8S8, &why), -EOVERFLOW);
    test_check(strstr(why.text, "vgg16.csv:") && strstr(why.text, "may exceed 2^31 - 1"), "%s", why.text);
    exp_model_release(&m);
}

/* ---- im2col ---- */

static void run_im2col(void *args)
{
    logged_conv_im2col_narrow(args);
}

static void emit_im2col(void *args, struct sim_sink *sink)
{
    conv_im2col_narrow_emit(args, sink);
}

static void check_im2col(enum conv_type type)
{
    struct conv_problem p = kcheck_random_problem();
    const size_t bytes[] = { conv_group_channels(&p) * p.h * p.w * conv_types[type].bytes[CONV_INPUT],
                             conv_reduction(&p) * conv_windows(&p) * conv_types[type].bytes[CONV_IM2COL] };
    struct conv_im2col_args a = { .p = &p };
    struct logged_buffer at[COUNT(bytes)];
    struct kbuffer memory[COUNT(bytes)];

    p.type = type;
    for (size_t i = 0; i < COUNT(bytes); i++) {
        const size_t words = ceil_div(bytes[i], sizeof(float));

        CU_ASSERT_FATAL(kbuffer_init(&memory[i], words) == 0);
        at[i] = (struct logged_buffer){ (uintptr_t)memory[i].data, words * sizeof(float) };
    }
    a.in = at[0].addr;
    a.col = at[1].addr;
    check_emission("im2col", run_im2col, emit_im2col, &a, at, COUNT(bytes));
    for (size_t i = 0; i < COUNT(bytes); i++)
        kbuffer_release(&memory[i]);
}

static void im2col_touches_what_it_emits(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        for (unsigned type = FIRST_TYPE; type < CONV_N_TYPES; type++)
            check_im2col((enum conv_type)type);
    }
}

/* ---- replays ---- */

/* Base stores each element of the matrix once, in the type's bytes, and packs the matrix once. */
static void check_base(const struct typed *t, const struct exp_case *c)
{
    const struct conv_plan *plan = &c->plan;
    const struct conv_problem *p = &c->layer->problem;
    const struct tally sums = tally_of(plan);
    const size_t elements = p->n * p->groups * conv_reduction(p) * conv_windows(p);
    const size_t bytes = conv_types[t->setup.type].bytes[CONV_IM2COL];
    const bool is_lowered = !conv_is_pointwise(p);

    CU_ASSERT_EQUAL(sums.n_outside, 0);
    CU_ASSERT_EQUAL(plan->sconv.options.lowers_first, is_lowered);
    CU_ASSERT_EQUAL(sums.bytes[CONV_IM2COL][CONV_PHASE_IM2COL][SIM_STORE], is_lowered ? elements * bytes : 0);
    CU_ASSERT_EQUAL(sums.n[CONV_IM2COL][CONV_PHASE_IM2COL][SIM_STORE], is_lowered ? elements : 0);
    CU_ASSERT_EQUAL(sums.bytes[is_lowered ? CONV_IM2COL : CONV_INPUT][CONV_PHASE_PACK][SIM_LOAD], elements * bytes);
    CU_ASSERT_EQUAL(sums.bytes[CONV_FILTER][CONV_PHASE_PACK][SIM_LOAD],
                    t->setup.packs_filters ? plan->layout.bytes[CONV_FILTER] : 0);
}

static void base_lowers_once(void)
{
    for (unsigned round = 0; round < test_rounds(20); round++) {
        for (unsigned type = FIRST_TYPE; type < CONV_N_TYPES; type++) {
            struct typed t;

            if (!open_typed(&t, (enum conv_type)type, "ref"))
                return;
            for (size_t i = 0; i < t.experiment.n_cases; i += t.experiment.n_algos)
                check_base(&t, &t.experiment.cases[i]);
            close_typed(&t);
        }
    }
}

static const struct test_case cases[] = {
    { "Base, IS, WS and tuned of every type compute what the oracle computes", all_algorithms_are_right },
    { "a kernel that is wrong by the least amount is found", wrong_kernels_are_found },
    { "algorithms without a type say so, others stay; a wrong UKR is refused", others_say_why },
    { "machines choose micro-kernels and rates of a type", machines_choose_kernels },
    { "models have a type in their names, and sums that overflow are refused", models_have_a_type },
    { "im2col of narrow elements touches exactly what it emits, in order", im2col_touches_what_it_emits },
    { "Base lowers and packs each element once", base_lowers_once },
    { NULL, NULL },
};

const struct test_suite suite_exp_types = { "exp_types", cases };
