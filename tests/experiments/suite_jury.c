/* Targets beside baselines, and the jury's kinds of shapes. */
#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/choices/jury/jury.h"
#include "tests/suites.h"

extern const struct test_suite suite_jury;

enum { N_SHAPES = 24, MOST_ROWS = 3 * N_SHAPES };

static struct conv_problem shape(size_t c, size_t h, size_t k, size_t r, size_t stride, size_t pad, size_t groups)
{
    struct conv_problem p = { .n = 1,
                              .c = c,
                              .h = h,
                              .w = h,
                              .k = k,
                              .r = r,
                              .s = r,
                              .stride_h = stride,
                              .stride_w = stride,
                              .pad_top = pad,
                              .pad_left = pad,
                              .pad_bottom = pad,
                              .pad_right = pad,
                              .dilation_h = 1,
                              .dilation_w = 1,
                              .groups = groups };
    char why[256];

    CU_ASSERT_EQUAL_FATAL(conv_problem_finish(&p, SIM_WHY(why)), 0);
    return p;
}

/* A shape is of the first matching kind. */
static void test_kinds(void)
{
    const struct {
        struct conv_problem p;
        enum exp_jury_kind kind;
    } of[] = {
        { shape(16, 1, 16, 1, 1, 0, 16), EXP_JURY_GROUPED }, { shape(16, 1, 20, 1, 1, 0, 1), EXP_JURY_PLANE },
        { shape(16, 7, 20, 7, 7, 0, 1), EXP_JURY_PLANE },    { shape(3, 8, 20, 2, 2, 0, 1), EXP_JURY_PATCH },
        { shape(3, 8, 20, 3, 2, 1, 1), EXP_JURY_FEW },       { shape(8, 8, 20, 3, 3, 1, 1), EXP_JURY_STRIDED },
        { shape(8, 8, 20, 1, 2, 0, 1), EXP_JURY_STRIDED },   { shape(8, 8, 16, 1, 1, 0, 1), EXP_JURY_RAGGED },
        { shape(8, 8, 24, 1, 1, 0, 1), EXP_JURY_POINTWISE }, { shape(8, 8, 24, 3, 1, 1, 1), EXP_JURY_OTHER },
    };

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        test_check(exp_jury_kind_of(&of[i].p, 16, 24) == of[i].kind, "case %zu: kind %d", i,
                   (int)exp_jury_kind_of(&of[i].p, 16, 24));
}

