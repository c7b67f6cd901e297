/* Recorded stacks: the tables, the fits of the tables, and the stack of today's code under emulation. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/stack.h"
#include "experiments/observe/stack_study.h"
#include "kernels/ukr/dispatch.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

#define HEADER "algo,micro_kernel,phase,lines,work,loads,stores\n"
#define COUNTING_HEADER "algo,micro_kernel,phase,lines,work,loads,stores,instructions,branches\n"
static void tables_read_back_as_they_were(void)
{
    struct exp_stack_record r = { .algo = "sconv_ws", .ukr = "f32_16x6__avx2" };
    struct conv_plan plan = { .algorithm = CONV_SCONV, .ukr = conv_ukr_find("f32_16x6__avx2") };
    struct exp_stacks s = { 0 };
    const struct conv_stack *found;
    struct exp_why why = { "" };
    FILE *out;

    r.stack.phase[CONV_PHASE_UKR].lines = 41;
    r.stack.phase[CONV_PHASE_UKR].loads[CONV_WORK_STEP] = 122.5;
    r.stack.phase[CONV_PHASE_UKR].stores[CONV_WORK_STEP] = 61;
    r.stack.phase[CONV_PHASE_UKR].instructions[CONV_WORK_LOAD] = 2.25;
    r.stack.phase[CONV_PHASE_UKR].branches[CONV_WORK_LOAD] = 0.125;
    r.stack.phase[CONV_PHASE_PACK].lines = 98;
    r.stack.phase[CONV_PHASE_PACK].stores[CONV_WORK_ROW + 5] = 0.125;
    out = fopen(scratch_path("s.csv"), "w");
    CU_ASSERT_FATAL(out != NULL);
    exp_stack_print_header(out);
    exp_stack_print(&r, out);
    fclose(out);
    test_check(exp_stacks_read(&s, scratch_path("s.csv"), &why) == 0, "%s", why.text);
    found = exp_stacks_find(&s, "sconv_ws", &plan);
    CU_ASSERT(found && !memcmp(found, &r.stack, sizeof r.stack));
    CU_ASSERT(!exp_stacks_find(&s, "sconv_is", &plan));
    plan.ukr = conv_ukr_find("f32_16x24__avx2");
    CU_ASSERT(!exp_stacks_find(&s, "sconv_ws", &plan));
    exp_stacks_release(&s);
}

/* Two tables are merged: the entries of both are found. */
static void tables_add_up(void)
{
    static const char *const kernels[] = { "f32_16x6__avx2", "f32_16x24__avx512", "f32_16x24__ref" };
    struct exp_stacks s = { 0 };
    struct exp_why why = { "" };

    CU_ASSERT(!exp_stacks_read(&s, scratch_text("a.csv", HEADER "base,f32_16x6__avx2,packing,1,step,5,1\n"), &why));
    CU_ASSERT(!exp_stacks_read(&s, scratch_text("b.csv", HEADER "base,f32_16x24__avx512,packing,1,step,7,1\n"), &why));
    for (size_t i = 0; i < COUNT(kernels); i++) {
        struct conv_plan plan = { .algorithm = CONV_SCONV, .ukr = conv_ukr_find(kernels[i]) };
        const struct conv_stack *found = exp_stacks_find(&s, "base", &plan);

        CU_ASSERT(i < 2 ? found && found->phase[CONV_PHASE_PACK].loads[CONV_WORK_STEP] == (i ? 7 : 5) : !found);
    }
    exp_stacks_release(&s);
}

static void broken_tables_are_refused(void)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "algo,phase\n", "micro_kernel" },
        { HEADER "a,u,naps,1,step,1,1\n", ":2: phase: 'naps' is none" },
        { HEADER "a,u,packing,1,walk,1,1\n", ":2: work: 'walk' is none" },
        { HEADER "a,u,packing,0,step,1,1\n", ":2: lines: expected 1 to 4096, '0'" },
        { HEADER "a,u,packing,5000,step,1,1\n", ":2: lines: expected 1 to 4096, '5000'" },
        { HEADER "a,u,packing,1,step,-1,1\n", ":2: loads: must not be negative, '-1'" },
        { HEADER "a,u,packing,1,step,1,many\n", ":2" },
        { COUNTING_HEADER "a,u,packing,1,step,1,1,-4,0\n", ":2: instructions: must not be negative, '-4'" },
        { "algo,micro_kernel,phase,lines,work,loads,stores,instructions\n", "branches" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct exp_stacks s = { 0 };
        struct exp_why why = { "" };
        int err = exp_stacks_read(&s, scratch_text("s.csv", bad[i].text), &why);

        test_check(err && strstr(why.text, bad[i].words) && !s.n, "case %zu: %d, '%s'", i, err, why.text);
    }
}

