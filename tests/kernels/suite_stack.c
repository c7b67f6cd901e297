/* Stack accesses of compiled code: the work of steps, and the emission of the accesses. */
#include <CUnit/CUnit.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/backend/stack.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/nest_plans.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Counts accesses, tensors and stack apart. */
struct counter {
    struct sim_sink sink;
    uint64_t tensors[SIM_N_KINDS], stack[SIM_N_KINDS];
    uint64_t lines, hash;
    bool seen[64];
};

static void count(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct counter *c = (struct counter *)self;

    for (size_t i = 0; i < n_runs; i++) {
        bool is_stack = run[i].tag == CONV_STACK;

        (is_stack ? c->stack : c->tensors)[run[i].kind] += run[i].count * n_times;
        if (!is_stack)
            c->hash = c->hash * 31 + run[i].addr + run[i].count * n_times;
        for (uint32_t k = 0; is_stack && k < run[i].count; k++) {
            size_t line = (run[i].addr - CONV_REPLAY_BASE / 2 + k * (uint64_t)run[i].stride_bytes) / 64;

            CU_ASSERT_FATAL(line < 64);
            c->lines += !c->seen[line];
            c->seen[line] = true;
        }
    }
}

static void accesses_are_spread_and_none_is_lost(void)
{
    struct conv_stack stack = { 0 };
    struct conv_stack_emitter e = { .stack = &stack };
    double work[CONV_N_WORKS] = { [CONV_WORK_STEP] = 1, [CONV_WORK_LOAD] = 1000 };
    struct counter c = { .sink.accept = count };

    stack.phase[CONV_PHASE_UKR].lines = 40;
    stack.phase[CONV_PHASE_UKR].loads[CONV_WORK_STEP] = 99.25;
    stack.phase[CONV_PHASE_UKR].loads[CONV_WORK_LOAD] = 0.5;
    stack.phase[CONV_PHASE_UKR].stores[CONV_WORK_STEP] = 0.25;
    for (int i = 0; i < 4; i++)
        conv_stack_emit(&e, CONV_PHASE_UKR, work, &c.sink);
    conv_stack_emit(&e, CONV_PHASE_PACK, work, &c.sink);
    CU_ASSERT(c.stack[SIM_LOAD] == 4 * 599 + 1 && c.stack[SIM_STORE] == 1);
    CU_ASSERT(c.lines == 40 && !c.tensors[SIM_LOAD]);
}

static struct conv_plan plan_of(const struct conv_problem *p, enum csa_schedule schedule, const char *ukr)
{
    const struct csa_caches caches = { .l1_bytes = 32768,
                                       .l2_bytes = 1 << 19,
                                       .l3_bytes = 1 << 24,
                                       .line_bytes = 64,
                                       .l2_cycles = 14,
                                       .l3_cycles = 50,
                                       .dram_cycles = 200 };
    const struct conv_ukr *u = conv_ukr_find(ukr);
    struct csa_tiling tiling = csa_analyse(p, &caches, u->n_win, u->n_f, schedule);
    struct conv_plan plan;

    CU_ASSERT_FATAL(conv_plan_sconv(&plan, p, u, &tiling, false) == 0);
    return plan;
}

/* Counts a kind of work by a stack of one load for each unit of the work. */
static uint64_t work_of(const struct conv_plan *plan, enum conv_phase phase, unsigned work, struct counter *c)
{
    struct conv_stack stack = { 0 };
    struct conv_replay r;

    *c = (struct counter){ .sink.accept = count };
    stack.phase[phase].lines = 1;
    stack.phase[phase].loads[work] = 1;
    conv_replay_init(&r, plan, &c->sink);
    conv_replay_set_stack(&r, &stack);
    CU_ASSERT(conv_nest_run(plan, &r.base) == 0);
    return c->stack[SIM_LOAD];
}

