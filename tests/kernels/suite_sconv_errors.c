/* The library's refusals, with error and reason; nothing is left behind. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_alloc.h"
#include "tests/kernels/sconv_small.h"
#include "tests/suites.h"

static float weights[SMALL_WEIGHTS], in[SMALL_IN], out[SMALL_OUT];

static void expect_refused(int want, const struct sconv_shape *s, const float *w, const struct sconv_options *o,
                           const char *what)
{
    struct sconv_plan *plan = (struct sconv_plan *)(void *)in;
    int err = sconv_plan_create(&plan, s, NULL, w, o);

    char why[512] = "";

    test_check(err == want && !plan, "%s: %d, plan %s", what, err, plan ? "made" : "NULL");
    test_check(sconv_plan_check(s, NULL, w, o, why, sizeof why) == want && *why && !strchr(why, '\n') &&
                   sconv_plan_check(s, NULL, w, o, NULL, 0) == want,
               "%s: the reason is '%s'", what, why);
    if (!err)
        sconv_plan_free(plan);
}

static void bad_shapes_are_refused(void)
{
    static const size_t offsets[] = {
        offsetof(struct sconv_shape, batch),      offsetof(struct sconv_shape, in_c),
        offsetof(struct sconv_shape, in_h),       offsetof(struct sconv_shape, in_w),
        offsetof(struct sconv_shape, out_c),      offsetof(struct sconv_shape, k_h),
        offsetof(struct sconv_shape, k_w),        offsetof(struct sconv_shape, stride_h),
        offsetof(struct sconv_shape, stride_w),   offsetof(struct sconv_shape, dilation_h),
        offsetof(struct sconv_shape, dilation_w), offsetof(struct sconv_shape, groups),
    };
    static const size_t sizes[] = { offsetof(struct sconv_shape, batch),    offsetof(struct sconv_shape, in_c),
                                    offsetof(struct sconv_shape, in_h),     offsetof(struct sconv_shape, out_c),
                                    offsetof(struct sconv_shape, pad_left), offsetof(struct sconv_shape, stride_h),
                                    offsetof(struct sconv_shape, stride_w), offsetof(struct sconv_shape, dilation_w) };
    struct sconv_shape flat = sconv_small;

    for (size_t i = 0; i < COUNT(offsets); i++) {
        struct sconv_shape s = sconv_small;

        *(size_t *)(void *)((char *)&s + offsets[i]) = 0;
        expect_refused(-EINVAL, &s, weights, NULL, "a 0");
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct sconv_shape s = sconv_small;

        *(size_t *)(void *)((char *)&s + sizes[i]) = (size_t)-3;
        expect_refused(-EOVERFLOW, &s, weights, NULL, "a negative size");
    }
    flat.in_h = 2;
    flat.pad_top = flat.pad_bottom = 0;
    expect_refused(-EINVAL, &flat, weights, NULL, "a filter too large");
}

static void bad_arguments_are_refused(void)
{
    const float *odd = (const float *)(uintptr_t)((uintptr_t)weights + 1);
    struct sconv_shape groups = sconv_small;

    groups.groups = 2;
    expect_refused(-EINVAL, &groups, weights, NULL, "groups that do not divide");
    expect_refused(-EINVAL, NULL, weights, NULL, "no shape");
    expect_refused(-EINVAL, &sconv_small, NULL, NULL, "no weights");
    expect_refused(-EINVAL, &sconv_small, odd, NULL, "weights at an odd address");
    expect_refused(-EINVAL, &sconv_small, weights, &(struct sconv_options){ .bias = odd }, "a bias at an odd address");
    expect_refused(-EINVAL, &sconv_small, weights, &(struct sconv_options){ .activation = (enum sconv_activation)3 },
                   "an activation");
    expect_refused(-EINVAL, &sconv_small, weights, &(struct sconv_options){ .threads = SCONV_MAX_THREADS + 1 },
                   "threads");
    CU_ASSERT_EQUAL(sconv_plan_create(NULL, &sconv_small, NULL, weights, NULL), -EINVAL);
    CU_ASSERT_EQUAL(sconv_machine_create(NULL, NULL, NULL, 0), -EINVAL);
    CU_ASSERT_EQUAL(sconv_workspace_bytes(NULL), 0);
    CU_ASSERT_EQUAL(sconv_plan_describe(NULL, NULL, 0), 0);
    sconv_plan_free(NULL);
    sconv_machine_free(NULL);
}

static void bad_runs_are_refused(void)
{
    struct sconv_plan *plan, *adding;
    const struct sconv_options adds = { .adds_residual = 1 };
    float *odd = (float *)(uintptr_t)((uintptr_t)out + 2);
    size_t bytes;
    void *ws;

    CU_ASSERT_FATAL(sconv_plan_create(&plan, &sconv_small, NULL, weights, NULL) == 0);
    CU_ASSERT_FATAL(sconv_plan_create(&adding, &sconv_small, NULL, weights, &adds) == 0);
    bytes = sconv_workspace_bytes(plan);
    ws = calloc(1, bytes);
    CU_ASSERT_FATAL(ws != NULL);
    out[0] = 12345;
    CU_ASSERT_EQUAL(sconv_run(NULL, in, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, NULL, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, NULL, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, NULL, NULL, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, odd, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, odd, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, NULL, ws, bytes - 1), -ENOBUFS);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, in, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(adding, in, out, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(adding, in, out, out, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, in + 1, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(sconv_run(plan, in, ws, NULL, ws, bytes), -EINVAL);
    CU_ASSERT_EQUAL(out[0], 12345);
    CU_ASSERT_EQUAL(sconv_run(plan, in, out, NULL, ws, bytes), 0);
    CU_ASSERT_EQUAL(out[0], 0);
    free(ws);
    sconv_plan_free(plan);
    sconv_plan_free(adding);
}

/* The reason names the culprit; arguments that run are fine. */
static void reasons_name_the_culprit(void)
{
    const struct sconv_options busy = { .threads = 65 };
    struct sconv_shape odd = sconv_small;
    struct sconv_plan *plan;
    char why[256] = "", ws[1];

    odd.stride_w = (size_t)-3;
    CU_ASSERT_EQUAL(sconv_plan_check(&odd, NULL, weights, NULL, why, sizeof why), -EOVERFLOW);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "stride_w 18446744073709551613"));
    CU_ASSERT_EQUAL(sconv_plan_check(&sconv_small, NULL, weights, &busy, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "threads is 65, must be at most 64");
    CU_ASSERT_EQUAL(sconv_plan_check(&sconv_small, NULL, weights, &busy, why, 8), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "threads");
    CU_ASSERT_EQUAL(sconv_plan_check(&sconv_small, NULL, weights, NULL, NULL, 5), -EINVAL);
    CU_ASSERT_EQUAL(sconv_plan_check(&sconv_small, NULL, weights, NULL, why, sizeof why), 0);
    CU_ASSERT_FATAL(sconv_plan_create(&plan, &sconv_small, NULL, weights, NULL) == 0);
    CU_ASSERT_EQUAL(sconv_run_check(plan, in, out, NULL, ws, 1, why, sizeof why), -ENOBUFS);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "workspace_bytes is 1, must be at least "));
    CU_ASSERT_EQUAL(sconv_run_check(plan, in, out, in, ws, SIZE_MAX, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "residual is not NULL, but the plan adds none");
    CU_ASSERT_EQUAL(sconv_run_check(plan, in, in + 1, NULL, ws, SIZE_MAX, why, sizeof why), -EINVAL);
    CU_ASSERT_STRING_EQUAL(why, "dst overlaps src");
    sconv_plan_free(plan);
}

