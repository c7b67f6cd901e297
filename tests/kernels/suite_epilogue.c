/*
 * Epilogues of every instruction set, and batch normalisation by epilogues, against plain arithmetic: equal in every
 * bit.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bnorm.h"
#include "tests/kernels/kcheck.h"
#include "tests/rng.h"
#include "tests/suites.h"

static float activate(float x, enum conv_activation a)
{
    if (isnan(x) || a == CONV_ACTIVATION_NONE)
        return x;
    if (x < 0)
        return 0;
    return a == CONV_ACTIVATION_RELU6 && x > 6 ? 6 : x;
}

/* Fills with numbers around the activations' limits, and a few NaNs. */
static void fill(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = rng_below(50) ? (float)rng_range(-120, 120) / 16 : rng_below(2) ? NAN : INFINITY;
}

enum { OUT, IN, SCALE, BIAS, RESIDUAL, N_TENSORS };

struct tensors {
    struct kbuffer buffer[N_TENSORS];
    uint64_t address[N_TENSORS]; /* 0: left out */
    float *wanted;
};

static bool is_there(const struct tensors *t, int tensor)
{
    return t->address[tensor];
}

static float expected(const struct tensors *t, size_t at, size_t filter, enum conv_activation a)
{
    float x = t->buffer[is_there(t, IN) ? IN : OUT].data[at];

    if (is_there(t, SCALE))
        x *= t->buffer[SCALE].data[filter];
    if (is_there(t, BIAS))
        x += t->buffer[BIAS].data[filter];
    if (is_there(t, RESIDUAL))
        x += t->buffer[RESIDUAL].data[at];
    return activate(x, a);
}

static void setup(struct tensors *t, const size_t elems[N_TENSORS])
{
    for (int i = 0; i < N_TENSORS; i++) {
        CU_ASSERT_FATAL(kbuffer_init(&t->buffer[i], elems[i]) == 0);
        fill(t->buffer[i].data, elems[i]);
        t->address[i] = i == OUT || rng_below(2) ? (uintptr_t)t->buffer[i].data : 0;
    }
    t->wanted = malloc(elems[OUT] * sizeof(float));
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->wanted);
    memcpy(t->wanted, t->buffer[OUT].data, elems[OUT] * sizeof(float));
}

static void release(struct tensors *t)
{
    for (int i = 0; i < N_TENSORS; i++)
        kbuffer_release(&t->buffer[i]);
    free(t->wanted);
}

/* Compares bits, but for NaN's, whose payloads may differ. */
static unsigned count_wrong(const float *a, const float *b, size_t n)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong += isnan(a[i]) || isnan(b[i]) ? !isnan(a[i]) != !isnan(b[i]) : !!memcmp(&a[i], &b[i], sizeof *a);
    return wrong;
}

static void check_tile(const struct conv_epilogue_kernel *k)
{
    const size_t n_f = (size_t)rng_range(1, 9), n_win = (size_t)rng_range(1, 70), ld = n_win + rng_below(3);
    const enum conv_activation activation = (enum conv_activation)rng_below(CONV_N_ACTIVATIONS);
    struct tensors t;

    setup(&t, (const size_t[]){ n_f * ld, n_f * ld, n_f, n_f, n_f * ld });
    for (size_t f = 0; f < n_f; f++) {
        for (size_t i = f * ld; i < f * ld + n_win; i++)
            t.wanted[i] = expected(&t, i, f, activation);
    }
    k->fn(&(struct conv_epilogue_args){
        .out = t.address[OUT],
        .in = t.address[IN],
        .scale = t.address[SCALE],
        .bias = t.address[BIAS],
        .residual = t.address[RESIDUAL],
        .ld_out = ld,
        .n_f = n_f,
        .n_win = n_win,
        .activation = activation,
    });
    test_check(!count_wrong(t.buffer[OUT].data, t.wanted, n_f * ld), "%zu lanes, %zu x %zu: %u outputs wrong", k->lanes,
               n_f, n_win, count_wrong(t.buffer[OUT].data, t.wanted, n_f * ld));
    release(&t);
}

static void tiles_are_right(void)
{
    for (size_t i = 0; i < conv_epilogue_count(); i++) {
        const struct conv_epilogue_kernel *k = conv_epilogue_at(i);

        for (unsigned r = 0; k->fn && sim_cpu_has(k->isa) && r < test_rounds(300); r++)
            check_tile(k);
    }
}

static void check_bnorm(void)
{
    const struct conv_bnorm shape = { .n = (size_t)rng_range(1, 3),
                                      .c = (size_t)rng_range(1, 9),
                                      .elems = (size_t)rng_range(1, 60) };
    const size_t n = shape.n * shape.c * shape.elems;
    struct conv_bnorm b = shape;
    struct tensors t;

    setup(&t, (const size_t[]){ n, n, shape.c, shape.c, n });
    t.address[RESIDUAL] = 0;
    b.activation = (enum conv_activation)rng_below(CONV_N_ACTIVATIONS);
    b.out = t.address[OUT];
    b.in = is_there(&t, IN) ? t.address[IN] : t.address[OUT];
    b.scale = t.address[SCALE];
    b.shift = t.address[BIAS];
    for (size_t i = 0; i < n; i++)
        t.wanted[i] = expected(&t, i, i / shape.elems % shape.c, b.activation);
    conv_bnorm_run(&b, conv_epilogue_best(), NULL);
    CU_ASSERT_EQUAL(count_wrong(t.buffer[OUT].data, t.wanted, n), 0);
    release(&t);
}

static void batch_normalisation_is_right(void)
{
    for (unsigned r = 0; r < test_rounds(200); r++)
        check_bnorm();
}

/* Folded statistics agree with the definition, within the rounding of a few operations. */
static void statistics_are_folded(void)
{
    for (unsigned r = 0; r < test_rounds(200); r++) {
        const float gamma = (float)rng_range(-100, 100) / 32, beta = (float)rng_range(-100, 100) / 32;
        const float mean = (float)rng_range(-100, 100) / 32, variance = (float)rng_range(0, 100) / 32;
        const struct conv_bnorm_statistics s = { &gamma, &beta, &mean, &variance, 1e-5F };
        const double x = (double)rng_range(-100, 100) / 16;
        const double wanted = (x - (double)mean) / sqrt((double)variance + 1e-5) * (double)gamma + (double)beta;
        float scale, shift;

        conv_bnorm_fold(&s, 1, &scale, &shift);
        CU_ASSERT_DOUBLE_EQUAL(x * (double)scale + (double)shift, wanted,
                               1e-6 * (1 + fabs((double)beta) + (fabs(x) + fabs((double)mean)) * fabs((double)scale)));
    }
}

static const struct test_case cases[] = {
    { "tiles of every instruction set are right in every bit", tiles_are_right },
    { "batch normalisation is right, in place or not", batch_normalisation_is_right },
    { "statistics are folded into scale and shift", statistics_are_folded },
    { NULL, NULL },
};

const struct test_suite suite_epilogue = { "epilogue", cases };
