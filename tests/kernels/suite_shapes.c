/* Shapes whose fields may be anything. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "kernels/shape/layout.h"
#include "kernels/ukr/pack.h"
#include "kernels/shape/problem.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/kernels/shape_check.h"
#include "tests/kernels/shapes.h"
#include "tests/suites.h"

/* Small, or next to a power of two at which something overflows. */
static size_t any_size(void)
{
    static const unsigned char power[] = { 16, 29, 31, 32, 46, 54, 55, 56, 57, 58, 61, 62, 63 };
    size_t near = (size_t)rng_below(5) - 2;

    switch (rng_below(6)) {
    case 0:
        return rng_below(3);
    case 1:
        return rng_below(40);
    case 2:
        return near; /* 0 - 2 .. 0 + 2 */
    default:
        return ((size_t)1 << power[rng_below(sizeof power)]) + near;
    }
}

/* Returns a small shape in which some fields, or all, are arbitrary; padding and strides often go together. */
static struct conv_problem any_shape(void)
{
    struct conv_problem p = kcheck_random_problem();
    size_t n = rng_below(20) ? rng_below(4) : CONV_N_FIELDS;

    for (size_t i = 0; i < n; i++)
        conv_field_set(&p, rng_below(CONV_N_FIELDS), any_size());
    if (!rng_below(3))
        p.stride_w = p.pad_left = any_size();
    if (!rng_below(3))
        p.stride_h = p.pad_bottom = any_size();
    p.p = p.q = 0;
    return p;
}

static void any_shape_is_refused_or_works(void)
{
    unsigned n = test_rounds(6000), n_accepted = 0, n_run = 0;

    for (unsigned round = 0; round < n; round++) {
        struct conv_problem p = any_shape();
        struct shape_check c;

        test_check(shape_check(&c, &p, rng_below(1000)), "%s: %s", kcheck_describe(&p), c.why);
        n_accepted += c.is_accepted;
        n_run += c.is_run;
    }
    test_check(n_accepted > n / 10 && n_run > n / 20, "of %u shapes only %u were accepted, %u run", n, n_accepted,
               n_run);
}