static void test_sign(void)
{
    CU_ASSERT_DOUBLE_EQUAL(exp_sign_test(9, 1), 11.0 / 1024, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_sign_test(1, 1), 0.75, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_sign_test(0, 5), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(exp_sign_test(0, 0), 1, 1e-12);
}

/* Base, IS and WS of shapes; taken: cycles by shape and algorithm. Returns the number of rows. */
static size_t make_rows(struct exp_taken row[MOST_ROWS], struct conv_problem problem[N_SHAPES], size_t n_shapes,
                        double (*taken)(size_t shape, size_t algo), double (*simulated)(size_t shape, size_t algo))
{
    static const char *const algo[] = { "base", "sconv_is", "sconv_ws" };
    size_t n = 0;

    for (size_t i = 0; i < n_shapes; i++) {
        for (size_t a = 0; a < 3; a++)
            row[n++] = (struct exp_taken){ .problem = &problem[i],
                                           .algo = exp_algo_find(algo[a]),
                                           .layer = i,
                                           .taken = taken(i, a),
                                           .simulated = simulated(i, a),
                                           .amount = { 1e3 * (double)(i + 1), 1e2, 10, 1 } };
    }
    exp_taken_number(row, n);
    return n;
}

/* Layers whose faster schedule changes from shape to shape: no baseline can know. */
static double changing(size_t i, size_t a)
{
    return 1e4 * (double)(i + 1) * (a == 0 ? 1 : (i * 7 + i / 3) % 2 == a - 1 ? 0.8 : 1.2);
}

/* WS is the faster schedule always, and Base the slowest. */
static double constant(size_t i, size_t a)
{
    return 1e4 * (double)(i + 1) * (a == 0 ? 1.5 : a == 1 ? 1.2 : 1);
}

static const struct exp_bound bounds[EXP_N_TARGETS] = {
    [EXP_TARGET_MEDIAN] = { 6, 4, 0, 0 }, [EXP_TARGET_SIDE] = { 90, 95, 5, 5 }, [EXP_TARGET_SCHEDULE] = { 80, 90, 0, 0 }
};

static void make_problems(struct conv_problem problem[N_SHAPES])
{
    for (size_t i = 0; i < N_SHAPES; i++)
        problem[i] = shape(i + 1, 8, 8, 3, 1, 1, 1);
}

/* A simulation that is right where no baseline can be reaches the targets. */
static void test_reached(void)
{
    struct conv_problem problem[N_SHAPES];
    struct exp_taken row[MOST_ROWS];
    struct exp_target_result x[EXP_N_TARGETS];
    size_t n;

    make_problems(problem);
    n = make_rows(row, problem, N_SHAPES, changing, changing);
    exp_targets_judge(row, n, bounds, x);
    test_check(!strcmp(x[EXP_TARGET_SCHEDULE].reached, "aim"), "%s", x[EXP_TARGET_SCHEDULE].reached);
    test_check(!strcmp(x[EXP_TARGET_MEDIAN].reached, "aim"), "%s", x[EXP_TARGET_MEDIAN].reached);
    CU_ASSERT(x[EXP_TARGET_SCHEDULE].n == N_SHAPES && x[EXP_TARGET_SIDE].n == 2 * N_SHAPES);
    CU_ASSERT_DOUBLE_EQUAL(x[EXP_TARGET_REGRET].is.number, 0, 1e-12);
    CU_ASSERT(x[EXP_TARGET_REGRET].rival_is.number > 1);
    CU_ASSERT(x[EXP_TARGET_MEDIAN].equals.why != NULL);
}

/* Where a constant is as good, right choices reach nothing. */
static void test_constant(void)
{
    struct conv_problem problem[N_SHAPES];
    struct exp_taken row[MOST_ROWS];
    struct exp_target_result x[EXP_N_TARGETS];
    size_t n;

    make_problems(problem);
    n = make_rows(row, problem, N_SHAPES, constant, constant);
    exp_targets_judge(row, n, bounds, x);
    CU_ASSERT_DOUBLE_EQUAL(x[EXP_TARGET_SCHEDULE].is.number, 100, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(x[EXP_TARGET_SCHEDULE].rival_is.number, 100, 1e-12);
    test_check(!strcmp(x[EXP_TARGET_SCHEDULE].reached, "no: no better than the baseline"), "%s",
               x[EXP_TARGET_SCHEDULE].reached);
}

/* Equal shapes teach one another nothing but equals, and vote together. */
static void test_equal_shapes(void)
{
    struct conv_problem problem[N_SHAPES];
    struct exp_taken row[MOST_ROWS];
    struct exp_target_result x[EXP_N_TARGETS];
    double foretold[MOST_ROWS];
    size_t n;

    for (size_t i = 0; i < N_SHAPES; i++)
        problem[i] = shape(4, 8, 8, 3, 1, 1, 1);
    n = make_rows(row, problem, N_SHAPES, changing, changing);
    exp_foretell(row, n, EXP_BY_FIT, foretold);
    for (size_t i = 0; i < n; i++)
        CU_ASSERT(isnan(foretold[i]) && !row[i].shape);
    exp_foretell(row, n, EXP_BY_EQUALS, foretold);
    CU_ASSERT(!isnan(foretold[0]) && row[3].same == 0 && row[4].same == 1);
    exp_targets_judge(row, n, bounds, x);
    CU_ASSERT(x[EXP_TARGET_SCHEDULE].n == N_SHAPES);
    CU_ASSERT(x[EXP_TARGET_SCHEDULE].n_better + x[EXP_TARGET_SCHEDULE].n_worse <= 1);
}

static const struct test_case cases[] = {
    { "a shape is of the first matching kind", test_kinds },
    { "signs are as a coin's", test_sign },
    { "what no baseline knows is reached", test_reached },
    { "where a constant is as good, nothing is reached", test_constant },
    { "equal shapes teach no fit, and vote together", test_equal_shapes },
    { NULL, NULL },
};

const struct test_suite suite_jury = { "jury", cases };
