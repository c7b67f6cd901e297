/*
 * Shapes of every operator, and folded constants: networks of one node (onnx_line.h). The expected output is a word:
 *
 *     1x4x8x8 a shape; [3,4] and (1,2) constants, 3x4=0 a filled constant; !words of an error; ?words of a reason
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/experiments/onnx_line.h"
#include "tests/experiments/onnx_written.h"
#include "tests/rng.h"
#include "tests/scratch.h"
#include "tests/suites.h"

/* ---- outputs ---- */

static void print_output(const struct onnx_value *v, char *text, size_t bytes)
{
    const bool floats = v->type == ONNX_FLOAT, is_constant = onnx_is_constant(v) && !v->is_filled;
    size_t at = 0;

    if (!is_constant && !v->n_dims)
        snprintf(text, bytes, ".");
    for (size_t i = 0; i < (is_constant ? v->elements : v->n_dims) && at < bytes; i++) {
        if (is_constant)
            at += (size_t)snprintf(text + at, bytes - at, "%s%g", i ? "," : floats ? "(" : "[", onnx_element(v, i));
        else
            at += (size_t)snprintf(text + at, bytes - at, "%s%lld", i ? "x" : "", (long long)v->dim[i]);
    }
    if (v->is_filled)
        snprintf(text + at, bytes - at, "=%g", (double)v->fill);
    if (is_constant)
        snprintf(text + at, bytes - at, "%s%s", v->elements ? "" : floats ? "(" : "[", floats ? ")" : "]");
}

struct comparing {
    const struct onnx_line *line;
    const struct onnx_graph *g;
};

static void compare_output(void *ctx, const char *word, size_t i)
{
    const struct comparing *c = ctx;
    const struct onnx_value *v = onnx_out(c->g, c->g->node, i);
    char text[400] = "";

    if (v && v->has_shape)
        print_output(v, text, sizeof text);
    test_check(!strcmp(text, word), "%s %s %s: output %zu is '%s', not '%s'; %s", c->line->op, c->line->in,
               c->line->attributes, i, text, word, c->g->node->why_no_shape ? c->g->node->why_no_shape : "");
}

/* A refused line has one output. */
static struct onnx_writer *write_line(const struct onnx_line *l)
{
    struct onnx_line one = *l;

    one.out = strchr("!?", *l->out) ? "y" : l->out;
    return onnx_line_write(&one);
}

static void try_line(const struct onnx_line *l)
{
    struct onnx_graph *g = NULL;
    struct exp_why why = { "" };
    const int err = onnx_written_read(write_line(l), NULL, &g, &why);

    if (*l->out == '!')
        test_check(err == -EINVAL && strstr(why.text, "node 'node'") && strstr(why.text, l->out + 1),
                   "%s %s %s: %d, '%s', not '%s'", l->op, l->in, l->attributes, err, why.text, l->out + 1);
    else if (!test_check(!err, "%s %s %s: '%s'", l->op, l->in, l->attributes, why.text))
        return;
    else if (*l->out == '?')
        test_check(g->node->why_no_shape && strstr(g->node->why_no_shape, l->out + 1),
                   "%s %s %s: reason '%s', not '%s'", l->op, l->in, l->attributes,
                   g->node->why_no_shape ? g->node->why_no_shape : "none", l->out + 1);
    else
        onnx_line_words(l->out, compare_output, &(struct comparing){ l, g });
    onnx_free(g);
}

static void try_lines(const struct onnx_line *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        try_line(&line[i]);
    scratch_clear();
}

#define TRY(...)                                                                                                       \
    static const struct onnx_line lines[] = { __VA_ARGS__ };                                                           \
    try_lines(lines, COUNT(lines))

/* ---- the lines ---- */