/* 3x3 on 28x28, padded, 4 channels: 49 tiles of 16 windows, 64 filters in 10 tiles of 6 and a tile of 4. */
static void work_is_counted_step_by_step(void)
{
    struct conv_problem p = { .n = 1, .c = 4, .h = 28, .w = 28, .k = 64, .r = 3, .s = 3 };
    struct conv_plan plan;
    struct counter c, plain = { .sink.accept = count };
    struct conv_replay r;
    uint64_t passes = 0, rows = 0;
    char why[128];

    p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    plan = plan_of(&p, CSA_IS, "f32_16x6__avx2");
    conv_replay_init(&r, &plan, &plain.sink);
    CU_ASSERT(conv_nest_run(&plan, &r.base) == 0);
    CU_ASSERT(work_of(&plan, CONV_PHASE_UKR, CONV_WORK_STEP, &c) == 49 * 11);
    CU_ASSERT(c.hash == plain.hash && !memcmp(c.tensors, plain.tensors, sizeof c.tensors) && !c.stack[SIM_STORE]);
    CU_ASSERT(work_of(&plan, CONV_PHASE_UKR, CONV_WORK_RAGGED_FILTERS, &c) == 49);
    CU_ASSERT(work_of(&plan, CONV_PHASE_UKR, CONV_WORK_RAGGED_WINDOWS, &c) == 0);
    CU_ASSERT(work_of(&plan, CONV_PHASE_UKR, CONV_WORK_LOAD, &c) +
                  work_of(&plan, CONV_PHASE_PACK, CONV_WORK_LOAD, &c) ==
              plain.tensors[SIM_LOAD]);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_TILE, &c) == 49 * 3);
    for (unsigned path = 0; path < CONV_PACK_PATHS; path++) {
        passes += work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PASS + path, &c);
        rows += work_of(&plan, CONV_PHASE_PACK, CONV_WORK_ROW + path, &c);
    }
    CU_ASSERT(passes == 4 * 49 * 3 && rows == 3 * passes);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_COPY, &c) == 0);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PLAIN_STEP, &c) == 0);
}

/* The vector packer's counts equal the loads and stores of the packer's emission. */
static void pointwise_tiles_are_copies(void)
{
    struct conv_problem p = { .n = 1, .c = 8, .h = 8, .w = 10, .k = 6, .r = 1, .s = 1 };
    struct conv_plan plan;
    struct counter c;
    char why[128];

    p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    plan = plan_of(&p, CSA_WS, "f32_16x6__avx2");
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_TILE, &c) == 5);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_COPY, &c) +
                  work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PASS, &c) +
                  work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PASS + 1, &c) +
                  work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PASS + 2, &c) ==
              5 * 8);
    plan = plan_of(&p, CSA_WS, "f32_16x24__ref");
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_TILE, &c) == 0);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PLAIN_LOAD, &c) == 80 * 8);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PANEL_ROW, &c) == 5 * 8);
    CU_ASSERT(work_of(&plan, CONV_PHASE_PACK, CONV_WORK_LOAD, &c) == 0);
}

/* ---- any plan, by definition ---- */

/* Adds up the work of the steps. */
struct definition {
    struct conv_backend base;
    const struct conv_plan *plan;
    double work[CONV_N_WORKS];
    size_t n_kinds[CONV_N_STEP_KINDS];
};

/* Counts the taps of a tile by looking at each element: live for all windows, or for some. */
static void define_taps(struct definition *d, const struct conv_step *s)
{
    const struct conv_problem *p = &d->plan->problem;
    const double channels = (double)(s->n_k / (p->r * p->s));

    d->work[CONV_WORK_TAP_ROW] += channels * (double)p->r;
    for (size_t tap = 0; tap < p->r * p->s; tap++) {
        size_t live = 0;

        for (size_t w = s->win0; w < s->win0 + s->n_win; w++) {
            const size_t row = w / p->q * p->stride_h + tap / p->s * p->dilation_h;
            const size_t column = w % p->q * p->stride_w + tap % p->s * p->dilation_w;

            live +=
                row >= p->pad_top && row < p->pad_top + p->h && column >= p->pad_left && column < p->pad_left + p->w;
        }
        d->work[CONV_WORK_TAP] += live == s->n_win ? channels : 0;
        d->work[CONV_WORK_PART_TAP] += live && live < s->n_win ? channels : 0;
    }
}

