/* Steps in sequence in common caches: two steps worked out by hand, and each step alone. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/sequence.h"
#include "sim/hierarchy.h"
#include "tests/experiments/toy.h"
#include "tests/rng.h"
#include "tests/suites.h"

enum { LINE = 64, MOST_STEPS = 12 };

/* A step reads n_in lines from address in on, and then writes n_out lines from address out on. */
struct copy {
    uint64_t in, out;
    uint32_t n_in, n_out;
    int err;
};

static void emit_lines(struct sim_sink *sink, enum sim_kind kind, uint8_t tag, uint64_t addr, uint32_t n)
{
    const struct sim_run run = { .addr = addr,
                                 .stride_bytes = LINE,
                                 .count = n,
                                 .access_bytes = 4,
                                 .kind = (uint8_t)kind,
                                 .tag = tag,
                                 .phase = CONV_PHASE_UKR };

    sim_emit(sink, &run, 1, 1);
}

static int emit_copy(const void *ctx, size_t step, const struct exp_pool *pool, struct sim_sink *sink,
                     uint64_t *mac_instructions)
{
    const struct copy *c = (const struct copy *)ctx + step;

    (void)pool;
    *mac_instructions = step + 1;
    emit_lines(sink, SIM_LOAD, CONV_INPUT, c->in, c->n_in);
    emit_lines(sink, SIM_STORE, CONV_OUTPUT, c->out, c->n_out);
    return c->err;
}

static enum exp_touched touched_by_copy(const void *ctx, size_t step, unsigned tag)
{
    (void)ctx;
    (void)step;
    return tag == CONV_INPUT ? EXP_TOUCHED_INPUT : tag == CONV_OUTPUT ? EXP_TOUCHED_OUTPUT : EXP_TOUCHED_STACK;
}

static double a_second(const void *ctx, size_t step)
{
    (void)ctx;
    (void)step;
    return 1;
}

static struct exp_steps steps_of(const struct copy *c, size_t n)
{
    return (struct exp_steps){ n, emit_copy, touched_by_copy, a_second, c };
}

/* Simulates copies in sequence (run[0]) and alone (run[1]). */
static bool simulate(struct exp_sequence run[2], const struct exp_steps *steps, const struct sim_machine *m,
                     unsigned n_threads)
{
    struct exp_why why = { "" };

    run[0] = (struct exp_sequence){ .steps = steps, .machine = m };
    run[1] = (struct exp_sequence){ .steps = steps, .machine = m, .is_alone = true };
    return test_check(!exp_sequence_run(run, 2, n_threads, NULL, &why), "%s", why.text);
}

static void release(struct exp_sequence run[2])
{
    exp_sequence_release(&run[0]);
    exp_sequence_release(&run[1]);
}

/* Lines that a step brought into L1, L2, L3, and from memory. */
static void expect(const struct exp_step_counts *c, const struct sim_machine *m, enum exp_touched t,
                   const uint64_t lines[4], const char *what)
{
    for (size_t l = 0; l < 4; l++)
        test_check(exp_lines_into(&c->touched[t], m, l) == lines[l], "%s, %s, level %zu: %" PRIu64 ", not %" PRIu64,
                   what, exp_touched_name(t), l, exp_lines_into(&c->touched[t], m, l), lines[l]);
}

/*
 * Toy's L1 has 8 sets of 2 ways. Eight lines at 0 and eight at 512 take one way each; the second step finds the lines
 * at 512, and its own output drives out the lines at 0.
 */
static void test_found_in_l1(void)
{
    static const struct copy c[] = { { 0, 512, 8, 8, 0 }, { 512, 1024, 8, 8, 0 } };
    static const uint64_t eight[4] = { 8, 8, 8, 8 }, none[4] = { 0 };
    const struct exp_steps steps = steps_of(c, 2);
    struct exp_sequence run[2];
    struct sim_machine m;

    if (!toy_machine(&m) || !simulate(run, &steps, &m, 1))
        return;
    expect(&run[0].counts[0], &m, EXP_TOUCHED_INPUT, eight, "first");
    expect(&run[0].counts[0], &m, EXP_TOUCHED_OUTPUT, eight, "first");
    expect(&run[0].counts[1], &m, EXP_TOUCHED_INPUT, none, "second");
    expect(&run[0].counts[1], &m, EXP_TOUCHED_OUTPUT, eight, "second");
    expect(&run[1].counts[1], &m, EXP_TOUCHED_INPUT, eight, "second alone");
    expect(&run[1].counts[1], &m, EXP_TOUCHED_OUTPUT, eight, "second alone");
    expect(&run[1].warm[1], &m, EXP_TOUCHED_INPUT, none, "second once more");
    expect(&run[1].warm[1], &m, EXP_TOUCHED_OUTPUT, none, "second once more");
    CU_ASSERT(run[0].counts[1].mac_instructions == 2 && run[1].warm[1].mac_instructions == 2);
    CU_ASSERT(run[0].counts[1].phase[CONV_PHASE_UKR].loads == 8 && run[0].counts[1].phase[CONV_PHASE_UKR].stores == 8);
    CU_ASSERT(exp_step_total(&run[0].counts[1]).loads == 8 && !run[0].counts[1].phase[CONV_PHASE_PACK].loads);
    release(run);
}

