/* Stack accesses of compiled code: the work of steps, and the emission of the accesses. */
#include <CUnit/CUnit.h>
#include <string.h>

#include "kernels/backend/backend.h"
#include "kernels/backend/stack.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/kcheck.h"
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

static const struct test_case cases[] = {
    { "stack accesses are spread over their lines, and no fraction is lost", accesses_are_spread_and_none_is_lost },
    { "work is counted step by step, and the tensors' stream is the same", work_is_counted_step_by_step },
    { "paths of packing are counted: copies, and the portable routine", pointwise_tiles_are_copies },
    { NULL, NULL },
};

const struct test_suite suite_stack = { "stack", cases };
