/* PolyDL's variants: the variants' texts, results and accesses. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/papers/polydl/analysis/walk.h"
#include "experiments/papers/polydl/variants.h"
#include "experiments/papers/polydl/time/time.h"
#include "kernels/conv_naive.h"
#include "tests/kernels/emission.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/suites.h"

__typeof__(conv_small_count) logged_conv_small_count;
__typeof__(conv_small_at) logged_conv_small_at;

enum { MAX_DIMS = 7, TEXT = 256 };

/* ---- random layers ---- */

static struct conv_problem random_problem(void)
{
    static const size_t channels[] = { 16, 32, 48, 64, 96 };
    char why[128];

    for (;;) {
        struct conv_problem p = { IMAGES(1 + rng_below(2), channels[rng_below(5)], 1 + rng_below(9), 1 + rng_below(17)),
                                  FILTERS(channels[rng_below(5)], 1 + rng_below(3), 1 + rng_below(3)),
                                  STRIDES(1 + rng_below(3), 1 + rng_below(3)),
                                  PADDING(rng_below(3), rng_below(3), rng_below(3), rng_below(3)),
                                  DILATIONS(1, 1),
                                  .groups = 1 };

        if (!conv_problem_finish(&p, SIM_WHY(why)))
            return p;
    }
}

static struct exp_variant_source conv_source(const struct conv_problem *p)
{
    struct exp_variant_source s = { .problem = p, .block = exp_variant_block(p, NULL), .n_images = p->n };

    CU_ASSERT_FATAL(s.block > 0);
    while (s.block > 16 && rng_below(2))
        s.block /= 2;
    return s;
}

static struct exp_variant_source gemm_source(void)
{
    return (
        struct exp_variant_source){ .gemm = { "gemm", 1 + rng_below(40), 16 * (1 + rng_below(8)), 1 + rng_below(40) } };
}

/* ---- random variants ---- */

struct dim {
    const char *name;
    uint64_t extent, unit; /* the loops must leave a multiple of unit */
    bool leaves_any;
};

static uint64_t random_divisor(uint64_t n, uint64_t unit)
{
    uint64_t d;

    do
        d = unit * (1 + rng_below(n / unit));
    while (n % d);
    return d;
}

static void put_word(char *text, const struct dim *d, uint64_t step, const char *star)
{
    exp_say_more(text, TEXT, " %s.%" PRIu64 "%s", d->name, step, star);
}

/* Writes loops in any order, each dimension in one, two or no steps; one of the first loops may be parallel. */
static void random_text(const struct dim *dim, size_t n, bool is_parallel, char text[TEXT])
{
    uint64_t left[MAX_DIMS];
    size_t n_left = n;
    bool done[MAX_DIMS] = { false };

    *text = '\0';
    for (size_t d = 0; d < n; d++)
        left[d] = dim[d].extent;
    while (n_left) {
        const size_t d = rng_below(n);
        const uint64_t step = random_divisor(left[d], dim[d].unit);

        if (done[d])
            continue;
        done[d] = dim[d].leaves_any ? rng_below(2) != 0 : step == 1;
        n_left -= done[d];
        if (step == left[d])
            continue;
        put_word(text, &dim[d], step, is_parallel ? "*" : "");
        is_parallel = false;
        left[d] = step;
    }
}

static void random_conv(const struct exp_variant_source *s, bool is_parallel, char text[TEXT])
{
    const struct conv_problem *p = s->problem;
    const struct dim dims[] = { { "img", p->n, 1, false },
                                { "ofm", p->k / s->block, 1, false },
                                { "ifm", p->c / s->block, 1, false },
                                { "oj", p->p, 1, false },
                                { "oi", p->q, 1, true },
                                { "kj", p->r, 1, false },
                                { "ki", p->s, 1, false } };

    random_text(dims, 7, is_parallel, text);
}

