/* Operators of networks that read elements at different places: sliding windows, resizing, and moves. */
#include <string.h>

#include "tests/experiments/onnx_trial.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- windows ---- */

static void set_windows(struct op_trial *t, size_t n, bool dilates)
{
    int64_t kernel[3], stride[3], dilation[3], pads[6];
    const int64_t most = rng_below(3) ? 3 : 7;

    for (size_t d = 0; d < n; d++) {
        kernel[d] = rng_range(1, n == 3 ? 3 : most);
        stride[d] = rng_range(1, 3);
        dilation[d] = dilates && !rng_below(4) ? rng_range(1, 3) : 1;
        pads[d] = rng_range(0, (kernel[d] - 1) * dilation[d]);
        pads[n + d] = rng_range(0, (kernel[d] - 1) * dilation[d]);
    }
    onnx_write_ints(t->writer, "kernel_shape", n, kernel);
    if (rng_below(4))
        onnx_write_ints(t->writer, "strides", n, stride);
    if (dilates && rng_below(2))
        onnx_write_ints(t->writer, "dilations", n, dilation);
    if (!rng_below(5))
        onnx_write_text(t->writer, "auto_pad", rng_below(2) ? "SAME_UPPER" : "SAME_LOWER");
    else if (rng_below(4))
        onnx_write_ints(t->writer, "pads", 2 * n, pads);
    if (rng_below(2))
        onnx_write_int(t->writer, "ceil_mode", 1);
}

static struct op_trial make_pool(void)
{
    static const char *const ops[] = { "MaxPool", "AveragePool", "MaxPool" };
    const size_t kind = rng_below(3), n = rng_below(4) ? 2 : 1 + rng_below(3);
    struct op_trial t = op_trial_begin(ops[kind], 11 + (int64_t)rng_below(4));
    int64_t dim[OP_TRIAL_MOST];

    op_trial_image(dim, 2 + n);
    op_trial_input(&t, 2 + n, dim);
    set_windows(&t, n, kind % 2 == 0);
    if (kind == 1 && rng_below(2))
        onnx_write_int(t.writer, "count_include_pad", 1);
    if (kind == 2 && !rng_below(3))
        t.n_outputs = 2;
    t.fill = rng_below(3) ? OP_FILL_UNIT : OP_FILL_WITH_NAN;
    t.units = kind == 1 ? 8 : 0; /* sums of up to 49 numbers below 1, and averages */
    return t;
}

static void test_pools(void)
{
    op_trial_all(make_pool, 400);
}

static struct op_trial make_global(void)
{
    static const char *const ops[] = { "GlobalMaxPool", "GlobalAveragePool" };
    struct op_trial t = op_trial_begin(ops[rng_below(2)], 13);
    int64_t dim[OP_TRIAL_MOST];

    op_trial_image(dim, 4);
    op_trial_input(&t, 4, dim);
    t.fill = rng_below(3) ? OP_FILL_UNIT : OP_FILL_WITH_NAN;
    t.units = 16;
    return t;
}

static void test_global(void)
{
    op_trial_all(make_global, 60);
}

static struct op_trial make_convolution(void)
{
    const bool is_transposed = rng_below(2);
    struct op_trial t = op_trial_begin(is_transposed ? "ConvTranspose" : "Conv", 11);
    const int64_t groups = rng_range(1, 3), channels = groups * rng_range(1, 3), each = rng_range(1, 3);
    const int64_t kernel[] = { rng_range(1, 3), rng_range(1, 3) }, filters = groups * each;

    op_trial_input(&t, 4, (const int64_t[]){ 1, channels, rng_range(3, 9), rng_range(3, 9) });
    op_trial_input(&t, 4,
                   is_transposed ? (const int64_t[]){ channels, each, kernel[0], kernel[1] }
                                 : (const int64_t[]){ filters, channels / groups, kernel[0], kernel[1] });
    if (rng_below(2))
        op_trial_input(&t, 1, &filters);
    onnx_write_int(t.writer, "group", groups);
    onnx_write_ints(t.writer, "strides", 2, (const int64_t[]){ rng_range(1, 3), rng_range(1, 3) });
    onnx_write_ints(t.writer, "dilations", 2, (const int64_t[]){ rng_range(1, 2), rng_range(1, 2) });
    onnx_write_ints(t.writer, "pads", 4,
                    (const int64_t[]){ rng_range(0, 1), rng_range(0, 2), rng_range(0, 1), rng_range(0, 2) });
    if (is_transposed)
        onnx_write_ints(t.writer, "output_padding", 2, (const int64_t[]){ 0, rng_range(0, 1) });
    t.fill = OP_FILL_SMALL_INTS;
    t.activation = (enum sconv_activation)rng_below(3);
    return t;
}

/* Conv runs by the reference, checked by the official tests: here, threads share the reference's work. */
static void test_convolutions(void)
{
    op_trial_all(make_convolution, 80);
}

static struct op_trial make_resize(void)
{
    static const char *const modes[] = { "nearest", "linear", "cubic" },
                             *const places[] = { "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel" },
                             *const rounds[] = { "floor", "ceil", "round_prefer_floor", "round_prefer_ceil" };
    struct op_trial t = op_trial_begin("Resize", 13);
    int64_t dim[OP_TRIAL_MOST];

