/*
 * The AI Engine's compiler: random convolutions and schedules, compiled and simulated, against plain loops, bit for
 * bit; fusions found, and refusals.
 */
#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/papers/vyasa/tune/tune.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static struct exp_why why;

/* A random convolution with a schedule that divides the convolution, and parameters of a core. */
struct draw {
    struct vyasa_problem p;
    struct vyasa_schedule s;
    struct aie_params params;
};

static unsigned pick(unsigned low, unsigned high)
{
    return (unsigned)rng_range(low, high);
}

static void draw_order(struct vyasa_schedule *s)
{
    const unsigned inner = pick(0, 2), next = (inner + pick(1, 2)) % 3;

    s->inner = inner;
    s->outer[0] = next;
    s->outer[1] = 3 - inner - next;
}

static void draw_params(struct aie_params *p)
{
    *p = aie_default_params;
    if (rng_below(3))
        return;
    p->load_latency = pick(1, 12);
    p->mac_latency = pick(3, 10);
    p->recurrence = pick(1, 3);
    p->srs_latency = pick(1, 6);
    p->branch_delay = pick(0, 7);
}

static void draw(struct draw *d)
{
    struct vyasa_problem *p = &d->p;
    struct vyasa_schedule *s = &d->s;
    unsigned lanes, by_k;

    *d = (struct draw){ .p = { .kind = pick(0, 2), .bits = rng_below(2) ? 16 : 32, .d = 1, .c = 1 } };
    lanes = p->bits == 16 ? 16 : 8;
    by_k = p->kind == VYASA_REGULAR && !rng_below(3);
    s->vector = by_k ? VYASA_K : VYASA_X;
    s->jam[VYASA_X] = pick(1, by_k ? 4 : 2);
    s->jam[VYASA_Y] = pick(1, 3);
    s->jam[VYASA_K] = pick(1, 2);
    p->x = s->jam[VYASA_X] * pick(1, 4) * (by_k ? 1 : lanes);
    p->y = s->jam[VYASA_Y] * pick(1, 3);
    p->k = s->jam[VYASA_K] * pick(1, 3) * (by_k ? lanes : 1);
    p->r = pick(1, 5);
    p->s = pick(1, 4);
    p->d = p->kind == VYASA_3D ? pick(1, 3) : 1;
    p->c = p->kind == VYASA_REGULAR ? pick(1, 6) : 1;
    p->shift = pick(0, p->bits - 1);
    draw_order(s);
    s->fusion = p->bits == 32 ? VYASA_PADDED : by_k ? VYASA_CHANNELS : pick(0, 2);
    s->in_use_order = !by_k && (s->fusion == VYASA_ROWS || rng_below(2));
    s->is_far = by_k && rng_below(2);
    s->by_tap = rng_below(2);
    s->is_seamless = rng_below(2);
    s->entry_cycles = rng_below(4) ? 0 : pick(1, 8);
    draw_params(&d->params);
}

static void say(const struct draw *d, char *text, size_t bytes)
{
    const struct vyasa_problem *p = &d->p;
    const struct vyasa_schedule *s = &d->s;

    exp_say(text, bytes, "kind %d, %u bits, %ux%ux%u, filter %ux%ux%ux%u, vector %d, inner %d, jam %u %u %u, fusion %d",
            p->kind, p->bits, p->x, p->y, p->k, p->r, p->s, p->d, p->c, s->vector, s->inner, s->jam[0], s->jam[1],
            s->jam[2], s->fusion);
}

/*
 * Runs compiled code on random tensors. Returns whether all is as in the plain loops, in as many cycles as were
 * predicted.
 */
static bool runs_right(const struct vyasa_code *c, const char *what)
{
    struct vyasa_tensors t;
    struct aie_counts counts;
    int32_t *want;
    bool right;
    int err;

    vyasa_tensors_new(&t, &c->problem);
    vyasa_tensors_fill(&t, &c->problem, rng_u64());
    vyasa_plain(&c->problem, &t);
    want = t.out;
    t.out = exp_new(t.n_out, sizeof *t.out);
    err = vyasa_simulate(c, &t, &counts, &why);
    right = test_check(!err, "%s: %s", what, why.text) &&
            test_check(!memcmp(want, t.out, t.n_out * sizeof *want), "%s: another output", what) &&
            test_check(counts.cycles == c->cycles, "%s: %llu cycles, not %llu", what, (unsigned long long)counts.cycles,
                       (unsigned long long)c->cycles);
    free(want);
    vyasa_tensors_release(&t);
    return right;
}