static void random_gemm(const struct exp_variant_source *s, bool is_parallel, char text[TEXT])
{
    const struct dim dims[] = { { "i", s->gemm.m, 1, true },
                                { "j", s->gemm.n, 16, true },
                                { "k", s->gemm.k, 1, true } };

    random_text(dims, 3, is_parallel, text);
}

/* ---- execution ---- */

static const struct conv_small *random_small(void)
{
    const struct conv_small *s;

    do
        s = conv_small_at(rng_below(conv_small_count()));
    while (!conv_small_runs(s));
    return s;
}

/* The operands of a variant, each before a guard page. */
struct operands {
    struct kbuffer of[EXP_N_OPERANDS];
    uint64_t base[EXP_N_OPERANDS];
};

static void make_operands(struct operands *o, const struct exp_variant *v)
{
    for (size_t i = 0; i < EXP_N_OPERANDS; i++) {
        const size_t n = exp_tensor_bytes(&v->tensor[i]) / sizeof(float);

        CU_ASSERT_FATAL(kbuffer_init(&o->of[i], n) == 0);
        o->base[i] = (uintptr_t)o->of[i].data;
        if (i != EXP_OPERAND_C)
            rng_small_ints(o->of[i].data, n, 4);
    }
}

static void release_operands(struct operands *o)
{
    for (size_t i = 0; i < EXP_N_OPERANDS; i++)
        kbuffer_release(&o->of[i]);
}

/* Executes the shares of all threads, the last first, with a micro-kernel of ours or LIBXSMM's. */
static void execute(const struct exp_variant *v, const struct operands *o)
{
    const size_t n_threads = 1 + rng_below(4);
    struct exp_executor e = { .small = random_small() };
    struct exp_walk w;

    exp_walk_init(&w, v, o->base);
    if (!rng_below(4))
        e.jit = exp_xsmm_compile(&w.first);
    if (e.jit)
        e.small = NULL;
    for (size_t t = n_threads; t-- > 0;)
        exp_walk_execute(&w, t, n_threads, &e);
}

/* Returns whether the first iterations of the plain loops make their share of C, and nothing else. */
static bool loops_agree(const struct exp_variant_source *s, const struct exp_variant *v, const struct operands *o)
{
    const size_t bytes = exp_tensor_bytes(&v->tensor[EXP_OPERAND_C]), of = exp_loops_iterations(s);
    const size_t n = 1 + rng_below(of), made = bytes / of * n;
    char *c = calloc(1, bytes), *zeros = calloc(1, bytes);
    bool agree;

    CU_ASSERT_FATAL(c && zeros);
    exp_loops_run(s, n, o->of[EXP_OPERAND_A].data, o->of[EXP_OPERAND_B].data, (float *)(void *)c);
    agree = !memcmp(c, o->of[EXP_OPERAND_C].data, made) && !memcmp(c + made, zeros, bytes - made);
    free(c);
    free(zeros);
    return agree;
}

static void check_conv(const struct conv_problem *p, const struct exp_variant_source *s, const struct exp_variant *v)
{
    struct kcheck k;
    struct operands o;
    struct conv_mismatch where = { 0 };
    float *out = calloc(p->n * p->k * conv_windows(p), sizeof *out);
    int err;

    CU_ASSERT_FATAL(out && !kcheck_init(&k, p, true));
    make_operands(&o, v);
    exp_block_input(p, s->block, k.in, o.of[EXP_OPERAND_B].data);
    exp_block_filter(p, s->block, k.filter, o.of[EXP_OPERAND_A].data);
    execute(v, &o);
    exp_unblock_output(p, s->block, o.of[EXP_OPERAND_C].data, out);
    err = conv_naive_compare(p, k.in, k.filter, out, true, &where);
    test_check(!err, "%s, block %" PRIu64 ", variant '%s': %d, output %zu is %g, not %g", kcheck_describe(p), s->block,
               v->name, err, where.index, where.got, where.want);
    if (p->n == 1)
        test_check(loops_agree(s, v, &o), "%s: the plain loops", kcheck_describe(p));
    release_operands(&o);
    kcheck_release(&k);
    free(out);
}