    op_trial_image(dim, 4);
    dim[1] = 2;
    op_trial_input(&t, 4, dim);
    op_trial_no_input(&t);
    op_trial_no_input(&t);
    op_trial_constant(&t, 4, (const int64_t[]){ dim[0], dim[1], rng_range(1, 30), rng_range(1, 30) });
    onnx_write_text(t.writer, "mode", modes[rng_below(3)]);
    onnx_write_text(t.writer, "coordinate_transformation_mode", places[rng_below(4)]);
    onnx_write_text(t.writer, "nearest_mode", rounds[rng_below(4)]);
    return t;
}

static void test_resize(void)
{
    op_trial_all(make_resize, 60);
}

/* ---- moves ---- */

static void shuffle(int64_t *x, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = rng_below(i);
        const int64_t last = x[i - 1];

        x[i - 1] = x[j];
        x[j] = last;
    }
}

static void make_slice(struct op_trial *t, const int64_t *dim, size_t n)
{
    int64_t of[4][OP_TRIAL_MOST];

    for (size_t d = 0; d < n; d++) {
        of[0][d] = rng_range(-dim[d] - 2, dim[d] + 2);
        of[1][d] = rng_below(4) ? rng_range(-dim[d] - 2, dim[d] + 2) : rng_below(2) ? INT64_MAX : INT64_MIN;
        of[2][d] = (int64_t)d;
        of[3][d] = rng_below(2) ? 1 : rng_below(2) ? -1 : rng_range(2, 3);
    }
    for (size_t i = 0; i < 4; i++)
        op_trial_constant(t, n, of[i]);
}

static void make_pads(struct op_trial *t, const int64_t *dim, size_t n)
{
    static const char *const modes[] = { "constant", "reflect", "edge" };
    const size_t mode = rng_below(3);
    int64_t pads[2 * OP_TRIAL_MOST];

    for (size_t i = 0; i < 2 * n; i++)
        pads[i] = rng_below(2) ? 0 : rng_range(mode ? 0 : -1, mode == 1 ? (dim[i % n] > 3 ? 3 : 0) : 3);
    onnx_write_text(t->writer, "mode", modes[mode]);
    op_trial_constant(t, 2 * n, pads);
}

static void make_parts(struct op_trial *t, const int64_t *dim, size_t n, bool joins)
{
    const size_t axis = rng_below(n), parts = 1 + rng_below(4);
    int64_t some[OP_TRIAL_MOST], length[4], all = 0;

    memcpy(some, dim, n * sizeof *dim);
    for (size_t i = 0; i < parts; i++)
        all += length[i] = rng_range(0, 5);
    for (size_t i = 0; i < (joins ? parts : 1); i++) {
        some[axis] = joins ? length[i] : all;
        op_trial_input(t, n, some);
    }
    if (!joins)
        op_trial_constant(t, parts, length);
    onnx_write_int(t->writer, "axis", (int64_t)axis - (rng_below(2) ? (int64_t)n : 0));
    t->n_outputs = joins ? 1 : parts;
}

static struct op_trial make_move(void)
{
    static const char *const ops[] = { "Transpose",    "Slice",        "Pad",    "Expand", "Tile",
                                       "DepthToSpace", "SpaceToDepth", "Gather", "Concat", "Split" };
    const size_t kind = rng_below(COUNT(ops));
    struct op_trial t = op_trial_begin(ops[kind], 13);
    int64_t dim[OP_TRIAL_MOST], list[OP_TRIAL_MOST];
    size_t n = op_trial_shape(dim, 1, 5);

    if (kind == 5 || kind == 6) {
        n = 4;
        dim[0] = 2, dim[1] = 4 * rng_range(1, 3), dim[2] = 2 * rng_range(1, 5), dim[3] = 2 * rng_range(1, 5);
        onnx_write_int(t.writer, "blocksize", 2);
        if (kind == 5)
            onnx_write_text(t.writer, "mode", rng_below(2) ? "CRD" : "DCR");
    }
    for (size_t d = 0; d < n; d++) {
        list[d] = kind == 0   ? (int64_t)d
                  : kind == 3 ? dim[d]
                  : kind == 4 ? rng_range(1, 3)
                              : rng_range(-dim[0], dim[0] - 1);
        if (kind == 3 && rng_below(2))
            dim[d] = 1;
    }
    if (kind < 8)
        op_trial_input(&t, n, dim);
    if (kind == 0) {
        shuffle(list, n);
        onnx_write_ints(t.writer, "perm", n, list);
    } else if (kind == 1) {
        make_slice(&t, dim, n);
    } else if (kind == 2) {
        make_pads(&t, dim, n);
    } else if (kind == 3 || kind == 4 || kind == 7) {
        op_trial_constant(&t, n, list);
    } else if (kind > 7) {
        make_parts(&t, dim, n, kind == 8);
    }
    return t;
}

static void test_moves(void)
{
    op_trial_all(make_move, 400);
}

static const struct test_case cases[] = {
    { "pools are those of plain loops", test_pools },
    { "... and so are those of whole planes", test_global },
    { "what moves arrives where it should", test_moves },
    { "transposed convolutions, and threads that share out convolutions", test_convolutions },
    { "resizing", test_resize },
    { NULL, NULL },
};

const struct test_suite suite_op_places = { "op_places", cases };