/* Random work with known costs: the fit finds the costs. */
static void known_costs_are_found_again(void)
{
    enum { N_SAMPLES = 12 };
    static const double loads[] = { [CONV_WORK_STEP] = 80, [CONV_WORK_LOAD] = 0.25, [CONV_WORK_TILE] = 7 };
    struct exp_stack_sample s[N_SAMPLES] = { 0 };
    const struct exp_stack_sample *of[N_SAMPLES];
    struct conv_stack stack;

    for (size_t i = 0; i < N_SAMPLES; i++) {
        double *work = s[i].work[CONV_PHASE_PACK];

        of[i] = &s[i];
        for (unsigned w = 0; w < COUNT(loads); w++) {
            work[w] = 1 + (double)rng_below(1000);
            s[i].loads[CONV_PHASE_PACK] += loads[w] * work[w];
        }
        s[i].stores[CONV_PHASE_PACK] = 3 * work[CONV_WORK_STEP];
        s[i].instructions[CONV_PHASE_PACK] = 400 * work[CONV_WORK_STEP] + 5 * work[CONV_WORK_LOAD];
        s[i].branches[CONV_PHASE_PACK] = 20 * work[CONV_WORK_STEP];
        s[i].lines[CONV_PHASE_PACK] = 10 + (double)(i % 2);
    }
    exp_stack_fit(&stack, of, N_SAMPLES);
    for (unsigned w = 0; w < CONV_N_WORKS; w++) {
        double is = stack.phase[CONV_PHASE_PACK].loads[w], want = w < COUNT(loads) ? loads[w] : 0;

        test_check(fabs(is - want) < 0.02 * want + 0.02, "%s: %g instead of %g", conv_work_name(w), is, want);
    }
    CU_ASSERT(fabs(stack.phase[CONV_PHASE_PACK].stores[CONV_WORK_STEP] - 3) < 0.05);
    CU_ASSERT(fabs(stack.phase[CONV_PHASE_PACK].instructions[CONV_WORK_STEP] - 400) < 4);
    CU_ASSERT(fabs(stack.phase[CONV_PHASE_PACK].instructions[CONV_WORK_LOAD] - 5) < 0.05);
    CU_ASSERT(fabs(stack.phase[CONV_PHASE_PACK].branches[CONV_WORK_STEP] - 20) < 0.2);
    CU_ASSERT(stack.phase[CONV_PHASE_PACK].lines == 11);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        struct exp_stack_error e = exp_stack_compare(&stack, of[i]);

        CU_ASSERT(fabs(e.loads) < 0.01 * e.all_loads && fabs(e.stores) < 0.01 * e.all_stores);
    }
}

/*
 * A single layer cannot tell the costs of a step from the costs of the step's tiles: the smaller work explains the
 * counts.
 */
static void few_layers_are_explained_by_small_work(void)
{
    struct exp_stack_sample s = { 0 };
    const struct exp_stack_sample *of[] = { &s };
    struct conv_stack stack;
    const double *costs = stack.phase[CONV_PHASE_PACK].loads;

    s.work[CONV_PHASE_PACK][CONV_WORK_STEP] = 1;
    s.work[CONV_PHASE_PACK][CONV_WORK_TILE] = 100;
    s.loads[CONV_PHASE_PACK] = 700;
    exp_stack_fit(&stack, of, 1);
    test_check(fabs(costs[CONV_WORK_TILE] - 7) < 1e-6 && fabs(costs[CONV_WORK_STEP]) < 1e-6, "a tile %g, a step %g",
               costs[CONV_WORK_TILE], costs[CONV_WORK_STEP]);
}

static const struct test_case cases[] = {
    { "tables of stacks read back as they were", tables_read_back_as_they_were },
    { "two tables are read as one", tables_add_up },
    { "broken tables are refused, with the line", broken_tables_are_refused },
    { "known costs are found again", known_costs_are_found_again },
    { "few layers are explained by small work", few_layers_are_explained_by_small_work },
    { NULL, NULL },
};

const struct test_suite suite_stacks = { "stacks", cases };