static void variants_compute_the_convolution(void)
{
    for (unsigned r = 0; r < test_rounds(60); r++) {
        const struct conv_problem p = random_problem();
        const struct exp_variant_source s = conv_source(&p);
        char text[TEXT];
        struct exp_why why = { "" };
        struct exp_variant v;
        int err;

        random_conv(&s, r % 8 == 0, text);
        err = exp_variant_read(&v, &s, text, &why);
        if (err == -EINVAL && strstr(why.text, "forbids it"))
            continue;
        if (test_check(!err, "'%s': %s", text, why.text))
            check_conv(&p, &s, &v);
    }
}

static double gemm_element(const struct exp_gemm *g, const struct operands *o, uint64_t i, uint64_t j)
{
    double sum = 0;

    for (uint64_t k = 0; k < g->k; k++)
        sum += (double)o->of[EXP_OPERAND_B].data[i * g->k + k] * (double)o->of[EXP_OPERAND_A].data[k * g->n + j];
    return sum;
}

static void variants_compute_the_product(void)
{
    for (unsigned r = 0; r < test_rounds(60); r++) {
        const struct exp_variant_source s = gemm_source();
        const struct exp_gemm *g = &s.gemm;
        char text[TEXT];
        struct exp_why why = { "" };
        struct operands o;
        struct exp_variant v;
        uint64_t n_wrong = 0;
        int err;

        random_gemm(&s, r % 8 == 0, text);
        err = exp_variant_read(&v, &s, text, &why);
        if ((err == -EINVAL && strstr(why.text, "forbids it")) || !test_check(!err, "'%s': %s", text, why.text))
            continue;
        make_operands(&o, &v);
        execute(&v, &o);
        for (uint64_t i = 0; i < g->m * g->n; i++)
            n_wrong += (double)o.of[EXP_OPERAND_C].data[i] != gemm_element(g, &o, i / g->n, i % g->n);
        test_check(!n_wrong && loops_agree(&s, &v, &o), "'%s': %" PRIu64 " wrong", text, n_wrong);
        release_operands(&o);
    }
}

/* ---- replay ---- */

struct replayed {
    struct exp_walk walk;
    struct exp_executor executor;
    size_t n_threads;
};

static void run_walk(void *args)
{
    struct replayed *r = args;

    exp_walk_execute(&r->walk, 0, r->n_threads, &r->executor);
}

static void emit_walk(void *args, struct sim_sink *sink)
{
    struct replayed *r = args;

    CU_ASSERT_EQUAL(exp_walk_replay(&r->walk, r->n_threads, r->executor.small, sink, NULL, NULL), 0);
}

static const struct conv_small *random_logged(void)
{
    const struct conv_small *s;

    do
        s = logged_conv_small_at(rng_below(logged_conv_small_count()));
    while (!conv_small_runs(s));
    return s;
}

static void replays_are_what_execution_touches(void)
{
    for (unsigned r = 0; r < test_rounds(40); r++) {
        const struct exp_variant_source s = gemm_source();
        struct replayed x = { .n_threads = 1 + rng_below(3), .executor.small = random_logged() };
        struct logged_buffer watched[EXP_N_OPERANDS];
        char text[TEXT];
        struct exp_why why;
        struct operands o;
        struct exp_variant v;

        random_gemm(&s, r % 8 == 0, text);
        if (exp_variant_read(&v, &s, text, &why))
            continue;
        make_operands(&o, &v);
        for (size_t i = 0; i < EXP_N_OPERANDS; i++)
            watched[i] = (struct logged_buffer){ o.base[i], exp_tensor_bytes(&v.tensor[i]) };
        exp_walk_init(&x.walk, &v, o.base);
        check_emission(text, run_walk, emit_walk, &x, watched, EXP_N_OPERANDS);
        release_operands(&o);
    }
}

/* ---- generation ---- */

