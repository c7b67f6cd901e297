/* oneDNN, called by the project, computes the requested operation. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "experiments/papers/polydl/time/dnnl.h"
#include "kernels/bnorm.h"
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
 * Runs a convolution into NCHW outputs. Returns whether the convolution ran; name gets the implementation's name.
 * oneDNN has an implementation for every convolution drawn here: a refusal means that the request was wrong, and fails.
 */
static bool run_conv(const struct exp_dnnl *d, const struct kcheck *k, enum exp_dnnl_layout layout,
                     enum conv_activation activation, struct kbuffer *out, size_t n_out, char name[64])
{
    const struct exp_dnnl_layer layer = { layout, &k->p, activation, k->in, k->filter, out->data };
    struct exp_dnnl_conv *c;
    struct exp_why why;
    int err;

    memset(out->data, 0xff, n_out * sizeof(float));
    err = exp_dnnl_conv_new(&c, d, &layer, &why);
    test_check(!err, "%s, layout %d: %s", kcheck_describe(&k->p), (int)layout, why.text);
    if (err)
        return false;
    CU_ASSERT(*exp_dnnl_impl(c));
    strcpy(name, exp_dnnl_impl(c));
    CU_ASSERT_EQUAL(exp_dnnl_run(c), 0);
    CU_ASSERT_EQUAL(exp_dnnl_fetch(c), 0);
    exp_dnnl_conv_free(c);
    return true;
}

static float activate(float x, enum conv_activation a)
{
    x = a != CONV_ACTIVATION_NONE && x < 0 ? 0 : x;
    return a == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

/* Inputs are small integers, so results are equal, not close. */
static void check_conv(const struct exp_dnnl *d, const struct conv_problem *p, enum exp_dnnl_layout layout)
{
    const size_t n_out = p->n * p->k * conv_windows(p);
    const enum conv_activation activation = (enum conv_activation)rng_below(CONV_N_ACTIVATIONS);
    struct conv_mismatch at = { 0 };
    struct kbuffer out, fused;
    struct kcheck k;
    char name[64];
    bool is_run;

    CU_ASSERT_FATAL(kcheck_init(&k, p, true) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&out, n_out) == 0);
    CU_ASSERT_FATAL(kbuffer_init(&fused, n_out) == 0);
    is_run = run_conv(d, &k, layout, CONV_ACTIVATION_NONE, &out, n_out, name);
    if (is_run) {
        test_check(!conv_naive_compare(p, k.in, k.filter, out.data, true, &at),
                   "%s, layout %d (%s): element %zu is %g, must be %g", kcheck_describe(p), (int)layout, name, at.index,
                   at.got, at.want);
    }
    if (is_run && run_conv(d, &k, layout, activation, &fused, n_out, name)) {
        size_t i = 0;

        while (i < n_out && fused.data[i] == activate(out.data[i], activation))
            i++;
        test_check(i == n_out, "%s, %s: activation %d of element %zu", kcheck_describe(p), name, (int)activation, i);
    }
    kbuffer_release(&fused);
    kbuffer_release(&out);
    kcheck_release(&k);
}

static void check_convs(const struct exp_dnnl *d)
{
    for (unsigned round = 0; round < test_rounds(40); round++) {
        struct conv_problem p = kcheck_random_problem();

        for (int layout = 0; layout < 3; layout++)
            check_conv(d, &p, (enum exp_dnnl_layout)layout);
    }
}

static void convolutions_are_right(void)
{
    with_library(check_convs);
}

/* ---- batch normalisation ---- */

enum { MOST_C = 64, MOST_ELEMS = 50, MOST_N = 3, MOST = MOST_N * MOST_C * MOST_ELEMS };

struct statistics {
    float gamma[MOST_C], beta[MOST_C], mean[MOST_C], variance[MOST_C];
};

static void draw(struct statistics *s)
{
    for (size_t i = 0; i < MOST_C; i++) {
        s->gamma[i] = (float)rng_range(-64, 64) / 32;
        s->beta[i] = (float)rng_range(-64, 64) / 32;
        s->mean[i] = (float)rng_range(-64, 64) / 32;
        s->variance[i] = (float)rng_range(1, 64) / 32;
    }
}

/* Normalises an element by the definition. */
static double normalised(const struct statistics *s, size_t c, float epsilon, double x, enum conv_activation a)
{
    const double y = (x - (double)s->mean[c]) / sqrt((double)s->variance[c] + (double)epsilon) * (double)s->gamma[c] +
                     (double)s->beta[c];

    return a == CONV_ACTIVATION_RELU && y < 0 ? 0 : y;
}

static void check_bnorm(const struct exp_dnnl *d)
{
    const size_t block = exp_dnnl_bnorm_block();
    const struct conv_bnorm shape = {
        .n = (size_t)rng_range(1, MOST_N),
        .c = block * (size_t)rng_range(1, (int64_t)(MOST_C / block)),
        .elems = (size_t)rng_range(1, MOST_ELEMS),
        .activation = rng_below(2) ? CONV_ACTIVATION_RELU : CONV_ACTIVATION_NONE,
    };
    static float in[MOST], out[MOST];
    struct statistics drawn;
    const struct conv_bnorm_statistics s = { drawn.gamma, drawn.beta, drawn.mean, drawn.variance, 1e-5F };
    struct exp_dnnl_bnorm *b;
    struct exp_why why = { "" };

    draw(&drawn);
    for (size_t i = 0; i < MOST; i++)
        in[i] = (float)rng_range(-100, 100) / 16;
    test_check(!exp_dnnl_bnorm_new(&b, d, &shape, &s, in, out, &why), "%s", why.text);
    if (!b)
        return;
    CU_ASSERT_EQUAL(exp_dnnl_bnorm_run(b), 0);
    for (size_t i = 0; i < shape.n * shape.c * shape.elems; i++) {
        const size_t c = i / block / shape.elems * block % shape.c + i % block;

        CU_ASSERT_DOUBLE_EQUAL((double)out[i], normalised(&drawn, c, s.epsilon, (double)in[i], shape.activation),
                               5 * 96 * FLT_EPSILON / 2); /* five roundings of at most (6.25 + 2) * 2 * sqrt(32) + 2 */
    }
    exp_dnnl_bnorm_free(b);
}

static void check_bnorms(const struct exp_dnnl *d)
{
    const struct conv_bnorm odd = { .n = 1, .c = 3, .elems = 4 };
    const struct conv_bnorm_statistics none = { 0 };
    struct exp_dnnl_bnorm *b;
    struct exp_why why = { "" };

    for (unsigned round = 0; round < test_rounds(40); round++)
        check_bnorm(d);
    CU_ASSERT_EQUAL(exp_dnnl_bnorm_new(&b, d, &odd, &none, NULL, NULL, &why), -ENOTSUP);
    CU_ASSERT_STRING_EQUAL(why.text, "oneDNN: batch normalisation of 3 channels: no implementation");
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
