/*
 * Micro-kernels on AMX's tiles, emulated on any x86-64 (amx_emulator.h): the machine code of this program, unmodified.
 * On a CPU with tiles, emulator and hardware beside each other. The suite asks for tiles last: from then on, the CPU
 * executes the process's tile instructions, and none can be emulated.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ukr/dispatch.h"
#include "tests/kernels/amx_emulator.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/typed_plans.h"
#include "tests/rng.h"
#include "tests/suites.h"

static bool is_on_tiles(const struct conv_ukr *u)
{
    return u->extension == CPU_EXT_AMX_BF16 || u->extension == CPU_EXT_AMX_INT8;
}

/* Returns micro-kernel i on tiles, of any type; NULL after the last. */
static const struct conv_ukr *ukr_on_tiles(size_t i)
{
    for (unsigned type = 0; type < CONV_N_TYPES; type++) {
        const struct conv_type_kernels *k = conv_kernels_of((enum conv_type)type);

        for (size_t u = 0; u < k->n_ukrs; u++) {
            if (is_on_tiles(k->ukr[u]) && !i--)
                return k->ukr[u];
        }
    }
    return NULL;
}

static bool skips(void)
{
    const char *why = amx_emulator_missing();

    if (why)
        test_skip("%s", why);
    return why != NULL;
}

/* ---- plans ---- */

static void make_small(struct conv_problem *p)
{
    char why[256];

    do {
        *p = kcheck_random_problem();
        p->n = 1;
        p->c = p->groups * min_size(p->c / p->groups, 12);
    } while (conv_problem_finish(p, SIM_WHY(why)) || p->n * p->k * conv_windows(p) * conv_reduction(p) > 8000);
}

static void check_plan(const struct conv_ukr *u)
{
    struct conv_problem p;
    struct conv_plan plan;
    const bool exact = rng_below(2);
    struct typed_tensors t;

    make_small(&p);
    plan = typed_random_plan(&p, u);
    if (!sim_cpu_has(plan.sconv.pack_windows->isa))
        plan.sconv.pack_windows = conv_kernels_of(u->type)->pack_windows[0];
    typed_open(&t, &plan);
    typed_fill(&t, &plan, exact);
    typed_execute(&plan, &t);
    typed_compare(&plan, &t, exact || u->type != CONV_BF16);
    typed_close(&t);
}

static void emulated_plans_equal_plain_loops(void)
{
    const struct conv_ukr *u;

    if (skips())
        return;
    amx_emulator_start();
    for (unsigned round = 0; round < test_rounds(3400); round++) {
        for (size_t i = 0; (u = ukr_on_tiles(i)); i++)
            check_plan(u);
    }
    amx_emulator_stop();
    CU_ASSERT(amx_emulator_count() > 0);
}

/* ---- calls, emulated and executed ---- */

enum { MOST_STEPS = 40, MOST_TILE = 32, LD_OUT = 35, LANES_IN = MOST_STEPS * MOST_TILE };

/* A call on bits of all kinds; outputs before, of the emulator, and of the CPU. */
struct call {
    const struct conv_ukr *u;
    struct conv_ukr_args a;
    uint32_t in[LANES_IN], filter[LANES_IN + MOST_TILE];
    uint32_t before[MOST_TILE * LD_OUT], emulated[MOST_TILE * LD_OUT];
};

/* Half of all elements of bf16 are near the ends of the range, or no numbers. */
static uint16_t any_bf16(void)
{
    static const uint16_t special[] = { 0,      0x8000, 1,      0x807f, 0x0080, 0x8080, 0x00ff,
                                        0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81 };

    switch (rng_below(8)) {
    case 0:
        return (uint16_t)rng_u64();
    case 1:
        return rng_below(60) ? (uint16_t)(rng_u64() & 0x9fff) : special[rng_below(COUNT(special))];
    case 2:
    case 3:
        return (uint16_t)(0x1f80 + rng_below(0x180)); /* products near the denormal numbers */
    default:
        return typed_to_bf16((float)(2 * rng_unit() - 1));
    }
}

static uint32_t any_lane(enum conv_type type, bool is_tame)
{
    if (type != CONV_BF16)
        return (uint32_t)rng_u64();
    if (is_tame)
        return (uint32_t)typed_to_bf16((float)(2 * rng_unit() - 1)) << 16 | typed_to_bf16((float)rng_unit());
    return (uint32_t)any_bf16() << 16 | any_bf16();
}

static void draw(struct call *c, const struct conv_ukr *u)
{
    const bool is_tame = rng_below(2);

    c->u = u;
    c->a = (struct conv_ukr_args){ .k = (size_t)rng_range(1, MOST_STEPS),
                                   .ld_out = LD_OUT,
                                   .n_win = (size_t)rng_range(1, MOST_TILE),
                                   .n_f = (size_t)rng_range(1, MOST_TILE),
                                   .accumulate = rng_below(2) };
    for (size_t i = 0; i < COUNT(c->in); i++)
        c->in[i] = any_lane(u->type, is_tame);
    for (size_t i = 0; i < COUNT(c->filter); i++)
        c->filter[i] = any_lane(u->type, is_tame);
    for (size_t i = 0; i < COUNT(c->before); i++)
        c->before[i] = (uint32_t)rng_u64();
}

static void call_with(const struct call *c, uint32_t *out)
{
    struct conv_ukr_args a = c->a;

    memcpy(out, c->before, sizeof c->before);
    a.in = (uintptr_t)c->in;
    a.filter = (uintptr_t)c->filter;
    a.out = (uintptr_t)out;
    c->u->fn(c->u, &a);
}

static void check_call(const struct call *c)
{
    uint32_t out[MOST_TILE * LD_OUT];

    call_with(c, out);
    for (size_t i = 0; i < COUNT(out); i++) {
        if (!test_check(out[i] == c->emulated[i],
                        "%s, k %zu, %zu windows, %zu filters: output %zu is %08x, emulated %08x", c->u->name, c->a.k,
                        c->a.n_win, c->a.n_f, i, out[i], c->emulated[i]))
            return;
    }
}

/* The last test of the suite: asks for tiles. */
static void hardware_equals_the_emulator(void)
{
    const size_t n = test_rounds(600);
    struct call *calls = malloc(n * sizeof *calls);
    const struct conv_ukr *u;
    size_t n_ukrs = 0;

    while (ukr_on_tiles(n_ukrs))
        n_ukrs++;
    CU_ASSERT_FATAL(calls != NULL);
    if (skips()) {
        free(calls);
        return;
    }
    amx_emulator_start();
    for (size_t i = 0; i < n; i++) {
        draw(&calls[i], ukr_on_tiles(i % n_ukrs));
        call_with(&calls[i], calls[i].emulated);
    }
    amx_emulator_stop();
    for (size_t i = 0; i < n_ukrs; i++) {
        u = ukr_on_tiles(i);
        if (!conv_ukr_runs(u))
            test_skip("no tiles here that %s needs", u->name);
    }
    for (size_t i = 0; i < n; i++) {
        if (conv_ukr_runs(calls[i].u))
            check_call(&calls[i]);
    }
    free(calls);
}

static const struct test_case cases[] = {
    { "plans on emulated tiles compute as plain loops do", emulated_plans_equal_plain_loops },
    { "hardware and emulator agree to the bit, also on numbers that are none", hardware_equals_the_emulator },
    { NULL, NULL },
};

const struct test_suite suite_amx = { "amx", cases };