static struct conv_problem plain_problem(size_t c, size_t k, size_t size, size_t taps)
{
    struct conv_problem p = { IMAGES(1, c, size, size), FILTERS(k, taps, taps),
                              PADDING(taps / 2, taps / 2, taps / 2, taps / 2), UNIT_STEPS, .groups = 1 };

    CU_ASSERT_EQUAL_FATAL(conv_problem_finish(&p, SIM_NO_WHY), 0);
    return p;
}

static void the_generator_is_the_papers(void)
{
    static const struct {
        const char *wanted;
        size_t least, most;
    } cases[] = { { "", 5, 21 }, { "paper", 5, 21 }, { "3", 3, 3 }, { "60", 60, 60 }, { "all", 120, 160 } };
    const struct conv_problem p = plain_problem(256, 512, 56, 3);
    const struct exp_variant_source s = { .problem = &p, .block = exp_variant_block(&p, NULL), .n_images = 1 };

    CU_ASSERT_EQUAL(s.block, 64);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct exp_variants v;

        CU_ASSERT_EQUAL_FATAL(exp_variants_make(&v, &s, cases[i].wanted, NULL), 0);
        test_check(v.n >= cases[i].least && v.n <= cases[i].most, "%s: %zu variants", cases[i].wanted, v.n);
        CU_ASSERT_STRING_EQUAL(v.variant[0].name, "ofm ifm oj kj ki");
        for (size_t a = 0; a < v.n; a++) {
            for (size_t b = 0; b < a; b++)
                test_check(strcmp(v.variant[a].name, v.variant[b].name) != 0, "'%s' twice", v.variant[a].name);
        }
        exp_variants_release(&v);
    }
}

/* Returns the micro-kernel's part of a GEMM's rows, columns or sums (n, m or k). */
static uint64_t micro_extent(const struct exp_variant *v, size_t micro)
{
    return v->nest.loop[v->n_outer + micro].extent;
}

static size_t n_parallel(const struct exp_variant *v)
{
    size_t n = 0;

    for (size_t l = 0; l < v->n_outer; l++)
        n += v->nest.loop[l].is_parallel && v->nest.loop[l].extent > 1;
    return n;
}

/* The micro-kernel's share of every dimension varies, and something is parallel in each variant. */
static void check_gemm_variants(const struct exp_gemm *g)
{
    const struct exp_variant_source s = { .gemm = *g, .n_images = 1 };
    const uint64_t extent[] = { g->m, g->n, g->k };
    struct exp_variants v, again;
    struct exp_why why = { "" };

    test_check(!exp_variants_make(&v, &s, "", &why), "%s: %s", g->name, why.text);
    CU_ASSERT_EQUAL_FATAL(exp_variants_make(&again, &s, "paper", &why), 0);
    test_check(v.n == 21 && again.n == v.n, "%s: %zu variants, then %zu", g->name, v.n, again.n);
    for (size_t i = 0; i < v.n; i++) {
        test_check(!strcmp(v.variant[i].name, again.variant[i].name), "'%s' becomes '%s'", v.variant[i].name,
                   again.variant[i].name);
        test_check(n_parallel(&v.variant[i]) == 1, "%s: '%s' runs on one thread", g->name, v.variant[i].name);
        for (size_t b = 0; b < i; b++)
            test_check(strcmp(v.variant[i].name, v.variant[b].name) != 0, "'%s' twice", v.variant[i].name);
    }
    for (size_t d = 0; d < 3; d++) {
        for (uint64_t unit = 16; unit <= 64; unit *= 2) {
            size_t n = 0;

            for (size_t i = 0; i < v.n; i++)
                n += micro_extent(&v.variant[i], d) == unit;
            test_check(!n == (extent[d] % unit != 0), "%s: %zu variants with a share of %ju of loop %zu", g->name, n,
                       (uintmax_t)unit, d);
        }
    }
    exp_variants_release(&v);
    exp_variants_release(&again);
}