static void random_convolutions_equal_plain_loops(void)
{
    unsigned n_run = 0, n_seamless = 0;
    const unsigned rounds = test_rounds(1500);

    for (unsigned round = 0; round < rounds; round++) {
        struct vyasa_code c;
        struct draw d;
        char what[256];
        int err;

        draw(&d);
        say(&d, what, sizeof what);
        err = vyasa_compile(&c, &d.p, &d.s, &d.params, &why);
        if (!test_check(err != -ERANGE, "%s: %s", what, why.text))
            return;
        if (err)
            continue;
        n_run++;
        n_seamless += c.is_seamless;
        if (!runs_right(&c, what)) {
            vyasa_code_release(&c);
            return;
        }
        vyasa_code_release(&c);
    }
    test_check(2 * n_run > rounds, "only %u of %u compiled", n_run, rounds);
    test_check(rounds < 100 || n_seamless > rounds / 50, "only %u were without seams", n_seamless);
}

/* ---- as C ---- */

/* Compiles generated C and runs the code in this process. Returns -ENOEXEC if the code cannot run here. */
static int run_c(const struct vyasa_code *code, uint8_t *memory)
{
    char command[2048], object[512];
    void (*convolve)(unsigned char *) = NULL;
    void *library;
    FILE *out;

    exp_say(object, sizeof object, "%s", scratch_path("convolve.so"));
    out = fopen(scratch_path("convolve.c"), "w");
    vyasa_print_c(code, out);
    fclose(out);
    exp_say(command, sizeof command,
            "cc -std=c17 -Wall -Wextra -Werror -O1 -shared -fPIC -I experiments/papers/vyasa -o %s %s", object,
            scratch_path("convolve.c"));
    if (system(command) != 0)
        return -EINVAL;
    library = dlopen(object, RTLD_NOW);
    if (!library)
        return -ENOEXEC;
    *(void **)&convolve = dlsym(library, "convolve");
    convolve(memory);
    dlclose(library);
    return 0;
}

static void generated_c_computes_the_same(void)
{
    const unsigned rounds = test_rounds(8);

    if (system("cc --version >/dev/null 2>&1") != 0) {
        test_skip("there is no C compiler");
        return;
    }
    for (unsigned n = 0; n < rounds;) {
        struct vyasa_code c;
        struct vyasa_tensors t;
        struct draw d;
        uint8_t *memory;
        int32_t *want;
        int err;

        draw(&d);
        if (vyasa_compile(&c, &d.p, &d.s, &d.params, &why))
            continue;
        n++;
        vyasa_tensors_new(&t, &d.p);
        vyasa_tensors_fill(&t, &d.p, rng_u64());
        vyasa_plain(&d.p, &t);
        want = exp_copy_bytes(t.out, t.n_out, sizeof *t.out);
        memory = exp_new(d.params.memory_bytes, 1);
        vyasa_pack(&c, &t, memory);
        err = run_c(&c, memory);
        vyasa_unpack(&c, memory, &t);
        if (err == -ENOEXEC)
            test_skip("the compiler here is of another CPU");
        else
            test_check(!err && !memcmp(want, t.out, t.n_out * sizeof *want), "round %u: another output, or no program",
                       n);
        free(want);
        free(memory);
        vyasa_tensors_release(&t);
        vyasa_code_release(&c);
        if (err)
            break;
    }
}

/* ---- results of the tuner ---- */

static void the_tuner_is_no_worse_than_any_schedule(void)
{
    for (unsigned round = 0; round < test_rounds(12); round++) {
        const struct vyasa_space space = { false, 0 };
        struct vyasa_found found;
        struct vyasa_code c;
        struct draw d;

        draw(&d);
        d.params = aie_default_params;
        d.s.entry_cycles = 0;
        d.s.is_seamless = true;
        d.s.in_use_order = d.s.vector == VYASA_X;
        for (unsigned l = 0; l < VYASA_N_LOOPS; l++) /* the tuner jams by powers of two */
            d.s.jam[l] = d.s.jam[l] == 3 ? 1 : d.s.jam[l];
        if (vyasa_compile(&c, &d.p, &d.s, &d.params, &why))
            continue;
        CU_ASSERT_EQUAL_FATAL(vyasa_tune(&found, &d.p, &space, &d.params, &why), 0);
        test_check(found.cycles <= c.cycles + c.cycles / 200, "round %u: %llu cycles, not %llu", round,
                   (unsigned long long)found.cycles, (unsigned long long)c.cycles);
        vyasa_code_release(&c);
        CU_ASSERT_EQUAL_FATAL(vyasa_compile(&c, &d.p, &found.schedule, &d.params, &why), 0);
        CU_ASSERT_EQUAL(c.cycles, found.cycles);
        CU_ASSERT(runs_right(&c, "tuned"));
        vyasa_code_release(&c);
    }
}