/* clang-format off */
static void windows_have_the_outputs_of_the_standard(void)
{
    TRY({ 13, "Conv", "1x3x8x9 4x3x3x3", "", "1x4x6x7" },
        { 13, "Conv", "2x3x8x8 4x3x3x3 4", "pads=[1,1,1,1] strides=[2,2]", "2x4x4x4" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "pads=[0,1,2,3]", "1x4x8x10" },
        { 13, "Conv", "1x4x8x8 8x2x3x3", "group=2 dilations=[2,3]", "1x8x4x2" },
        { 13, "Conv", "1x3x8 4x3x3", "pads=[1,1]", "1x4x8" },
        { 13, "Conv", "1x3x4x8x8 4x3x3x3x3", "", "1x4x2x6x6" },
        { 13, "Conv", "1x1x7x7 1x1x3x3", "auto_pad='SAME_UPPER' strides=[2,2]", "1x1x4x4" },
        { 13, "Conv", "1x1x7x7 1x1x3x3", "auto_pad='VALID' pads=[1,1,1,1] strides=[2,2]", "1x1x3x3" },
        { 13, "Conv", "1x3x8x8 4x2x3x3", "", "!its filters take 2 channels in 1 groups" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "group=2", "!2 groups do not divide" },
        { 13, "Conv", "1x3x8x8 4x3x3x3 5", "", "!its bias has 5 elements" },
        { 13, "Conv", "1x3x8x8 4x3x3", "", "!its filters have 3" },
        { 13, "Conv", "1x3x8x8 4x3x9x9", "", "!its kernel spans 9" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "kernel_shape=[5,5]", "!kernel_shape says 5" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "strides=[0,1]", "!strides of 0" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "pads=[1,1]", "!pads has 2 numbers, and needs 4" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "pads=[-1,0,0,0]", "!pads of -1" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "auto_pad='SOME'", "!auto_pad 'SOME' is not known" },
        { 13, "Conv", "1x3x8x8", "", "!its input 2 is missing" },
        { 13, "ConvTranspose", "1x4x5x5 4x3x3x3", "strides=[2,2] output_padding=[1,1]", "1x3x12x12" },
        { 13, "ConvTranspose", "1x4x5x5 4x3x3x3", "strides=[2,2] output_shape=[10,9]", "1x3x10x9" },
        { 13, "ConvTranspose", "1x4x5x5 4x3x3x3", "group=2 pads=[1,1,1,1]", "1x6x5x5" },
        { 13, "ConvTranspose", "1x4x5x5 4x3x3x3", "strides=[2,2] auto_pad='SAME_UPPER'", "1x3x10x10" },
        { 13, "ConvTranspose", "1x4x5x5 4x3x2x1", "strides=[3,3] auto_pad='SAME_UPPER'", "1x3x14x13" },
        { 13, "ConvTranspose", "1x4x5x5 3x3x3x3", "", "!its filters take 3 channels" },
        { 13, "MaxPool", "1x3x8x8", "kernel_shape=[3,3] strides=[2,2]", "1x3x3x3" },
        { 13, "MaxPool", "1x3x8x8", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1", "1x3x4x4 1x3x4x4" },
        { 13, "MaxPool", "1x1x2x2", "kernel_shape=[1,1] strides=[2,2] pads=[0,0,1,1] ceil_mode=1", "1x1x2x2" },
        { 13, "MaxPool", "1x1x4x4", "kernel_shape=[1,1] strides=[3,3] pads=[0,0,1,1] ceil_mode=1", "1x1x2x2" },
        { 13, "MaxPool", "1x1x4x4", "kernel_shape=[2,2] strides=[4,4] ceil_mode=1", "1x1x1x1" },
        { 13, "MaxPool", "1x1x10x10", "kernel_shape=[3,3] dilations=[2,2]", "1x1x6x6" },
        { 13, "AveragePool", "1x3x32", "kernel_shape=[2]", "1x3x31" },
        { 13, "AveragePool", "1x3x8x8", "", "!kernel_shape of 0" },
        { 13, "LpPool", "1x3x8x8", "kernel_shape=[2,2] auto_pad='SAME_LOWER' strides=[3,3]", "1x3x3x3" },
        { 13, "MaxUnpool", "1x1x2x2 1x1x2x2", "kernel_shape=[2,2] strides=[2,2]", "1x1x4x4" },
        { 13, "MaxUnpool", "1x1x2x2 1x1x2x2 [1,1,5,5]", "kernel_shape=[2,2] strides=[2,2]", "1x1x5x5" },
        { 13, "GlobalAveragePool", "2x3x5x7", "", "2x3x1x1" },
        { 13, "GlobalMaxPool", "2x3", "", "!its input has 2 dimensions" },
        { 10, "MaxRoiPool", "1x4x9x9 6x5", "pooled_shape=[2,3]", "6x4x2x3" },
        { 13, "RoiAlign", "1x4x9x9 6x4 6", "output_height=5 output_width=2", "6x4x5x2" },
        { 16, "GridSample", "1x3x4x4 1x6x5x2", "", "1x3x6x5" },
        { 20, "GridSample", "1x3x4x4x4 1x6x5x7x3", "mode='linear'", "1x3x6x5x7" },
        { 16, "GridSample", "1x3x4x4x4 1x6x5x7x3", "", "!before opset 20 it takes planes, and its input has 5" },
        { 20, "GridSample", "1x3x4x4 1x6x5x3", "", "!it takes planes or volumes" },
        { 13, "DepthToSpace", "1x8x2x3", "blocksize=2", "1x2x4x6" },
        { 13, "DepthToSpace", "1x6x2x3", "blocksize=2", "!6 channels in blocks of 4" },
        { 13, "SpaceToDepth", "1x2x4x6", "blocksize=2", "1x8x2x3" },
        { 13, "SpaceToDepth", "1x2x5x6", "blocksize=2", "!planes of 5x6" });
}

static void planes_are_resized_by_scales_and_sizes(void)
{
    TRY({ 11, "Resize", "1x3x4x5 (0) (1,1,2,2.5)", "", "1x3x8x12" },
        { 13, "Resize", "1x3x4x5 _ (1,1,0.6,0.6)", "", "1x3x2x3" },
        { 13, "Resize", "1x3x4x5 _ _ [1,3,9,7]", "", "1x3x9x7" },
        { 18, "Resize", "1x3x4x5 _ _ [9,7]", "axes=[2,3]", "1x3x9x7" },
        { 18, "Resize", "1x3x4x5 _ (2,3)", "axes=[3,2]", "1x3x12x10" },
        { 18, "Resize", "1x3x4x5 _ _ [9,7]", "axes=[2,3] keep_aspect_ratio_policy='not_larger'", "1x3x6x7" },
        { 18, "Resize", "1x3x4x5 _ _ [9,7]", "axes=[-2,-1] keep_aspect_ratio_policy='not_smaller'", "1x3x9x11" },
        { 18, "Resize", "1x3x4x5 _ _ [9,7]", "axes=[2,3] keep_aspect_ratio_policy='odd'", "!keep_aspect_ratio_policy 'odd' is not known" },
        { 18, "Resize", "1x3x4x5 _ _ [9,7]", "axes=[2,2]", "!axis 2 of 4 dimensions is none, or stands twice" },
        { 13, "Resize", "1x3x4x5 _ 4", "", "?its scales depend on data" },
        { 13, "Resize", "1x3x4x5 _ (1,1,2)", "", "!3 scales for 4 dimensions" },
        { 13, "Resize", "1x3x4x5 _ (1,1,-1,1)", "", "!a scale of -1" },
        { 10, "Resize", "1x3x4x5 (1,1,2,2)", "", "1x3x8x10" },
        { 9, "Upsample", "1x3x4x5 (1,1,2,2)", "", "1x3x8x10" },
        { 1, "Upsample", "1x3x4x5", "height_scale=2.0 width_scale=3.0", "1x3x8x15" });
}

static void elements_are_broadcast(void)
{
    TRY({ 13, "Add", "2x3x4 3x1", "", "2x3x4" },
        { 13, "Mul", "4 2x3x1", "", "2x3x4" },
        { 13, "Add", "2x3 4x3", "", "!shapes 2x3 and 4x3 do not fit" },
        { 13, "Sub", ". 2", "", "2" },
        { 13, "Max", "2x1 1x3 4x1x1", "", "4x2x3" },
        { 13, "Less", "2 2", "", "2" },
        { 6, "Add", "2x3x4 3", "axis=1 broadcast=1", "2x3x4" },
        { 6, "Add", "2x3x4 3", "broadcast=1", "!do not fit" },
        { 6, "Add", "2x3x4 3", "axis=1", "!do not fit" },
        { 13, "Where", "2x1 1x3 1", "", "2x3" },
        { 13, "PRelu", "2x3x4x4 3x1x1", "", "2x3x4x4" },
        { 13, "PRelu", "3 2x3", "", "!do not fit" },
        { 6, "PRelu", "2x3x4x4 3", "", "2x3x4x4" },
        { 13, "Relu", "2x3", "", "2x3" },
        { 13, "Clip", "2x3 . .", "", "2x3" },
        { 13, "Cast", "2x3", "to=7", "2x3" },
        { 5, "Cast", "2x3", "to='INT64'", "2x3" },
        { 13, "Cast", "2x3", "to=99", "!type 99 is not known" },
        { 13, "Dropout", "2x3", "", "2x3 2x3" },
        { 13, "BatchNormalization", "2x3x4 3 3 3 3", "", "2x3x4" },
        { 13, "BatchNormalization", "2x3x4 3 4 3 3", "", "!its input 3 has 4 elements, and there are 3 channels" },
        { 13, "InstanceNormalization", "2x3x4 3 2", "", "!its input 3 has 2 elements" },
        { 17, "LayerNormalization", "2x3x4 4", "axis=-1", "2x3x4 2x3x1" },
        { 13, "Softmax", "2x3", "axis=2", "!axis 2 of 2" },
        { 12, "Softmax", "2x3", "axis=2", "2x3" },
        { 13, "LRN", "1x3x4x4", "size=3", "1x3x4x4" });
}

static void matrices_and_sums_have_shapes(void)
{
    TRY({ 13, "MatMul", "2x3 3x4", "", "2x4" },
        { 13, "MatMul", "5x2x3 3x4", "", "5x2x4" },
        { 13, "MatMul", "3 3x4", "", "4" },
        { 13, "MatMul", "2x3 3", "", "2" },
        { 13, "MatMul", "3 3", "", "." },
        { 13, "MatMul", "7x1x2x3 5x3x4", "", "7x5x2x4" },
        { 13, "MatMul", "2x3 4x3", "", "!do not fit" },
        { 13, "Gemm", "2x3 3x4 4", "", "2x4" },
        { 13, "Gemm", "3x2 4x3", "transA=1 transB=1", "2x4" },
        { 13, "Gemm", "2x3 4x3", "", "!do not fit" },
        { 13, "Gemm", "2x3 3x4 3", "", "!does not fit a product of 2x4" },
        { 13, "ReduceSum", "2x3x4 [1]", "", "2x1x4" },
        { 13, "ReduceSum", "2x3x4 [-1,0]", "keepdims=0", "3" },
        { 13, "ReduceSum", "2x3x4", "noop_with_empty_axes=1", "2x3x4" },
        { 13, "ReduceSum", "2x3x4 1", "", "?its 'axes' depends on data" },
        { 13, "ReduceMean", "2x3x4", "axes=[1] keepdims=0", "2x4" },
        { 13, "ReduceMax", "2x3x4", "keepdims=0", "." },
        { 18, "ReduceMean", "2x3x4 [2]", "", "2x3x1" },
        { 13, "ReduceMax", "2x3", "axes=[0,-2]", "!axis 0 stands twice" },
        { 13, "ArgMax", "2x3x4", "axis=1", "2x1x4" },
        { 13, "ArgMin", "2x3x4", "axis=-1 keepdims=0", "2x3" },
        { 13, "ArgMax", "2x3x4", "axis=3", "!axis 3 of 3" },
        { 13, "TopK", "2x7 [3]", "", "2x3 2x3" },
        { 9, "TopK", "2x7", "k=3 axis=0", "!3 of 2" },
        { 13, "Det", "2x3x3", "", "2" });
}

static void elements_are_moved(void)
{
    TRY({ 13, "Concat", "2x3 2x4", "axis=1", "2x7" },
        { 13, "Concat", "2x3 2x4", "axis=-2", "!its input 2 does not fit the first" },
        { 3, "Concat", "2x3 2x4", "", "2x7" },
        { 4, "Concat", "2x3 2x4", "", "!it has no axis" },
        { 13, "Split", "2x6", "axis=1", "2x2 2x2 2x2" },
        { 13, "Split", "2x6 [4,2]", "axis=1", "2x4 2x2" },
        { 11, "Split", "2x6", "axis=1 split=[1,5]", "2x1 2x5" },
        { 18, "Split", "7", "num_outputs=3", "3 3 1" },
        { 18, "Split", "7", "num_outputs=3", "!its num_outputs is 3, and it has 1" },
        { 18, "Split", "7 [4,3]", "num_outputs=2", "!it says both its parts and num_outputs" },
        { 13, "Split", "2x6 [4]", "axis=1", "!its parts are not 6 together" },
        { 13, "Slice", "10x8 [1,2] [9,6]", "", "8x4" },
        { 13, "Slice", "10x8 [-1] [-100] [0] [-3]", "", "4x8" },
        { 13, "Slice", "10x8 [0] [100] [-1] [3]", "", "10x3" },
        { 9, "Slice", "10x8", "starts=[2] ends=[5] axes=[1]", "10x3" },
        { 13, "Slice", "10x8 [5] [2]", "", "0x8" },
        { 13, "Slice", "10x8 [0] [5] [0] [0]", "", "!a step of 0" },
        { 13, "Slice", "10x8 [0,0] [5]", "", "!not equally many" },
        { 13, "Slice", "10x8 1 [5]", "", "?its 'starts' depends on data" },
        { 13, "Pad", "1x2x3 [0,0,1,0,1,2]", "", "1x3x6" },
        { 9, "Pad", "2x3", "pads=[1,0,0,-1]", "3x2" },
        { 18, "Pad", "2x3 [1,2] _ [1]", "", "2x6" },
        { 13, "Pad", "2x3 [1,2]", "", "!it pads 1 axes of 2" },
        { 13, "Reshape", "2x3x4 [4,-1]", "", "4x6" },
        { 13, "Reshape", "2x3x4 [0,12]", "", "2x12" },
        { 14, "Reshape", "0x3 [3,0]", "allowzero=1", "3x0" },
        { 4, "Reshape", "2x3x4", "shape=[24]", "24" },
        { 13, "Reshape", "2x3x4 [5,-1]", "", "!a shape of 2x3x4 cannot become 5x-1" },
        { 13, "Reshape", "2x3 [-1,-1]", "", "!cannot become -1x-1" },
        { 13, "Reshape", "2x3 [7]", "", "!cannot become 7" },
        { 13, "Reshape", "2x3 [2,3,0]", "", "!dimension 3 of its new shape is 0" },
        { 13, "Reshape", "2x3 2", "", "?its 'shape' depends on data" },
        { 13, "Flatten", "2x3x4", "axis=2", "6x4" },
        { 13, "Flatten", "2x3x4", "axis=-1", "6x4" },
        { 13, "Flatten", "2x3x4", "axis=0", "1x24" },
        { 13, "Flatten", "2x3x4", "axis=4", "!axis 4 of 3" },
        { 13, "Transpose", "2x3x4", "", "4x3x2" },
        { 13, "Transpose", "2x3x4", "perm=[1,2,0]", "3x4x2" },
        { 13, "Transpose", "2x3", "perm=[0,0]", "!its order is none" },
        { 13, "Squeeze", "1x3x1", "", "3" },
        { 13, "Squeeze", "1x3x1 [-1]", "", "1x3" },
        { 11, "Squeeze", "1x3x1", "axes=[0]", "3x1" },
        { 13, "Squeeze", "1x3x1 [1]", "", "!axis 1 is 3 long" },
        { 13, "Unsqueeze", "3x4 [0,-1]", "", "1x3x4x1" },
        { 11, "Unsqueeze", "3", "axes=[1]", "3x1" },
        { 13, "Unsqueeze", "3 [0,0]", "", "!axis 0 stands twice" },
        { 13, "Expand", "3x1 [2,1,4]", "", "2x3x4" },
        { 13, "Expand", "3 [2]", "", "!cannot become" },
        { 13, "Tile", "2x3 [2,4]", "", "4x12" },
        { 13, "Tile", "2x3 [2]", "", "!repeats of 1 of 2" });
}

static void elements_are_selected(void)
{
    TRY({ 13, "Gather", "5x6x7 2x3", "axis=1", "5x2x3x7" },
        { 13, "Gather", "5 .", "", "." },
        { 13, "Gather", "5 2", "axis=1", "!axis 1 of 1" },
        { 13, "GatherElements", "5x6 2x6", "", "2x6" },
        { 13, "GatherND", "5x6x7 2x2", "", "2x7" },
        { 13, "GatherND", "5x6x7 5x1", "batch_dims=1", "5x7" },
        { 13, "GatherND", "5 2x2", "", "!indices of 2 in 1 dimensions" },
        { 13, "ScatterND", "5x6 2x1 2x6", "", "5x6" },
        { 13, "OneHot", "2x3 [4] 2", "", "2x3x4" },
        { 13, "OneHot", "2x3 [4] 2", "axis=0", "4x2x3" },
        { 13, "EyeLike", "3x4", "dtype=1", "3x4" },
        { 13, "NonZero", "3", "", "?depends on the data" },
        { 13, "Compress", "3 3", "", "?depends on the data" },
        { 13, "Range", ". . .", "", "?depends on the data" },
        { 13, "NoSuchThing", "3", "", "?operator NoSuchThing is not known here" });
}

/* Operators whose meaning an opset changes: each text makes a different network in each opset. */
static void opsets_keep_their_meaning(void)
{
    TRY({ 18, "GroupNormalization", "1x6x4x4 (1,1) (0,0)", "num_groups=2", "1x6x4x4" },
        { 18, "GroupNormalization", "1x6x4x4 6 6", "num_groups=2", "!its input 2 has 6 elements, and there are 2 groups" },
        { 21, "GroupNormalization", "1x6x4x4 6 6", "num_groups=2", "1x6x4x4" },
        { 21, "GroupNormalization", "1x6x4x4 2 2", "num_groups=2", "!its input 2 has 2 elements, and there are 6 channels" },
        { 21, "GroupNormalization", "1x6x4x4 6 6", "num_groups=4", "!4 groups do not divide its channels" },
        { 17, "Split", "6", "", "3 3" },
        { 18, "Split", "7", "num_outputs=2", "4 3" },
        { 17, "ReduceMax", "2x3x4", "axes=[1]", "2x1x4" },
        { 18, "ReduceMax", "2x3x4 [1]", "", "2x1x4" },
        { 18, "ReduceMax", "2x3x4 _", "noop_with_empty_axes=1", "2x3x4" },
        { 20, "ReduceMin", "2x3x4 [-1]", "keepdims=0", "2x3" },
        { 19, "Reshape", "2x0x3 [3,0,2]", "allowzero=1", "3x0x2" },
        { 19, "Reshape", "2x4x3 [3,0,2]", "", "3x4x2" },
        { 19, "AveragePool", "1x1x4x4", "kernel_shape=[2,2] dilations=[2,2]", "1x1x2x2" },
        { 22, "MaxPool", "1x1x4x4", "kernel_shape=[3,3] strides=[2,2] ceil_mode=1", "1x1x2x2" },
        { 22, "Conv", "1x3x8x8 4x3x3x3", "pads=[1,1,1,1]", "1x4x8x8" },
        { 22, "ConvTranspose", "1x3x4x4 3x2x2x2", "strides=[2,2]", "1x2x8x8" },
        { 20, "Gelu", "1x3x4x4", "approximate='tanh'", "1x3x4x4" },
        { 24, "Swish", "1x3x4x4", "alpha=0.5", "1x3x4x4" },
        { 23, "RMSNormalization", "2x3x4 4", "axis=-1", "2x3x4" },
        { 21, "Flatten", "2x3x4", "axis=-1", "6x4" },
        { 23, "Transpose", "2x3x4", "perm=[2,0,1]", "4x2x3" },
        { 24, "Squeeze", "1x3x1 [0,2]", "", "3" },
        { 24, "Unsqueeze", "3 [0,2]", "", "1x3x1" },
        { 24, "TopK", "2x9 [3]", "", "2x3 2x3" },
        { 23, "Attention", "1x2x3x4 1x2x3x4 1x2x3x4", "", "?operator Attention is not known here" });
}

/* An unknown attribute may change the meaning of a node. */
static void attributes_are_known_or_named(void)
{
    TRY({ 13, "Conv", "1x3x8x8 4x3x3x3", "pad=[1,1,1,1]", "?its attribute 'pad' is not known here" },
        { 13, "Relu", "1x3", "alpha=0.5", "?its attribute 'alpha' is not known here" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "pads=1", "?its attribute 'pads' is a whole number, which it is in no opset" },
        { 13, "Softmax", "2x3", "axis=1.0f", "?its attribute 'axis' is a float, which it is in no opset" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "auto_pad=1", "?its attribute 'auto_pad' is a whole number" },
        { 13, "Conv", "1x3x8x8 4x3x3x3", "group=1 group=3", "!its attribute 'group' stands twice" },
        { 13, "Conv", "1x3x8x8 4x3x3x3 4 1x4x6x6", "", "?its input 4 is not known here: no opset gives it more than 3" },
        { 13, "Relu", "1x3 _", "", "1x3" },
        { 13, "Relu", "1x3 3", "", "?its input 2 is not known here" },
        { 1, "LpPool", "1x1x4x4", "kernel_shape=[2,2] p=3.0f", "1x1x3x3" },
        { 2, "LpPool", "1x1x4x4", "kernel_shape=[2,2] p=3", "1x1x3x3" },
        { 5, "Relu", "1x3", "consumed_inputs=[0]", "1x3" });
}

static void what_is_constant_is_folded(void)
{
    TRY({ 13, "Shape", "2x3x4", "", "[2,3,4]" },
        { 15, "Shape", "2x3x4", "start=1 end=-1", "[3]" },
        { 13, "Size", "2x3x4", "", "[24]" },
        { 13, "Gather", "[5,6,7] [2,-3]", "", "[7,5]" },
        { 13, "Concat", "[1,2] [3]", "axis=0", "[1,2,3]" },
        { 13, "Split", "[1,2,3,4]", "", "[1,2] [3,4]" },
        { 13, "Slice", "[1,2,3,4,5] [1] [4]", "", "[2,3,4]" },
        { 13, "Slice", "[1,2,3,4,5] [-1] [-100] [0] [-2]", "", "[5,3,1]" },
        { 13, "Unsqueeze", "[1,2] [0]", "", "[1,2]" },
        { 13, "Reshape", "[1,2,3,4] [2,2]", "", "[1,2,3,4]" },
        { 13, "Transpose", "[1,2]", "", "[1,2]" },
        { 13, "Expand", "[3] [4]", "", "[3,3,3,3]" },
        { 13, "Range", "[2] [11] [3]", "", "[2,5,8]" },
        { 13, "Range", "(3) (0) (-1)", "", "(3,2,1)" },
        { 13, "ConstantOfShape", "[3]", "", "3=0" },
        { 13, "Constant", "", "value_ints=[4,5]", "[4,5]" },
        { 13, "Constant", "", "value_float=0.5", "(0.5)" },
        { 13, "Add", "[1,2] [10]", "", "[11,12]" },
        { 13, "Sub", "[1,2] [10,20]", "", "[-9,-18]" },
        { 13, "Mul", "(0.5,2) (4)", "", "(2,8)" },
        { 13, "Div", "[7,-7] [2]", "", "[3,-3]" },
        { 13, "Div", "[7] [0]", "", "[0]" },
        { 13, "Mod", "[-7,7] [3,-3]", "", "[2,-2]" },
        { 13, "Pow", "(2,3) (2)", "", "(4,9)" },
        { 13, "Max", "[1,5] [3]", "", "[3,5]" },
        { 13, "Min", "[1,5] [3]", "", "[1,3]" },
        { 13, "Equal", "[1,2] [2]", "", "[0,1]" },
        { 13, "Less", "(1,2) (2)", "", "[1,0]" },
        { 13, "GreaterOrEqual", "[1,2,3] [2]", "", "[0,1,1]" },
        { 13, "Where", "[1,0] [1,2] [8,9]", "", "[1,9]" },
        { 13, "Not", "[0,4]", "", "[1,0]" },
        { 13, "Neg", "[1,-2]", "", "[-1,2]" },
        { 13, "Abs", "[1,-2]", "", "[1,2]" },
        { 13, "Floor", "(1.5,-1.5)", "", "(1,-2)" },
        { 13, "Ceil", "(1.5,-1.5)", "", "(2,-1)" },
        { 13, "Sqrt", "(9)", "", "(3)" },
        { 13, "Cast", "(1.9,-1.9)", "to=7", "[1,-1]" },
        { 13, "Cast", "(0.5,0)", "to=9", "[1,0]" },
        { 13, "Cast", "[300]", "to=2", "[44]" },
        { 13, "ReduceProd", "[2,3,4]", "keepdims=0", "[24]" },
        { 13, "ReduceSum", "[2,3,4]", "", "[9]" },
        { 13, "ReduceMax", "[2,3,4]", "", "[4]" },
        { 13, "Identity", "(1,2)", "", "(1,2)" });
}

/* A value too large for memory is refused, or is not made: no memory is taken. */
static void a_small_file_cannot_ask_for_much(void)
{
    TRY({ 13, "ConstantOfShape", "[1000000000,1000000000]", "", "1000000000x1000000000=0" },
        { 13, "ConstantOfShape", "[4000000000,4000000000]", "", "!its output would be 4000000000x4000000000" },
        { 13, "ConstantOfShape", "[-1]", "", "!its output would be -1" },
        { 13, "Expand", "[1] [100000000000]", "", "100000000000" },
        { 13, "Range", "[0] [1000000000000] [1]", "", "1000000000000" },
        { 13, "Tile", "2 [9223372036854775807]", "", "!it would be too large" },
        { 13, "Pad", "2 [9223372036854775807,0]", "", "!its pads do not fit" },
        { 13, "MaxPool", "1x1x4x4", "kernel_shape=[3000000000,1]", "!kernel_shape of 3000000000" });
}
/* clang-format on */

/* ---- random shapes, beside plain loops ---- */

/* Places windows one by one: the last window fits in, or, rounding up, begins in the input or before. */
static int64_t count_windows(int64_t in, int64_t begin, int64_t end, int64_t span, int64_t stride, bool rounds_up)
{
    int64_t n = 0, at = 0;

    for (; at + span <= begin + in + end; at += stride)
        n++;
    return n && rounds_up && at - stride + span < begin + in + end && at < begin + in ? n + 1 : n;
}

static void random_windows_are_counted_one_by_one(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        const int64_t in = rng_range(1, 20), kernel = rng_range(1, 4), stride = rng_range(1, 5);
        const int64_t dilation = rng_range(1, 3), span = (kernel - 1) * dilation + 1, begin = rng_range(0, 3);
        const int64_t end = rng_range(0, 3), up = rng_range(0, 1);
        const int64_t n = count_windows(in, begin, end, span, stride, up);
        char x[40], attributes[200], y[40];

        snprintf(x, sizeof x, "1x1x%lld", (long long)in);
        snprintf(attributes, sizeof attributes,
                 "kernel_shape=[%lld] strides=[%lld] dilations=[%lld] pads=[%lld,%lld] ceil_mode=%lld",
                 (long long)kernel, (long long)stride, (long long)dilation, (long long)begin, (long long)end,
                 (long long)up);
        snprintf(y, sizeof y, "1x1x%lld", (long long)n);
        try_line(&(struct onnx_line){ 13, "MaxPool", x, attributes, n ? y : "!its kernel spans" });
    }
}