static void errors_have_texts(void)
{
    static const int known[] = { 0, -EINVAL, -EOVERFLOW, -ENOBUFS, -ENOTSUP, -ENOMEM, -ENOENT, -EACCES, -EISDIR };

    for (size_t i = 0; i < COUNT(known); i++) {
        CU_ASSERT(strlen(sconv_strerror(known[i])) > 0);
        CU_ASSERT_STRING_NOT_EQUAL(sconv_strerror(known[i]), sconv_strerror(12345));
    }
    CU_ASSERT(strlen(sconv_strerror(12345)) > 0);
    CU_ASSERT(sconv_version()[0] >= '0' && sconv_version()[0] <= '9');
}

/*
 * Every allocation fails once, in turn, and all later allocations with it; nothing leaks (the sanitizer looks) and the
 * result is clean.
 */
static void failed_allocations_are_reported(void)
{
    const struct sconv_options o = { .bias = weights };
    struct sconv_plan *plan = NULL;
    size_t n = 0;
    int err = -ENOMEM;

    for (; n < 20 && err; n++) {
        failing_alloc_after(n);
        err = sconv_plan_create(&plan, &sconv_small, NULL, weights, &o);
        CU_ASSERT_EQUAL(failing_alloc_stop() > 0, err != 0);
        CU_ASSERT(err == 0 || (err == -ENOMEM && !plan));
    }
    CU_ASSERT_EQUAL(n, 6); /* machine, wisdom of the machine, plan, bias, packed filters: five can fail */
    sconv_plan_free(plan);
}

static void machine_files_report_their_errors(void)
{
    struct sconv_machine *m = (struct sconv_machine *)(void *)in;
    char why[160] = "";

    CU_ASSERT_EQUAL(sconv_machine_create(&m, "no/such.cfg", why, sizeof why), -ENOENT);
    CU_ASSERT(!m && strstr(why, "no/such.cfg"));
    CU_ASSERT_EQUAL(sconv_machine_create(&m, "no/such.cfg", NULL, 0), -ENOENT);
    CU_ASSERT_EQUAL(sconv_machine_create(&m, "tests/rng.h", why, sizeof why), -EINVAL);
}

static const struct test_case cases[] = {
    { "bad shapes are refused", bad_shapes_are_refused },
    { "bad arguments are refused", bad_arguments_are_refused },
    { "bad runs are refused before anything is written", bad_runs_are_refused },
    { "reasons name the culprit", reasons_name_the_culprit },
    { "every error has a text", errors_have_texts },
    { "failed allocations are reported and leave nothing behind", failed_allocations_are_reported },
    { "machine files report their errors", machine_files_report_their_errors },
    { NULL, NULL },
};

const struct test_suite suite_sconv_errors = { "sconv_errors", cases };