static void small_bodies_are_ordered_in_all_ways(void)
{
    struct vyasa_problem p = { VYASA_REGULAR, 16, 256, 16, 1, 4, 4, 1, 1, 8 };
    const struct vyasa_schedule s = {
        .vector = VYASA_X, .inner = VYASA_X, .outer = { VYASA_K, VYASA_Y }, .jam = { 1, 1, 1 }, .in_use_order = true
    };
    struct vyasa_exact e;

    CU_ASSERT_EQUAL_FATAL(vyasa_exact(&e, &p, &s, &aie_default_params, &why), 0);
    CU_ASSERT(e.bound <= e.interval && e.interval <= e.heuristic);
    CU_ASSERT_EQUAL(e.bound, 8);
    p.r = 6;
    CU_ASSERT_EQUAL(vyasa_exact(&e, &p, &s, &aie_default_params, &why), -E2BIG);
}

/* ---- fusions found ---- */

static struct vyasa_problem filter_of(unsigned size, unsigned bits)
{
    return (struct vyasa_problem){ VYASA_REGULAR, bits, 256, 16, 1, size, size, 1, 1, bits / 2 };
}

static struct vyasa_schedule rows_of(enum vyasa_fusion fusion, unsigned jam)
{
    return (struct vyasa_schedule){ .vector = VYASA_X,
                                    .inner = VYASA_X,
                                    .outer = { VYASA_K, VYASA_Y },
                                    .jam = { 1, jam, 1 },
                                    .fusion = fusion,
                                    .in_use_order = true,
                                    .is_seamless = true };
}

static void rows_meet_where_a_column_is_left_over(void)
{
    const unsigned sizes[] = { 3, 5, 7, 9, 11 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct vyasa_problem p = filter_of(sizes[i], 16);
        const struct vyasa_schedule padded = rows_of(VYASA_PADDED, 1), rows = rows_of(VYASA_ROWS, 1);
        struct vyasa_code a, b;

        CU_ASSERT_EQUAL_FATAL(vyasa_compile(&a, &p, &padded, &aie_default_params, &why), 0);
        CU_ASSERT_EQUAL_FATAL(vyasa_compile(&b, &p, &rows, &aie_default_params, &why), 0);
        CU_ASSERT_EQUAL(a.body.n_macs, sizes[i] * ((sizes[i] + 1) / 2));
        CU_ASSERT_EQUAL(b.body.n_macs, (sizes[i] * sizes[i] + 1) / 2);
        CU_ASSERT_EQUAL(a.body.n_triplets, sizes[i] * sizes[i]);
        CU_ASSERT(runs_right(&a, "padded") && runs_right(&b, "rows"));
        vyasa_code_release(&a);
        vyasa_code_release(&b);
    }
}

static void vectors_that_overlap_are_one_load(void)
{
    /* The paper's running example, 4 x 3: twelve vectors become three, and four operations of two columns a row. */
    struct vyasa_problem p = filter_of(4, 16);
    const struct vyasa_schedule s = rows_of(VYASA_PADDED, 1);
    struct vyasa_code c;
    unsigned n = 0;

    p.s = 3;
    CU_ASSERT_EQUAL_FATAL(vyasa_compile(&c, &p, &s, &aie_default_params, &why), 0);
    for (size_t v = 0; v < c.body.n_values; v++)
        n += c.body.value[v].tensor == VYASA_OF_X;
    CU_ASSERT_EQUAL(c.body.n_triplets, 12);
    CU_ASSERT_EQUAL(n, 3);
    CU_ASSERT_EQUAL(c.body.n_macs, 6);
    CU_ASSERT_EQUAL(c.body.n_stores, 1);
    vyasa_code_release(&c);
}

static void no_cycle_is_lost_where_nothing_hinders(void)
{
    const struct vyasa_problem p = filter_of(5, 16);
    const struct vyasa_schedule s = rows_of(VYASA_ROWS, 2);
    struct vyasa_code c;

    CU_ASSERT_EQUAL_FATAL(vyasa_compile(&c, &p, &s, &aie_default_params, &why), 0);
    CU_ASSERT_EQUAL(c.body.interval, 26);
    CU_ASSERT(c.is_seamless);
    CU_ASSERT(c.cycles < 26 * 16 * 8 + 60);
    vyasa_code_release(&c);
}