static int define(struct conv_backend *self, const struct conv_step *s)
{
    struct definition *d = (struct definition *)self;
    const struct conv_plan *plan = d->plan;

    d->n_kinds[s->kind]++;
    d->work[CONV_WORK_STEP]++;
    if (s->kind == CONV_STEP_IM2COL) {
        d->work[CONV_WORK_MATRIX_ROW] += (double)conv_reduction(&plan->problem);
        d->work[CONV_WORK_PLANE_ROW] += (double)(conv_reduction(&plan->problem) * plan->problem.p);
    } else if (s->kind == CONV_STEP_PACK_MATRIX) {
        d->work[CONV_WORK_PANEL_ROW] += (double)(s->n_k * ((s->n_win + plan->ukr->n_win - 1) / plan->ukr->n_win));
    } else if (s->kind == CONV_STEP_PACK_FILTERS) {
        d->work[CONV_WORK_PANEL_ROW] += (double)(s->n_k * ((s->n_f + plan->ukr->f_panel - 1) / plan->ukr->f_panel));
    } else if (s->kind == CONV_STEP_UKR) {
        const bool is_sconv = plan->algorithm == CONV_SCONV;

        d->work[CONV_WORK_IN_PLACE] += is_sconv && plan->sconv.options.reads_in_place;
        d->work[CONV_WORK_RAGGED_WINDOWS] += s->n_win % plan->ukr->n_win != 0;
        d->work[CONV_WORK_RAGGED_FILTERS] += s->n_f % plan->ukr->n_f != 0;
        d->work[CONV_WORK_FILTER_AHEAD] += s->ahead.elems > 0;
        d->work[CONV_WORK_INPUT_AHEAD] += s->ahead.channels > 0;
        if (is_sconv && plan->sconv.walks)
            define_taps(d, s);
    }
    return 0;
}

static struct conv_gemm_core core; /* test program only: the last plan points to this core */

static struct conv_plan any_plan(void)
{
    const struct conv_problem p = kcheck_random_problem();
    const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
    const struct conv_sconv_options options = kcheck_random_options();
    struct csa_tiling t;
    struct conv_plan plan;

    core = nest_random_core();
    core.has_small = rng_below(2);
    if (rng_below(3) == 0) {
        CU_ASSERT_FATAL(!conv_plan_gemm(&plan, &p, &core, &core.ukr));
        return plan;
    }
    t = nest_random_tiling(&p, u);
    CU_ASSERT_FATAL(!conv_plan_sconv_with(&plan, &p, u, &t, &options));
    return plan;
}

static void work_is_that_of_the_definition(void)
{
    static const enum conv_work kinds[] = { CONV_WORK_STEP,        CONV_WORK_IN_PLACE,       CONV_WORK_TAP_ROW,
                                            CONV_WORK_TAP,         CONV_WORK_PART_TAP,       CONV_WORK_RAGGED_WINDOWS,
                                            CONV_WORK_PLANE_ROW,   CONV_WORK_RAGGED_FILTERS, CONV_WORK_FILTER_AHEAD,
                                            CONV_WORK_INPUT_AHEAD, CONV_WORK_MATRIX_ROW };
    size_t n_kinds[CONV_N_STEP_KINDS] = { 0 };

    for (unsigned round = 0; round < test_rounds(120); round++) {
        const struct conv_plan plan = any_plan();
        struct counter plain = { .sink.accept = count }, c;
        struct definition d = { .base.step = define, .plan = &plan };
        uint64_t prefetches = 0, steps = 0;
        struct conv_replay r;

        CU_ASSERT(conv_nest_run(&plan, &d.base) == 0);
        conv_replay_init(&r, &plan, &plain.sink);
        conv_replay_set_stack(&r, NULL); /* changes nothing */
        CU_ASSERT(conv_nest_run(&plan, &r.base) == 0);
        for (size_t i = 0; i < COUNT(kinds); i++) {
            uint64_t is = 0;

            for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
                is += work_of(&plan, (enum conv_phase)phase, kinds[i], &c);
            test_check((double)is == d.work[kinds[i]], "%s: %s is %llu, by definition %g",
                       kcheck_describe(&plan.problem), conv_work_name(kinds[i]), (unsigned long long)is,
                       d.work[kinds[i]]);
        }
        for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
            prefetches += work_of(&plan, (enum conv_phase)phase, CONV_WORK_PREFETCH, &c);
            CU_ASSERT(c.tensors[SIM_PREFETCH] == plain.tensors[SIM_PREFETCH] && c.hash == plain.hash);
            steps += work_of(&plan, (enum conv_phase)phase, CONV_WORK_PREFETCH_PASS, &c);
        }
        CU_ASSERT(prefetches == plain.tensors[SIM_PREFETCH] && (steps > 0) == (prefetches > 0) && steps <= prefetches);
        if (plan.algorithm == CONV_GEMM)
            test_check((double)work_of(&plan, CONV_PHASE_PACK, CONV_WORK_PANEL_ROW, &c) == d.work[CONV_WORK_PANEL_ROW],
                       "%s: rows of panels", kcheck_describe(&plan.problem));
        for (size_t i = 0; i < CONV_N_STEP_KINDS; i++)
            n_kinds[i] += d.n_kinds[i];
    }
    CU_ASSERT(n_kinds[CONV_STEP_UKR] && n_kinds[CONV_STEP_PACK_FILTERS] && n_kinds[CONV_STEP_PACK_MATRIX]);
}

