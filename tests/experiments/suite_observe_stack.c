/* Compiled code's accesses beside the tensors: equal to the recorded tables, by two ways of watching, and few. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/observe/stack_study.h"
#include "tests/experiments/observed.h"
#include "tests/kernels/shapes.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* Runs a layer; *s: the work, and the accesses outside the tensors. */
static bool sample_layer(const struct observed_layer *l, const struct observed_place *p, struct exp_stack_sample *s)
{
    struct watch_result *seen = calloc(1, sizeof *seen);
    struct exp_why why = { "" };
    bool is_run;

    CU_ASSERT_FATAL(seen != NULL);
    *s = (struct exp_stack_sample){ 0 };
    is_run = test_check(observed_run(l, p, false, seen, &why) == 0, "%s", why.text);
    if (is_run) {
        exp_stack_measure_work(s, &l->e.cases[0]);
        exp_stack_take_seen(s, seen);
    }
    free(seen);
    return is_run;
}

static void check_stack(const struct observed_place *p, const struct conv_problem *problem, const char *algo,
                        double most_stores)
{
    char *path = exp_stacks_path(p->emulator->isa);
    struct exp_why why = { "" };
    struct exp_stack_sample sample;
    struct exp_stacks stacks = { 0 };
    const struct conv_stack *stack;
    struct observed_layer l;

    CU_ASSERT_FATAL(path != NULL);
    observed_plan(&l, p, *problem, algo, false);
    stack = exp_stacks_read(&stacks, path, &why) ? NULL : exp_stacks_find(&stacks, l.e.cases[0].algo->name, &l.plan);
    if (stack && sample_layer(&l, p, &sample)) {
        struct exp_stack_error e = exp_stack_compare(stack, &sample);

        test_check(fabs(e.loads) < 0.02 * e.all_loads && fabs(e.stores) < most_stores * e.all_stores,
                   "%s: %s, %zu filters: loads are off by %.1f %%, stores by %.1f %%; make stack observes again", path,
                   l.e.cases[0].algo->name, problem->k, 100 * e.loads / e.all_loads, 100 * e.stores / e.all_stores);
    }
    observed_release(&l);
    exp_stacks_release(&stacks);
    free(path);
}

/*
 * The table of this build's code describes this code: checked on layers that were not used to fit the table. The layers
 * used for the fit are off by up to 8 % of the stores of the algorithms on POWER10, 6 % on x86 (the tables' heads): tuned
 * SConv's layers are divided among more micro-kernels than the layers of the other algorithms.
 */
static void stacks_are_those_on_record(void)
{
    static const char *const algos[] = { "sconv_is", "sconv_ws", "sconv_tuned" };
    struct observed_place place[2];
    size_t n_places = observed_find_places(place);

    for (size_t i = 0; i < n_places * COUNT(algos) * COUNT(observed_unfitted); i++) {
        const struct observed_place *p = &place[i / (COUNT(algos) * COUNT(observed_unfitted))];

        check_stack(p, &observed_unfitted[i % COUNT(observed_unfitted)],
                    algos[i / COUNT(observed_unfitted) % COUNT(algos)], p->emulator->isa == CPU_ISA_MMA ? 0.1 : 0.07);
    }
}

/* The table of AVX-512 code, which no emulator runs. */
static void stacks_with_avx512_are_those_on_record(void)
{
    static const char *const algos[] = { "base", "sconv_is", "sconv_ws", "sconv_openblas" };
    struct observed_place p;
    bool is_there = observed_find_copied(&p, "f32_16x24__avx512", "sim/machines/spr.cfg");

    for (size_t i = 0; is_there && i < COUNT(algos) * COUNT(observed_unfitted); i++)
        check_stack(&p, &observed_unfitted[i % COUNT(observed_unfitted)], algos[i / COUNT(observed_unfitted)], 0.05);
}

/*
 * Copies count as an emulator counts, except for the guest's own work between steps; for Base also except for the calls
 * of OpenBLAS into the C library, which clears the output.
 */
static void check_instructions(const struct exp_stack_sample *is, const struct exp_stack_sample *want)
{
    enum { OF_THE_LIBRARY = 200 };

    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
        const double share = phase == CONV_PHASE_ZERO ? 1 : 0.04;
        const double instructions = want->instructions[phase] - is->instructions[phase];
        const double branches = want->branches[phase] - is->branches[phase];

        test_check(instructions >= 0 && instructions <= share * want->instructions[phase] + OF_THE_LIBRARY &&
                       branches >= 0 && branches <= share * want->branches[phase] + OF_THE_LIBRARY,
                   "%s, phase %u: %g instructions and %g branches instead of %g and %g", is->algo, phase,
                   is->instructions[phase], is->branches[phase], want->instructions[phase], want->branches[phase]);
    }
    CU_ASSERT(is->instructions[CONV_PHASE_UKR] > 0 && is->branches[CONV_PHASE_UKR] > 0);
}

/*
 * An emulator and copies of the machine code show equal accesses outside the tensors: for SConv every access. For Base
 * the copies leave out OpenBLAS's calls into the C library, and OpenBLAS's memory: some hundred accesses.
 */