/* Takes elements as Python does, from numbers below. Returns how many. */
static size_t take_slice(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *at)
{
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    size_t n = 0;

    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    start = start < (step < 0 ? 0 : low) ? (step < 0 ? 0 : low) : start > high ? high : start;
    end = end < low ? low : end > high ? high : end;
    for (int64_t i = start; step < 0 ? i > end : i < end; i += step)
        at[n++] = i;
    return n;
}

static void random_slices_take_what_python_takes(void)
{
    for (unsigned i = 0; i < test_rounds(200); i++) {
        const int64_t size = rng_range(1, 9), start = rng_range(-12, 12), end = rng_range(-12, 12);
        const int64_t step = rng_range(1, 4) * (rng_below(2) ? 1 : -1);
        char in[100] = "[", out[100] = "[";
        int64_t at[16];
        const size_t n = take_slice(size, start, end, step, at);

        for (int64_t k = 0; k < size; k++)
            snprintf(in + strlen(in), sizeof in - strlen(in), "%s%lld", k ? "," : "", (long long)k * k);
        snprintf(in + strlen(in), sizeof in - strlen(in), "] [%lld] [%lld] [0] [%lld]", (long long)start,
                 (long long)end, (long long)step);
        for (size_t k = 0; k < n; k++)
            snprintf(out + strlen(out), sizeof out - strlen(out), "%s%lld", k ? "," : "", (long long)(at[k] * at[k]));
        snprintf(out + strlen(out), sizeof out - strlen(out), "]");
        try_line(&(struct onnx_line){ 13, "Slice", in, "", out });
    }
}

static const struct test_case cases[] = {
    { "windows have the outputs of the standard", windows_have_the_outputs_of_the_standard },
    { "planes are resized by scales and sizes", planes_are_resized_by_scales_and_sizes },
    { "elements are broadcast", elements_are_broadcast },
    { "matrices and sums have shapes", matrices_and_sums_have_shapes },
    { "elements are moved", elements_are_moved },
    { "elements are selected", elements_are_selected },
    { "opsets keep their meaning", opsets_keep_their_meaning },
    { "attributes are known or named", attributes_are_known_or_named },
    { "what is constant is folded", what_is_constant_is_folded },
    { "a small file cannot ask for much", a_small_file_cannot_ask_for_much },
    { "random windows are counted one by one", random_windows_are_counted_one_by_one },
    { "random slices take what Python takes", random_slices_take_what_python_takes },
    { NULL, NULL },
};

const struct test_suite suite_onnx_infer = { "onnx_infer", cases };