/* A meter without a sink counts, too; taking the work resets the counts. */
static void a_meter_needs_no_sink(void)
{
    const struct conv_problem p = kcheck_random_problem();
    const struct conv_plan plan = plan_of(&p, CSA_WS, "f32_16x6__avx2");
    const struct sim_run run[] = { { .count = 3, .access_bytes = 4, .kind = SIM_LOAD },
                                   { .count = 2, .access_bytes = 4, .kind = SIM_STORE_NT },
                                   { .count = 1, .access_bytes = 4, .kind = SIM_PREFETCH } };
    const struct conv_step zero = { .kind = CONV_STEP_ZERO }, product = { .kind = CONV_STEP_PRODUCT };
    double work[CONV_N_WORKS];
    struct conv_work_meter m;

    conv_work_meter_init(&m, NULL);
    sim_emit(&m.sink, run, 3, 5);
    conv_work_meter_take(&m, &plan, &(struct conv_binding){ { 0 } }, &zero, work);
    CU_ASSERT(work[CONV_WORK_STEP] == 1 && work[CONV_WORK_LOAD] == 15 && work[CONV_WORK_STORE] == 10);
    CU_ASSERT(work[CONV_WORK_PREFETCH] == 5 && work[CONV_WORK_PREFETCH_PASS] == 5);
    sim_emit(&m.sink, run, 1, 1);
    conv_work_meter_take(&m, &plan, &(struct conv_binding){ { 0 } }, &product, work);
    CU_ASSERT(work[CONV_WORK_STEP] == 1 && work[CONV_WORK_LOAD] == 0);
    conv_work_meter_take(&m, &plan, &(struct conv_binding){ { 0 } }, &zero, work);
    CU_ASSERT(work[CONV_WORK_LOAD] == 0 && work[CONV_WORK_PREFETCH_PASS] == 0);
}

/* Access by access work runs in loops; the rest is around the loops. A branch belongs to the comparison before. */
static void work_becomes_operations(void)
{
    const double work[CONV_N_WORKS] = { [CONV_WORK_STEP] = 2, [CONV_WORK_LOAD] = 100, [CONV_WORK_STORE] = 10 };
    struct conv_stack stack = { 0 };
    struct conv_stack_phase *p = &stack.phase[CONV_PHASE_UKR];
    struct sim_work w;

    p->loads[CONV_WORK_STEP] = 30;
    p->stores[CONV_WORK_STEP] = 10;
    w = conv_stack_work(&stack, CONV_PHASE_UKR, work);
    test_check(w.operations == 330 && w.serial_operations == 200, "assumed: %g, %g", w.operations, w.serial_operations);
    p->instructions[CONV_WORK_STEP] = 300;
    p->branches[CONV_WORK_STEP] = 20;
    p->instructions[CONV_WORK_LOAD] = 4;
    p->instructions[CONV_WORK_STORE] = 1;
    w = conv_stack_work(&stack, CONV_PHASE_UKR, work);
    test_check(w.operations == 400 && w.serial_operations == 570, "kernel: %g, %g", w.operations, w.serial_operations);
    stack.phase[CONV_PHASE_PACK] = *p;
    w = conv_stack_work(&stack, CONV_PHASE_PACK, work);
    test_check(w.operations == 410 && w.serial_operations == 560, "packing: %g, %g", w.operations, w.serial_operations);
    CU_ASSERT(w.macs == 0 && w.loops == 0);
}

static const struct test_case cases[] = {
    { "stack accesses are spread over their lines, and no fraction is lost", accesses_are_spread_and_none_is_lost },
    { "work is counted step by step, and the tensors' stream is the same", work_is_counted_step_by_step },
    { "paths of packing are counted: copies, and the portable routine", pointwise_tiles_are_copies },
    { "any plan's work is that of the definition", work_is_that_of_the_definition },
    { "a meter needs no sink", a_meter_needs_no_sink },
    { "work becomes operations", work_becomes_operations },
    { NULL, NULL },
};

const struct test_suite suite_stack = { "stack", cases };