static void far_filters_are_loaded_two_at_a_time(void)
{
    const struct vyasa_problem p = { VYASA_REGULAR, 16, 1, 1, 4096, 1, 1, 1, 8, 8 };
    struct vyasa_schedule s = { .vector = VYASA_K,
                                .inner = VYASA_K,
                                .outer = { VYASA_X, VYASA_Y },
                                .jam = { 1, 1, 1 },
                                .fusion = VYASA_CHANNELS,
                                .is_seamless = true };
    struct vyasa_code c;

    CU_ASSERT_EQUAL_FATAL(vyasa_compile(&c, &p, &s, &aie_default_params, &why), 0);
    CU_ASSERT_EQUAL(c.body.interval, 8); /* eight loads of 256 bits of one tensor, one at a time: the paper's 15.77 */
    CU_ASSERT(runs_right(&c, "near"));
    vyasa_code_release(&c);
    s.jam[VYASA_K] = 2;
    s.is_far = true;
    CU_ASSERT_EQUAL_FATAL(vyasa_compile(&c, &p, &s, &aie_default_params, &why), 0);
    CU_ASSERT(c.body.interval <= 9); /* of twice the work */
    CU_ASSERT(runs_right(&c, "far"));
    vyasa_code_release(&c);
}

/* ---- refusals ---- */

static void refuses(const struct vyasa_problem *p, const struct vyasa_schedule *s, const struct aie_params *params,
                    int err, const char *words)
{
    struct vyasa_code c;
    const int got = vyasa_compile(&c, p, s, params, &why);

    test_check(got == err, "%s: %d, not %d", words, got, err);
    test_check(got && strstr(why.text, words), "'%s' is not in '%s'", words, why.text);
    CU_ASSERT_PTR_NULL(c.program.bundle);
    vyasa_code_release(&c);
}

static void what_does_not_fit_is_refused_with_the_reason(void)
{
    const struct vyasa_problem p = filter_of(3, 16);
    const struct vyasa_schedule s = rows_of(VYASA_PADDED, 1);
    struct aie_params small = aie_default_params;
    struct vyasa_problem other = p;
    struct vyasa_schedule slip = s;

    small.memory_bytes = 16 * 1024;
    refuses(&p, &s, &small, -ENOSPC, "do not fit 16 KB");
    small = aie_default_params;
    small.program_bundles = 20;
    refuses(&p, &s, &small, -E2BIG, "program memory of 20");
    other.x = 250;
    refuses(&other, &s, &aie_default_params, -EINVAL, "loop x: 250 does not divide");
    other = p;
    other.bits = 8;
    refuses(&other, &s, &aie_default_params, -EINVAL, "only 16 and 32");
    other = p;
    other.c = 3;
    slip.fusion = VYASA_CHANNELS;
    refuses(&other, &slip, &aie_default_params, -EINVAL, "3 channels do not divide");
    slip = s;
    slip.jam[VYASA_Y] = 16;
    other = filter_of(11, 16);
    refuses(&other, &slip, &aie_default_params, -ENOBUFS, "there are four accumulators");
    slip = s;
    slip.jam[VYASA_X] = 4;
    refuses(&other, &slip, &aie_default_params, -E2BIG, "no register of 1,024 bits");
    slip = s;
    slip.outer[0] = VYASA_X;
    refuses(&p, &slip, &aie_default_params, -EINVAL, "names a loop twice");
}

static const struct test_case cases[] = {
    { "random convolutions equal plain loops, bit for bit", random_convolutions_equal_plain_loops },
    { "generated C computes the same", generated_c_computes_the_same },
    { "the tuner is no worse than any schedule", the_tuner_is_no_worse_than_any_schedule },
    { "small bodies are ordered in all ways", small_bodies_are_ordered_in_all_ways },
    { "rows meet where a column is left over", rows_meet_where_a_column_is_left_over },
    { "vectors that overlap are one load", vectors_that_overlap_are_one_load },
    { "no cycle is lost where nothing hinders", no_cycle_is_lost_where_nothing_hinders },
    { "far filters are loaded two at a time", far_filters_are_loaded_two_at_a_time },
    { "what does not fit is refused with the reason", what_does_not_fit_is_refused_with_the_reason },
    { NULL, NULL },
};

const struct test_suite suite_vyasa = { "vyasa", cases };