/* 32 lines are twice L1 and half of L2: lines read in the order of writing are found in L2 only. */
static void test_found_in_l2(void)
{
    static const struct copy c[] = { { 0, 1 << 14, 8, 32, 0 }, { 1 << 14, 1 << 15, 32, 8, 0 } };
    static const uint64_t in_l2[4] = { 32, 0, 0, 0 }, cold[4] = { 32, 32, 32, 32 };
    const struct exp_steps steps = steps_of(c, 2);
    struct exp_sequence run[2];
    struct sim_machine m;

    if (!toy_machine(&m) || !simulate(run, &steps, &m, 1))
        return;
    expect(&run[0].counts[1], &m, EXP_TOUCHED_INPUT, in_l2, "second");
    expect(&run[1].counts[1], &m, EXP_TOUCHED_INPUT, cold, "second alone");
    release(run);
}

/* ---- random steps ---- */

static void make_copies(struct copy *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = (struct copy){ .in = rng_below(128) * LINE,
                              .out = rng_below(128) * LINE,
                              .n_in = (uint32_t)rng_below(100),
                              .n_out = (uint32_t)rng_below(100) };
}

/* Feeds a hierarchy by hand; the hierarchy is emptied between steps, or not. */
static void check_by_hand(const struct exp_steps *steps, const struct sim_machine *m, const struct exp_sequence *s,
                          bool is_emptied)
{
    struct sim_hierarchy *h = NULL;
    uint64_t mac_instructions;

    CU_ASSERT_FATAL(!sim_hierarchy_new(&h, m));
    for (size_t i = 0; i < steps->n; i++) {
        const struct sim_cell own = exp_step_total(&s->counts[i]);
        struct sim_cell sum;

        sim_hierarchy_clear_stats(h);
        if (is_emptied)
            sim_hierarchy_clear(h);
        CU_ASSERT(!steps->emit(steps->ctx, i, NULL, sim_hierarchy_sink(h), &mac_instructions));
        sum = sim_stats_total(sim_hierarchy_stats(h));
        test_check(!memcmp(&sum, &own, sizeof sum), "step %zu of %zu differs, caches %s", i, steps->n,
                   is_emptied ? "emptied" : "kept");
    }
    sim_hierarchy_free(h);
}

/* Steps in sequence are one stream; steps alone count as in a hierarchy emptied between the steps. */
static void test_one_stream(void)
{
    struct sim_machine m;

    if (!toy_machine(&m))
        return;
    for (unsigned round = 0; round < test_rounds(20); round++) {
        const size_t n = 1 + rng_below(MOST_STEPS);
        struct copy c[MOST_STEPS];
        const struct exp_steps steps = steps_of(c, n);
        struct exp_sequence run[2];

        make_copies(c, n);
        if (!simulate(run, &steps, &m, 1 + round % 3))
            return;
        check_by_hand(&steps, &m, &run[0], false);
        check_by_hand(&steps, &m, &run[1], true);
        release(run);
    }
}

/* Runs two steps; the second step fails. */
static void fail(int error, int want)
{
    const struct copy c[] = { { 0, 512, 8, 8, 0 }, { 512, 1024, 8, 8, error } };
    const struct exp_steps steps = steps_of(c, 2);
    struct exp_sequence run = { .steps = &steps };
    struct sim_machine m;
    struct exp_why why = { "" };

    if (!toy_machine(&m))
        return;
    run.machine = &m;
    CU_ASSERT_EQUAL(exp_sequence_run(&run, 1, 2, NULL, &why), want);
    CU_ASSERT_EQUAL(strlen(why.text) > 0, want != 0);
    CU_ASSERT_EQUAL(run.is_refused, want == 0);
    CU_ASSERT(want || !run.counts);
    exp_sequence_release(&run);
}

static void test_failure(void)
{
    fail(-EIO, -EIO);
}

static void test_refusal(void)
{
    fail(-ENOTSUP, 0);
}

static const struct test_case cases[] = {
    { "a step finds in L1 what the step before it wrote", test_found_in_l1 },
    { "... and in L2 what L1 does not hold", test_found_in_l2 },
    { "steps in sequence are one stream, and alone find nothing", test_one_stream },
    { "a step that fails makes all fail", test_failure },
    { "a step that can never be simulated costs the counts of its sequence", test_refusal },
    { NULL, NULL },
};

const struct test_suite suite_sequence = { "sequence", cases };
