/* The library's descriptions of plans: a line for people, JSON for compilers. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "kernels/emit/plan_json.h"
#include "kernels/lib/sconv_shape.h"
#include "kernels/plan/tune.h"
#include "kernels/ukr/dispatch.h"
#include "sim/machine/machine.h"
#include "tests/kernels/sconv_small.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static const float weights[SMALL_WEIGHTS] = { 0 };

/* Returns the library's choice for the shape on this CPU and the machine. */
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
    struct sconv_machine *m = sconv_small_machine(toy);
    const struct sconv_options o = { .bias = weights, .activation = SCONV_RELU6, .threads = 2 };
    struct conv_problem p = { IMAGES(1, 5, 9, 9), FILTERS(7, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 };
    struct sconv_shape shape;
    struct conv_plan chosen;
    struct sconv_plan *plan;
    char text[512], cut[10];
    size_t n, out_h, out_w;

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(text)) == 0);
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

/* As planned: direct, with rows or groups of a step. */
static void depthwise_plans_describe_themselves(void)
{
    struct sconv_shape depthwise = sconv_small;
    struct sconv_machine *m = sconv_small_machine("sim/machines/toy.cfg");
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

/* The text of the call is read again, and equals the plan that sconv_plan_create takes, or the paper's plan. */
static void plans_are_told_to_compilers(void)
{
    static const char toy[] = "sim/machines/toy.cfg";
    struct conv_problem p = { IMAGES(1, 5, 9, 9), FILTERS(7, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 };
    const struct conv_ukr *best = conv_ukr_best();
    struct sconv_machine *m = sconv_small_machine(toy);
    struct conv_layer_plans plans;
    struct sconv_shape shape;
    struct conv_plan chosen;
    char text[8192], why[512];
    size_t n;

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    shape = sconv_shape_of(&p);
    chosen = chosen_for(&p, toy);
    for (int planner = SCONV_PAPER; planner <= SCONV_TUNED; planner++) {
        const struct conv_ukr *ukr = planner == SCONV_TUNED ? chosen.ukr : best;

        CU_ASSERT_FATAL(sconv_plan_json(&shape, m, (enum sconv_planner)planner, text, sizeof text, &n) == 0);
        CU_ASSERT_EQUAL(n, strlen(text));
        CU_ASSERT_FATAL(
            test_check(conv_plans_read(&plans, scratch_text("plan.json", text), NULL, SIM_WHY(why)) == 0, "%s", why));
        CU_ASSERT(plans.n == 1 && plans.plan[0].plan.ukr == ukr && conv_problem_equal(&plans.plan[0].plan.problem, &p));
        CU_ASSERT_EQUAL(plans.plan[0].plan.sconv.options.prefetches,
                        planner == SCONV_TUNED && chosen.sconv.options.prefetches);
        CU_ASSERT_STRING_EQUAL(plans.plan[0].machine, "toy");
        conv_plans_release(&plans);
    }
    CU_ASSERT(sconv_plan_json(&shape, NULL, SCONV_PAPER, text, sizeof text, NULL) == 0);
    sconv_machine_free(m);
}

static void texts_of_plans_have_to_fit(void)
{
    struct sconv_shape depthwise = sconv_small, bad = sconv_small;
    struct sconv_machine *m = sconv_small_machine("sim/machines/toy.cfg");
    char text[8192] = "x";
    size_t n, again;

    CU_ASSERT_FATAL(sconv_plan_json(&sconv_small, m, SCONV_PAPER, text, sizeof text, &n) == 0);
    CU_ASSERT(sconv_plan_json(&sconv_small, m, SCONV_PAPER, text, n + 1, &again) == 0 && again == n &&
              strlen(text) == n);
    CU_ASSERT(sconv_plan_json(&sconv_small, m, SCONV_PAPER, text, n, &again) == -ENOBUFS && again == n && !*text);
    CU_ASSERT(sconv_plan_json(&sconv_small, m, SCONV_PAPER, NULL, 0, &again) == -ENOBUFS && again == n);
    CU_ASSERT_EQUAL(sconv_plan_json(&sconv_small, m, SCONV_PAPER, NULL, 1, &again), -EINVAL);
    CU_ASSERT_EQUAL(sconv_plan_json(NULL, m, SCONV_PAPER, text, sizeof text, &again), -EINVAL);
    CU_ASSERT_EQUAL(sconv_plan_json(&sconv_small, m, (enum sconv_planner)2, text, sizeof text, &again), -EINVAL);
    bad.stride_w = 0;
    CU_ASSERT_EQUAL(sconv_plan_json(&bad, m, SCONV_PAPER, text, sizeof text, &again), -EINVAL);
    depthwise.groups = depthwise.out_c = depthwise.in_c;
    CU_ASSERT(sconv_plan_json(&depthwise, m, SCONV_TUNED, text, sizeof text, &again) == -ENOTSUP && !*text);
    CU_ASSERT_EQUAL(sconv_plan_json(&depthwise, m, SCONV_PAPER, text, sizeof text, &again), 0);
    sconv_machine_free(m);
}

static const struct test_case cases[] = {
    { "plans describe themselves", plans_describe_themselves },
    { "depthwise plans describe themselves", depthwise_plans_describe_themselves },
    { "plans are told to compilers", plans_are_told_to_compilers },
    { "texts of plans have to fit", texts_of_plans_have_to_fit },
    { NULL, NULL },
};

const struct test_suite suite_sconv_plans = { "sconv_plans", cases };