static void the_tiles_of_gemms_vary(void)
{
    static const struct exp_gemm gemms[] = { { "square", 4096, 4096, 4096 }, { "odd", 1024, 16, 500000 } };
    const struct exp_variant_source small = { .gemm = { "small", 64, 32, 16 }, .n_images = 1 };
    struct exp_variants v;

    for (size_t i = 0; i < COUNT(gemms); i++)
        check_gemm_variants(&gemms[i]);
    CU_ASSERT_EQUAL_FATAL(exp_variants_make(&v, &small, "all", NULL), 0);
    test_check(v.n > 10, "%zu tilings, first %s", v.n, v.variant[0].name);
    for (size_t i = 0; i < v.n; i++)
        CU_ASSERT_EQUAL(n_parallel(&v.variant[i]), 1);
    exp_variants_release(&v);
    CU_ASSERT_EQUAL_FATAL(exp_variants_make(&v, &small, "2", NULL), 0);
    CU_ASSERT_EQUAL(v.n, 2);
    exp_variants_release(&v);
}

/* A variant can be made from its name. */
static void names_are_texts(void)
{
    for (unsigned r = 0; r < test_rounds(100); r++) {
        const struct exp_variant_source s = gemm_source();
        struct exp_variant v, again;
        char text[TEXT];

        random_gemm(&s, false, text);
        CU_ASSERT_EQUAL_FATAL(exp_variant_read(&v, &s, text, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(exp_variant_read(&again, &s, v.name, NULL), 0);
        test_check(!strcmp(v.name, again.name) && v.nest.n_loops == again.nest.n_loops, "'%s' is '%s'", v.name,
                   again.name);
        for (size_t l = 0; l < v.nest.n_loops; l++)
            CU_ASSERT_EQUAL(v.nest.loop[l].extent, again.nest.loop[l].extent);
    }
}

static void what_is_wrong_is_said(void)
{
    static const struct {
        const char *text, *what;
    } cases[] = {
        { "ofm ifm* oj kj ki", "a dependence on output forbids it (read after write, carried by ifm, 0 -> 1)" },
        { "ofm ifm oj.9 kj ki", "'oj.9' does not divide oj, 56 here" },
        { "ofm ifm oj.8 kj ki", "'oj' is not walked to its end: loops leave 8 of it" },
        { "ofm* ifm oj* kj ki", "is a second parallel loop" },
        { "ofm ifm of kj ki", "is not dim, dim.tile or dim* with dim one of img ofm ifm oj oi kj ki" },
        { "ofm ifm oj.0 kj ki", "is not dim" },
    };
    struct conv_problem p = plain_problem(256, 512, 56, 3);
    const struct exp_variant_source s = { .problem = &p, .block = 64, .n_images = 1 };
    struct exp_why why;

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct exp_variant v;
        int err = exp_variant_read(&v, &s, cases[i].text, &why);

        test_check(err == -EINVAL && strstr(why.text, cases[i].what), "'%s': %d, %s", cases[i].text, err,
                   err ? why.text : "");
    }
    p.k = 40;
    CU_ASSERT_EQUAL(exp_variant_block(&p, &why), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "need padding"));
    p.k = 512;
    p.groups = 2;
    CU_ASSERT_EQUAL(exp_variant_block(&p, &why), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "no groups"));
}

static const struct test_case cases[] = {
    { "any order, tiles and threads compute the convolution", variants_compute_the_convolution },
    { "any order, tiles and threads compute the product", variants_compute_the_product },
    { "a replay is what execution touches", replays_are_what_execution_touches },
    { "the generator has 5 to 21 variants, Figure 8 first", the_generator_is_the_papers },
    { "inner tiles of GEMMs vary, in 21 variants that are all parallel", the_tiles_of_gemms_vary },
    { "a variant's name is a text that makes it", names_are_texts },
    { "what is wrong is said, with the dependence that forbids it", what_is_wrong_is_said },
    { NULL, NULL },
};

const struct test_suite suite_polydl_walk = { "polydl_walk", cases };