static void copies_show_what_an_emulator_shows(void)
{
    enum { OF_THE_LIBRARY = 200 };
    static const char *const algos[] = { "sconv_is", "sconv_tuned", "sconv_openblas", "base" };
    struct observed_place emulated[2], copied;
    bool is_there = observed_find_places(emulated) && emulated[0].emulator->isa == CPU_ISA_AVX2 &&
                    observed_find_copied(&copied, emulated[0].ukr, emulated[0].machine);

    for (size_t i = 0; is_there && i < COUNT(algos) * COUNT(observed_unfitted); i++) {
        double most = strcmp(algos[i / COUNT(observed_unfitted)], "base") ? 0 : OF_THE_LIBRARY;
        struct exp_stack_sample is, want;
        struct observed_layer l;

        observed_plan(&l, &copied, observed_unfitted[i % COUNT(observed_unfitted)], algos[i / COUNT(observed_unfitted)],
                      false);
        if (sample_layer(&l, &copied, &is) && sample_layer(&l, &emulated[0], &want)) {
            for (unsigned phase = 0; phase < CONV_N_PHASES; phase++)
                test_check(want.loads[phase] - is.loads[phase] <= most && is.loads[phase] <= want.loads[phase] &&
                               want.stores[phase] - is.stores[phase] <= most && is.stores[phase] <= want.stores[phase],
                           "%s, phase %u: %g loads and %g stores instead of %g and %g",
                           algos[i / COUNT(observed_unfitted)], phase, is.loads[phase], is.stores[phase],
                           want.loads[phase], want.stores[phase]);
            check_instructions(&is, &want);
            CU_ASSERT(want.loads[CONV_PHASE_UKR] > 0);
        }
        observed_release(&l);
    }
}

/* The most accesses beside the tensors: of a micro-kernel call, and for each access of packing to the tensors. */
static const struct overhead {
    const char *ukr;
    double call_loads, call_stores, pack_loads, pack_stores;
} overheads[] = {
    { "f32_16x6__avx2", 12, 5, 4, 1.1 }, /* 0.8 before packing had loops of three and five taps, which are faster */
    { "f32_16x24__avx512", 15, 8, 3,
      0.8 }, /* 24 and 11 when a tile kept multiples of a distance; a list of prefetches is a loop */
    { "f32_16x8__mma", 6, 3, 0.65, 0.35 }, /* 44 and 23 when each tile of a run was called by itself; 5 and 0.3 */
};

static const struct overhead *overhead_of(const char *ukr)
{
    for (size_t i = 0; i < COUNT(overheads); i++) {
        if (!strcmp(overheads[i].ukr, ukr))
            return &overheads[i];
    }
    return NULL;
}

/* Emulated CPUs, and this computer's CPU if AVX-512 is there. */
static size_t find_all_places(struct observed_place place[3])
{
    size_t n = observed_find_places(place);

    return n + observed_find_copied(&place[n], "f32_16x24__avx512", "sim/machines/spr.cfg");
}

/* Runs of 64 whole tiles: the calls of a run share the work done once for a run. */
static void calls_of_a_run_cost_next_to_nothing(void)
{
    static const struct conv_problem shape = { IMAGES(1, 16, 32, 32), FILTERS(96, 1, 1), UNIT_STEPS, .groups = 1 };
    struct observed_place place[3];
    size_t n_places = find_all_places(place);

    for (size_t i = 0; i < n_places; i++) {
        const struct overhead *most = overhead_of(place[i].ukr);
        struct exp_stack_sample sample;
        struct observed_layer l;

        observed_plan(&l, &place[i], shape, "sconv_ws", false);
        CU_ASSERT_FATAL(most && l.plan.ukr->chains);
        if (sample_layer(&l, &place[i], &sample)) {
            double calls = sample.work[CONV_PHASE_UKR][CONV_WORK_STEP];
            double loads = sample.loads[CONV_PHASE_UKR] / calls, stores = sample.stores[CONV_PHASE_UKR] / calls;

            test_check(calls >= 64 && loads <= most->call_loads && stores <= most->call_stores,
                       "%s: %g calls of %g loads and %g stores", l.plan.ukr->name, calls, loads, stores);
        }
        observed_release(&l);
    }
}

static void packing_costs_little_beside_its_panels(void)
{
    static const char *const algos[] = { "sconv_is", "sconv_ws" };
    struct observed_place place[3];
    size_t n_places = find_all_places(place);

    for (size_t i = 0; i < n_places * COUNT(algos); i++) {
        const struct observed_place *p = &place[i / COUNT(algos)];
        const struct overhead *most = overhead_of(p->ukr);
        struct exp_stack_sample sample;
        struct observed_layer l;

        observed_plan(&l, p, observed_unfitted[0], algos[i % COUNT(algos)], false);
        CU_ASSERT_FATAL(most != NULL);
        if (sample_layer(&l, p, &sample)) {
            const double *work = sample.work[CONV_PHASE_PACK];
            double n = work[CONV_WORK_LOAD] + work[CONV_WORK_STORE];
            double loads = sample.loads[CONV_PHASE_PACK] / n, stores = sample.stores[CONV_PHASE_PACK] / n;

            test_check(n > 0 && loads <= most->pack_loads && stores <= most->pack_stores,
                       "%s, %s: %g loads and %g stores", most->ukr, algos[i % COUNT(algos)], loads, stores);
        }
        observed_release(&l);
    }
}

static const struct test_case cases[] = {
    { "stacks of today's code are those on record", stacks_are_those_on_record },
    { "stacks of today's AVX-512 code are those on record", stacks_with_avx512_are_those_on_record },
    { "copies of machine code show the stack that an emulator shows", copies_show_what_an_emulator_shows },
    { "calls of a run cost next to nothing beside their tensors", calls_of_a_run_cost_next_to_nothing },
    { "packing costs little beside its panels", packing_costs_little_beside_its_panels },
    { NULL, NULL },
};

const struct test_suite suite_observe_stack = { "observe_stack", cases };
