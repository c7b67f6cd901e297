/*
 * Checks of timed runs of plug-ins (bench/plugin/proof.c): outputs of plain loops pass, and a single wrong element is found
 * at any place. Each run has a new input. Texts and files of plug-ins are read as their authors mean them.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"
#include "experiments/bench/plugin/inside.h"
#include "kernels/conv_naive.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

static size_t draw(size_t least, size_t most)
{
    return least + rng_u64() % (most - least + 1);
}

/* Draws a small shape: all strides, paddings, dilations and groups. */
static struct conv_problem draw_problem(void)
{
    struct conv_problem p;
    char why[200];

    do {
        const size_t groups = draw(1, 3);

        p = (struct conv_problem){ .n = draw(1, 2),
                                   .c = groups * draw(1, 3),
                                   .h = draw(1, 9),
                                   .w = draw(1, 21),
                                   .k = groups * draw(1, 3),
                                   .r = draw(1, 4),
                                   .s = draw(1, 4),
                                   .stride_h = draw(1, 3),
                                   .stride_w = draw(1, 3),
                                   .pad_top = draw(0, 5),
                                   .pad_left = draw(0, 5),
                                   .pad_bottom = draw(0, 5),
                                   .pad_right = draw(0, 5),
                                   .dilation_h = draw(1, 3),
                                   .dilation_w = draw(1, 3),
                                   .groups = groups };
    } while (conv_problem_finish(&p, SIM_WHY(why)));
    return p;
}

static size_t n_in(const struct conv_problem *p)
{
    return p->n * p->c * p->h * p->w;
}

static size_t n_filters(const struct conv_problem *p)
{
    return p->k * conv_reduction(p);
}

static size_t n_out(const struct conv_problem *p)
{
    return p->n * p->k * conv_windows(p);
}

/* A convolution by plain loops. */
struct done {
    struct conv_problem p;
    float *in, *filters, *out;
};

static struct done compute(uint64_t seed)
{
    struct done d = { .p = draw_problem() };
    double *plane = exp_new(conv_windows(&d.p), sizeof *plane);

    d.in = exp_new(n_in(&d.p), sizeof *d.in);
    d.filters = exp_new(n_filters(&d.p), sizeof *d.filters);
    d.out = exp_new(n_out(&d.p), sizeof *d.out);
    exp_input_renew(d.in, n_in(&d.p), seed);
    exp_tensors_fill(d.filters, n_filters(&d.p) * sizeof *d.filters, EXP_TENSORS_FILTER_SEED);
    for (size_t i = 0; i < d.p.n * d.p.k; i++) {
        conv_naive_plane(&d.p, d.in, d.filters, i / d.p.k, i % d.p.k, plane, NULL);
        for (size_t w = 0; w < conv_windows(&d.p); w++)
            d.out[i * conv_windows(&d.p) + w] = (float)plane[w];
    }
    free(plane);
    return d;
}

static void release(struct done *d)
{
    free(d->in);
    free(d->filters);
    free(d->out);
}

static bool prove(const struct done *d, uint64_t seed, char *text, size_t bytes)
{
    const struct plugin_images images = { d->in, d->filters, d->out };

    return plugin_prove(&d->p, &images, seed % 2 == 0, seed, text, bytes);
}

static void test_right_is_proven(void)
{
    for (unsigned i = 0; i < test_rounds(400); i++) {
        struct done d = compute(i);
        char text[200] = "";

        test_check(prove(&d, i, text, sizeof text), "round %u: %s", i, text);
        release(&d);
    }
}

static void test_wrong_is_found(void)
{
    for (unsigned i = 0; i < test_rounds(400); i++) {
        struct done d = compute(i);
        const size_t at = rng_u64() % n_out(&d.p);
        const float right = d.out[at];
        char text[200] = "", named[64];

        d.out[at] = i % 3 == 0 ? (float)NAN : i % 3 == 1 ? right + 1 : -right - 1;
        snprintf(named, sizeof named, "output element %zu is", at);
        test_check(!prove(&d, i, text, sizeof text), "round %u: element %zu of %zu is %g, not %g: not found", i, at,
                   n_out(&d.p), (double)d.out[at], (double)right);
        test_check(strstr(text, named) != NULL, "round %u: '%s' is not '%s'", i, text, named);
        release(&d);
    }
}

/* Winograd's and Fourier's outputs are rounded otherwise. */
static void test_rounded_is_right(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        struct done d = compute(i);
        char text[200] = "";

        for (size_t k = 0; k < n_out(&d.p); k++)
            d.out[k] *= 1 + (float)((int)(rng_u64() % 9) - 4) * 0x1p-23F;
        test_check(prove(&d, i, text, sizeof text), "round %u: %s", i, text);
        release(&d);
    }
}

static void test_inputs_differ(void)
{
    enum { N = 1000 };
    float a[N], b[N], c[N];
    size_t n_same = 0, n_changed = 0, n_spoiled = 0;

    exp_input_renew(a, N, 4);
    exp_input_renew(b, N, 6);
    for (size_t i = 0; i < N; i++) {
        n_same += a[i] == b[i];
        CU_ASSERT(a[i] == rintf(a[i]) && fabsf(a[i]) <= 4);
    }
    CU_ASSERT(n_same < N / 5);
    exp_input_renew(b, N, 4);
    CU_ASSERT(!memcmp(a, b, sizeof a));
    exp_input_change(b, N, 4);
    memcpy(c, b, sizeof b);
    exp_output_spoil_some(c, N, 4);
    for (size_t i = 0; i < N; i++) {
        n_changed += a[i] != b[i];
        n_spoiled += isnan(c[i]) != 0;
        CU_ASSERT(a[i] == b[i] || isnan(c[i])); /* the changed lines are the spoilt lines */
    }
    CU_ASSERT(n_changed > N / 32 && n_changed < N / 8);
    CU_ASSERT(n_spoiled > N / 32 && n_spoiled < N / 8);
    exp_output_spoil(a, N);
    for (size_t i = 0; i < N; i++)
        CU_ASSERT(isnan(a[i]));
    exp_input_renew(a, 3, 5); /* multiples that 16 bits cannot hold */
    CU_ASSERT(a[0] == 0 || a[0] != rintf(a[0]));
}

static void test_files(void)
{
    static const char *const devices[] = { "/dev/zero", "/dev/null" };
    char path[300];
    uint64_t hash = 0;

    snprintf(path, sizeof path, "%s", scratch_path("pipe"));
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(exp_hash_file(&hash, path), -EINVAL);
    CU_ASSERT_PTR_NULL(exp_file_open(path));
    unlink(path);
    for (size_t i = 0; i < COUNT(devices); i++)
        CU_ASSERT_EQUAL(exp_hash_file(&hash, devices[i]), -EINVAL);
    CU_ASSERT_EQUAL(exp_hash_file(&hash, "tests"), -EISDIR);
    CU_ASSERT_EQUAL(exp_hash_file(&hash, "/nowhere/at-all"), -ENOENT);
    CU_ASSERT_EQUAL(exp_hash_file(&hash, "/proc/self/exe"), 0);
}

static const struct test_case cases[] = {
    { "outputs by plain loops are proven", test_right_is_proven },
    { "one wrong element is found and named", test_wrong_is_found },
    { "what is rounded otherwise is right", test_rounded_is_right },
    { "each seed has another input; some lines change, and the same are spoiled", test_inputs_differ },
    { "pipes, devices and folders are no files", test_files },
    { NULL, NULL },
};

const struct test_suite suite_plugin_proof = { "plugin_proof", cases };
