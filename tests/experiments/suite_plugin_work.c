/*
 * The work of plug-ins: instructions that the plug-in's own recording code counts, beside the emulator's counts of the
 * plug-in's unchanged code. Needs the emulator: OBSERVER in the environment.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiments/bench/case/case.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/backend/backend.h"
#include "kernels/plan/plan.h"
#include "tests/suites.h"

struct sums {
    struct sim_sink sink; /* first: hands accesses to nobody */
    struct sim_work work[CONV_N_PHASES];
};

static void add_work(void *ctx, unsigned phase, const struct sim_work *w)
{
    struct sim_work *to = &((struct sums *)ctx)->work[phase];

    to->operations += w->operations + w->serial_operations;
    to->macs += w->macs;
    to->loops += w->loops;
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    (void)self, (void)run, (void)n_runs, (void)n_times;
}

static const char *why_skipped(void)
{
    const struct exp_recorder_kind *kind = exp_recorder_kind_of_libraries();
    const char *observer = getenv("OBSERVER");

    return !kind || !observer || access(observer, R_OK) || system("command -v qemu-x86_64 >/dev/null")
               ? "no qemu-x86_64, or no OBSERVER in the environment"
               : NULL;
}

/* Records a layer of a plug-in. */
static struct sums record(const char *path, bool is_function, const struct exp_recorder_kind *kind)
{
    const struct exp_plugin_limits limits = { 60, "-mno-avx512f" };
    struct sums s = { .sink.accept = accept };
    const struct exp_plugin_clock clock = { add_work, &s };
    struct conv_problem p = { .n = 1,
                              .c = 4,
                              .h = 14,
                              .w = 18,
                              .k = 8,
                              .r = 3,
                              .s = 3,
                              .stride_h = 1,
                              .stride_w = 1,
                              .pad_top = 1,
                              .pad_left = 1,
                              .pad_bottom = 1,
                              .pad_right = 1,
                              .dilation_h = 1,
                              .dilation_w = 1,
                              .groups = 1 };
    struct conv_plan plan;
    struct conv_binding bind;
    struct exp_why why = { "" };
    char *program = NULL;
    int err = conv_problem_finish(&p, SIM_WHY(why.text)) || conv_plan_plugin(&plan, &p, "plugin", NULL);

    CU_ASSERT_FATAL(!err);
    bind = conv_bind(&plan.layout, CONV_REPLAY_BASE);
    err = exp_plugin_compile_recorder(path, &limits, is_function ? "conv" : "conv_plugin", is_function, kind, &program,
                                      &why);
    if (!err) {
        const struct exp_recording r = { .kind = kind,
                                         .program = program,
                                         .observer = getenv("OBSERVER"),
                                         .user_plan = "",
                                         .plan = &plan,
                                         .bind = &bind,
                                         .limit_s = 60,
                                         .clock = &clock };

        err = exp_plugin_record(&r, &s.sink, &why);
    }
    CU_ASSERT(!err);
    if (err)
        printf("%s: %s\n", path, why.text);
    free(program);
    return s;
}

/* The emulator also counts the C library's instructions, and the instructions that fill gaps before loops. */
static void is_near(const char *path, const char *what, double counted, double truth)
{
    const bool near = fabs(counted - truth) <= 0.05 * truth + 300;

    CU_ASSERT(near);
    if (!near)
        printf("%s: %s: %.0f counted, the emulator counts %.0f\n", path, what, counted, truth);
}

static void test_counts(void)
{
    static const struct {
        const char *path;
        bool is_function;
    } plugin[] = { { "kernels/plugin/naive.c", true },
                   { "kernels/plugin/skeleton.c", true },
                   { "tests/data/plugins/winograd.c", false },
                   { "tests/data/plugins/marks.c", false } };

    if (why_skipped()) {
        test_skip("%s", why_skipped());
        return;
    }
    for (size_t i = 0; i < sizeof plugin / sizeof plugin[0]; i++) {
        const struct sums own = record(plugin[i].path, plugin[i].is_function, exp_recorder_kind(CPU_ISA_AVX2)),
                          truth = record(plugin[i].path, plugin[i].is_function, exp_recorder_kind_of_libraries());

        CU_ASSERT(truth.work[CONV_PHASE_UKR].macs > 0 && truth.work[CONV_PHASE_UKR].loops == 0);
        for (unsigned p = 0; p < CONV_N_PHASES; p++) {
            is_near(plugin[i].path, conv_phase_name(p), own.work[p].operations, truth.work[p].operations);
            is_near(plugin[i].path, "multiply-adds", own.work[p].macs, truth.work[p].macs);
        }
    }
}

static const struct test_case cases[] = {
    { "a plug-in's instructions are the emulator's", test_counts },
    { NULL, NULL },
};

const struct test_suite suite_plugin_work = { "plugin_work", cases };
