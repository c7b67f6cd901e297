/* oneDNN, called by the project, computes the requested operation. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "experiments/papers/polydl/time/dnnl.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* Calls a check with the library, or skips the test where there is none. */
static void with_library(void (*check)(const struct exp_dnnl *d))
{
    struct exp_dnnl *d;
    struct exp_why why;

    if (exp_dnnl_load(&d, &why)) {
        CU_ASSERT(*why.text);
        test_skip("%s", why.text);
        return;
    }
    check(d);
    exp_dnnl_unload(d);
}

/* ---- convolutions ---- */

/*
 * Runs a convolution into NCHW outputs. oneDNN has an implementation for every convolution drawn here: a refusal means
 * that the request was wrong, and fails.
 */
static bool run_conv(const struct exp_dnnl *d, const struct kcheck *k, const char *record, struct kbuffer *out,
                     size_t n_out)
{
    struct exp_dnnl_op *op;
    struct exp_why why;
    int err;

    memset(out->data, 0xff, n_out * sizeof(float));
    err = exp_dnnl_open(&op, d, record, &k->p, k->in, k->filter, out->data, &why);
    test_check(!err, "%s, %s: %s", kcheck_describe(&k->p), record, why.text);
    if (err)
        return false;
    exp_dnnl_run(op);
    exp_dnnl_fetch(op);
    exp_dnnl_close(op);
    return true;
}

static float relu6(float x)
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

/* Inputs are small integers, so results are equal, not close. */
static void check_conv(const struct exp_dnnl *d, const struct conv_problem *p, const char *record)
{
    const size_t n_out = p->n * p->k * conv_windows(p);
    struct conv_mismatch at = { 0 };
    struct kbuffer out, fused;
    struct kcheck k;

    CU_ASSERT_FATAL(kcheck_init(&k, p, true) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&out, n_out) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&fused, n_out) == 0);
    if (run_conv(d, &k, record, &out, n_out))
        test_check(!conv_naive_compare(p, k.in, k.filter, out.data, true, &at), "%s, %s: element %zu is %g, must be %g",
                   kcheck_describe(p), record, at.index, at.got, at.want);
    if (run_conv(d, &k, "relu6", &fused, n_out)) {
        size_t i = 0;

        while (i < n_out && fused.data[i] == relu6(out.data[i]))
            i++;
        test_check(i == n_out, "%s: ReLU6 of element %zu", kcheck_describe(p), i);
    }
    kbuffer_release(&fused);
    kbuffer_release(&out);
    kcheck_release(&k);
}

static void check_convs(const struct exp_dnnl *d)
{
    static const char *const records[] = { "conv_plugin", "reorder", "blocked" };

    for (unsigned round = 0; round < test_rounds(40); round++) {
        struct conv_problem p = kcheck_random_problem();

        for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
            check_conv(d, &p, records[i]);
    }
}

static void convolutions_are_right(void)
{
    with_library(check_convs);
}

/* ---- batch normalisation ---- */

enum { MOST_C = 64, MOST_ELEMS = 50, MOST_N = 3, MOST = MOST_N * MOST_C * MOST_ELEMS };

enum { GAMMA, BETA, MEAN, VARIANCE, N_STATISTICS };

/* Normalises an element by the definition: by the statistics of the element's channel, which are c apart. */
static double normalised(const float *s, size_t c, double x)
{
    const double y =
        (x - (double)s[MEAN * c]) / sqrt((double)s[VARIANCE * c] + 1e-5) * (double)s[GAMMA * c] + (double)s[BETA * c];

    return y < 0 ? 0 : y;
}

static void check_bnorm(const struct exp_dnnl *d)
{
    const size_t block = exp_dnnl_block(d);
    const struct conv_problem p = { .n = (size_t)rng_range(1, MOST_N),
                                    .k = block * (size_t)rng_range(1, (int64_t)(MOST_C / block)),
                                    .p = (size_t)rng_range(1, MOST_ELEMS),
                                    .q = 1,
                                    .groups = 1 };
    static float in[MOST], out[MOST], statistics[N_STATISTICS * MOST_C];
    struct exp_dnnl_op *op;
    struct exp_why why = { "" };

    for (size_t i = 0; i < N_STATISTICS * p.k; i++)
        statistics[i] = (float)rng_range(i < VARIANCE * p.k ? -64 : 1, 64) / 32;
    for (size_t i = 0; i < MOST; i++)
        in[i] = (float)rng_range(-100, 100) / 16;
    test_check(!exp_dnnl_open(&op, d, "bnorm_relu", &p, in, statistics, out, &why), "%s", why.text);
    if (!op)
        return;
    exp_dnnl_run(op);
    for (size_t i = 0; i < p.n * p.k * p.p; i++) {
        const size_t c = i / block / p.p * block % p.k + i % block;

        CU_ASSERT_DOUBLE_EQUAL((double)out[i], normalised(statistics + c, p.k, (double)in[i]),
                               5 * 96 * FLT_EPSILON / 2); /* five roundings of at most (6.25 + 2) * 2 * sqrt(32) + 2 */
    }
    exp_dnnl_close(op);
}

static void check_bnorms(const struct exp_dnnl *d)
{
    const struct conv_problem odd = { .n = 1, .k = 3, .p = 4, .q = 1, .groups = 1 };
    struct exp_dnnl_op *op;
    struct exp_why why = { "" };

    for (unsigned round = 0; round < test_rounds(40); round++)
        check_bnorm(d);
    CU_ASSERT_EQUAL(exp_dnnl_open(&op, d, "bnorm_relu", &odd, NULL, NULL, NULL, &why), -ENOTSUP);
    CU_ASSERT_STRING_EQUAL(why.text, "oneDNN: bnorm_relu: no implementation");
}

static void batch_normalisation_is_right(void)
{
    with_library(check_bnorms);
}

static const struct test_case cases[] = {
    { "oneDNN's convolutions are right, activations included", convolutions_are_right },
    { "oneDNN's batch normalisation is right", batch_normalisation_is_right },
    { NULL, NULL },
};

const struct test_suite suite_dnnl = { "dnnl", cases };