static void every_limit_is_told_with_its_fields(void)
{
    static const struct {
        size_t value[CONV_N_FIELDS]; /* 0 in front of a padding: 0 */
        int err;
        const char *why;
    } refused[] = {
        { { 1, 5, 9, 9, 7, 3, 3, 1, SIZE_MAX - 3, 1, 1, 1, 1, 1, 1, 1 }, -EOVERFLOW, "stride_w 18446744073709551612" },
        { { 1, 5, 9, 9, 7, 3, 3, (size_t)1 << 63, 1, 1, 1, 1, 1, 1, 1, 1 },
          -EOVERFLOW,
          "stride_h 9223372036854775808" },
        { { 1, 5, 9, 9, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, (size_t)1 << 62, 1 },
          -EOVERFLOW,
          "dilation_w 4611686018427387904" },
        { { 1, 5, 9, 9, 7, 3, 3, 1, 1, SIZE_MAX, 1, 1, 1, 1, 1, 1 }, -EOVERFLOW, "pad_top 18446744073709551615" },
        { { 1, 1, 1, 1, 1, 1, 1, (size_t)1 << 30, (size_t)1 << 30, 0, 0, 0, 0, 1, 1, 1 },
          -EOVERFLOW,
          "the padded image exceeds the address space (in_h 1, pad_top 0, pad_bottom 0, stride_h 1073741824" },
        { { (size_t)1 << 56, 5, 9, 9, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
          -EOVERFLOW,
          "the input tensor exceeds the address space (batch 72057594037927936, in_c 5, in_h 9, in_w 9)" },
        { { 1, 1, 1, 1, (size_t)1 << 57, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1 },
          -EOVERFLOW,
          "the filter tensor exceeds the address space (out_c 144115188075855872, in_c 1, k_h 1, k_w 1, group 1)" },
        { { 1, 5, 9, 9, 7, 3, SIZE_MAX, 1, 1, 1, 1, 1, 1, 1, 2, 1 }, -EINVAL, "k_w 18446744073709551615, is larger" },
        { { 1, 5, 9, 9, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 5 }, -EINVAL, "5 groups do not divide out_c 7" },
        { { 1, 5, 9, 0, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, -EINVAL, "in_w is 0, must be at least 1" },
    };

    for (size_t i = 0; i < COUNT(refused); i++) {
        struct conv_problem p = { 0 };
        char why[512] = "";
        int err;

        for (size_t f = 0; f < CONV_N_FIELDS; f++)
            conv_field_set(&p, f, refused[i].value[f]);
        err = conv_problem_finish(&p, SIM_WHY(why));
        test_check(err == refused[i].err && strstr(why, refused[i].why), "%d, '%s' instead of '%s'", err, why,
                   refused[i].why);
    }
}

/* Strides and dilations that no window or tap uses twice may be as large as the address space allows. */
static void large_strides_that_fit_are_fine(void)
{
    struct conv_problem p = { IMAGES(1, 2, 3, 3), FILTERS(2, 1, 1), STRIDES(1, (size_t)1 << 40),
                              DILATIONS(1 << 10, 1 << 20), .groups = 1 };
    struct shape_check c;

    test_check(shape_check(&c, &p, 0) && c.is_accepted && c.is_run, "%s", c.why);
}

struct store_counter {
    struct sim_sink sink;
    uint64_t n_stores;
};

static void count_stores(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (size_t i = 0; i < n_runs; i++)
        ((struct store_counter *)(void *)self)->n_stores += run[i].kind == SIM_STORE ? run[i].count * n_times : 0;
}

/* A run counts its accesses in 32 bits. */
static void rows_of_more_than_2_to_the_32_are_replayed_whole(void)
{
    struct conv_problem p = { IMAGES(1, 1, 1, 1), FILTERS(1, 1, 2), PADDING(0, 5000000000, 0, 0), UNIT_STEPS,
                              .groups = 1 };
    struct conv_zero_args zero = { .n_f = 1, .n_win = 20000000003, .ld_out = 20000000003, .piece_bytes = 4 };
    struct store_counter lowered = { .sink.accept = count_stores }, cleared = { .sink.accept = count_stores };
    char why[512];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    conv_im2col_emit(&(struct conv_im2col_args){ .p = &p }, &lowered.sink);
    CU_ASSERT_EQUAL(lowered.n_stores, 2 * conv_windows(&p));
    conv_zero_emit(&zero, &cleared.sink);
    CU_ASSERT_EQUAL(cleared.n_stores, zero.n_win);
}

/* A product or a sum of the tensors' bytes is just too large, or just not. */
static void all_tensors_share_the_address_space(void)
{
    const size_t most = ((size_t)1 << SIM_ADDRESS_BITS) - CONV_REPLAY_BASE, pages = CONV_N_TENSORS * CONV_PAGE_BYTES;
    const size_t tile = CONV_MAX_WIN * sizeof(float), floats = most / sizeof(float);
    const struct {
        const char *what;
        size_t c, h, k;
        bool fits;
    } shapes[] = {
        { "a tile of windows", most / tile + 1, 1, 1, false },
        { "a tile and the pages", most / tile, 1, 1, false },
        { "input", 1, floats - pages / 4, 1, false },
        { "output", 1, 1, floats - pages / 4, false },
        { "filters", 1 << 10, 1, (floats - pages / 4) >> 10, false },
        { "filters, and packed filters", 1 << 10, 1, (floats / 10 * 6) >> 10, false },
        { "half of filters", 1 << 10, 1, (floats / 10 * 4) >> 10, true },
        { "matrix", 1, floats / 10 * 3, 1, false }, /* with input and output, and packed windows */
        { "a smaller matrix", 1, floats / 10 * 2, 1, true },
    };

    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct conv_problem p = { IMAGES(1, shapes[i].c, shapes[i].h, 1), FILTERS(shapes[i].k, 1, 1), UNIT_STEPS,
                                  .groups = 1 };
        char why[512] = "";
        int err = conv_problem_finish(&p, SIM_WHY(why));

        test_check(err == (shapes[i].fits ? 0 : -EOVERFLOW), "%s: %d, %s", shapes[i].what, err, why);
    }
}

static void shapes_differ_in_any_field(void)
{
    const struct conv_problem p = kcheck_random_problem();
    struct conv_problem other = p;

    CU_ASSERT(conv_problem_equal(&p, &other));
    for (size_t i = 0; i < CONV_N_FIELDS; i++) {
        other = p;
        conv_field_set(&other, i, conv_field(&p, i) + 1);
        test_check(!conv_problem_equal(&p, &other) && !conv_problem_equal(&other, &p), "field %zu", i);
    }
    other = p;
    other.type = CONV_BF16;
    CU_ASSERT(!conv_problem_equal(&p, &other));
}

static const struct test_case cases[] = {
    { "any shape is refused with its reason, or planned, replayed and run", any_shape_is_refused_or_works },
    { "every limit is told with its fields", every_limit_is_told_with_its_fields },
    { "large strides that fit are fine", large_strides_that_fit_are_fine },
    { "rows of more than 2^32 outputs are replayed whole", rows_of_more_than_2_to_the_32_are_replayed_whole },
    { "all tensors share the address space", all_tensors_share_the_address_space },
    { "shapes differ in any field", shapes_differ_in_any_field },
    { NULL, NULL },
};

const struct test_suite suite_shapes = { "shapes", cases };
