/* Shapes and types: which rule an operator has, and what rules are made of. */
#include "experiments/onnx/infer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- what rules say ---- */

int infer_wrong(const struct infer *c, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = exp_format_list(format, args);
    va_end(args);
    exp_fail(c->why, -EINVAL, "%s: node '%.60s' (%.40s): %s", c->g->path, c->n->name, c->n->op, text);
    free(text);
    return -EINVAL;
}

int infer_unknown(const struct infer *c, const char *format, ...)
{
    struct exp_why line;
    va_list args;
    char *text;

    va_start(args, format);
    text = exp_format_list(format, args);
    va_end(args);
    exp_say(line.text, sizeof line.text, "%s", text);
    free(text);
    c->n->why_no_shape = onnx_own_text(c->r, "%s", line.text);
    return INFER_NO_SHAPE;
}

int infer_set(const struct infer *c, size_t out, enum onnx_type stored, size_t n_dims, const int64_t *dim)
{
    struct onnx_value *v = infer_out(c, out);
    char shape[200];

    if (!v)
        return 0;
    if (n_dims > ONNX_MAX_DIMS)
        return infer_wrong(c, "%zu dimensions, and at most %d are read", n_dims, ONNX_MAX_DIMS);
    v->n_dims = n_dims;
    for (size_t i = 0; i < n_dims; i++)
        v->dim[i] = dim[i];
    v->stored = stored;
    v->type = onnx_run_type(stored);
    if (onnx_count_elements(v)) {
        onnx_say_shape(shape, sizeof shape, v);
        return infer_wrong(c, "its output would be %s", shape);
    }
    v->has_shape = true;
    return 0;
}

int infer_like(const struct infer *c, size_t out, const struct onnx_value *v)
{
    return infer_set(c, out, v->stored, v->n_dims, v->dim);
}

int infer_axis(const struct infer *c, int64_t axis, size_t n, size_t *at)
{
    const int64_t end = (int64_t)n;

    if (axis < -end || axis >= end)
        return infer_wrong(c, "axis %lld of %zu dimensions", (long long)axis, n);
    *at = (size_t)(axis < 0 ? axis + end : axis);
    return 0;
}

int infer_axes(const struct infer *c, const struct onnx_list *list, size_t n, bool *which)
{
    int err = 0;

    memset(which, 0, n * sizeof *which);
    for (size_t i = 0; i < list->n && !err; i++) {
        size_t at = 0;

        err = infer_axis(c, list->at[i], n, &at);
        if (!err && which[at])
            err = infer_wrong(c, "axis %zu stands twice", at);
        if (!err)
            which[at] = true;
    }
    return err;
}

int infer_list(const struct infer *c, const char *name, size_t in, struct onnx_list *list)
{
    if (!onnx_list(c->g, c->n, name, in, list))
        return 0;
    return infer_unknown(c, "its '%s' depends on data, or has more than %d numbers", name, ONNX_MAX_LIST);
}

bool infer_broadcast(size_t *n, int64_t *to, const struct onnx_value *b)
{
    const size_t more = b->n_dims > *n ? b->n_dims - *n : 0;

    memmove(to + more, to, *n * sizeof *to);
    for (size_t i = 0; i < more; i++)
        to[i] = 1;
    *n += more;
    for (size_t i = 0; i < b->n_dims; i++) {
        int64_t *d = &to[*n - b->n_dims + i];

        if (*d != b->dim[i] && *d != 1 && b->dim[i] != 1)
            return false;
        *d = *d == 1 ? b->dim[i] : *d;
    }
    return true;
}

int infer_tensor(const struct infer *c, const char *name, struct onnx_value *v)
{
    struct exp_why what;

    *v = (struct onnx_value){ .producer = ONNX_NONE };
    for (size_t i = 0; i < c->proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = c->proto->attribute[i];

        if (strcmp(onnx_text_or_empty(a->name), name) || !a->t)
            continue;
        exp_say(what.text, sizeof what.text, "%s: node '%.60s' (%.40s): its %s", c->g->path, c->n->name, c->n->op,
                name);
        return onnx_read_tensor(c->r, a->t, what.text, v, c->why);
    }
    return INFER_NO_SHAPE;
}

/* ---- the rule of an operator ---- */

struct rule {
    const char *op;
    size_t n_in; /* inputs that must be there */
    int (*infer)(const struct infer *c);
};

static const struct rule rules[] = {
    { "Abs", 1, rule_same },
    { "Acos", 1, rule_same },
    { "Acosh", 1, rule_same },
    { "Add", 2, rule_binary },
    { "And", 2, rule_compare },
    { "ArgMax", 1, rule_arg },
    { "ArgMin", 1, rule_arg },
    { "Asin", 1, rule_same },
    { "Asinh", 1, rule_same },
    { "Atan", 1, rule_same },
    { "Atanh", 1, rule_same },
    { "AveragePool", 1, rule_pool },
    { "BatchNormalization", 5, rule_batch_norm },
    { "BitShift", 2, rule_binary },
    { "BitwiseAnd", 2, rule_binary },
    { "BitwiseNot", 1, rule_same },
    { "BitwiseOr", 2, rule_binary },
    { "BitwiseXor", 2, rule_binary },
    { "Cast", 1, rule_cast },
    { "CastLike", 2, rule_cast },
    { "Ceil", 1, rule_same },
    { "Celu", 1, rule_same },
    { "Clip", 1, rule_same },
    { "Compress", 2, rule_depends },
    { "Concat", 1, rule_concat },
    { "Constant", 0, rule_constant },
    { "ConstantOfShape", 1, rule_constant_of_shape },
    { "Conv", 2, rule_conv },
    { "ConvTranspose", 2, rule_conv_transpose },
    { "Cos", 1, rule_same },
    { "Cosh", 1, rule_same },
    { "CumSum", 2, rule_same },
    { "DepthToSpace", 1, rule_depth_to_space },
    { "DequantizeLinear", 2, rule_dequantize },
    { "Det", 1, rule_det },
    { "Div", 2, rule_binary },
    { "Dropout", 1, rule_dropout },
    { "Elu", 1, rule_same },
    { "Equal", 2, rule_compare },
    { "Erf", 1, rule_same },
    { "Exp", 1, rule_same },
    { "Expand", 2, rule_expand },
    { "EyeLike", 1, rule_eye_like },
    { "Flatten", 1, rule_flatten },
    { "Floor", 1, rule_same },
    { "Gather", 2, rule_gather },
    { "GatherElements", 2, rule_gather_elements },
    { "GatherND", 2, rule_gather_nd },
    { "Gemm", 2, rule_gemm },
    { "GlobalAveragePool", 1, rule_global_pool },
    { "GlobalLpPool", 1, rule_global_pool },
    { "GlobalMaxPool", 1, rule_global_pool },
    { "Greater", 2, rule_compare },
    { "GreaterOrEqual", 2, rule_compare },
    { "GridSample", 2, rule_grid_sample },
    { "GroupNormalization", 3, rule_same },
    { "HardSigmoid", 1, rule_same },
    { "HardSwish", 1, rule_same },
    { "Hardmax", 1, rule_axis },
    { "Identity", 1, rule_same },
    { "InstanceNormalization", 3, rule_channels },
    { "IsInf", 1, rule_same_bool },
    { "IsNaN", 1, rule_same_bool },
    { "LRN", 1, rule_same },
    { "LayerNormalization", 2, rule_layer_norm },
    { "LeakyRelu", 1, rule_same },
    { "Less", 2, rule_compare },
    { "LessOrEqual", 2, rule_compare },
    { "Log", 1, rule_same },
    { "LogSoftmax", 1, rule_axis },
    { "LpNormalization", 1, rule_same },
    { "LpPool", 1, rule_pool },
    { "MatMul", 2, rule_matmul },
    { "Max", 1, rule_binary },
    { "MaxPool", 1, rule_pool },
    { "MaxRoiPool", 2, rule_roi },
    { "MaxUnpool", 2, rule_max_unpool },
    { "Mean", 1, rule_binary },
    { "MeanVarianceNormalization", 1, rule_same },
    { "Min", 1, rule_binary },
    { "Mish", 1, rule_same },
    { "Mod", 2, rule_binary },
    { "Mul", 2, rule_binary },
    { "Neg", 1, rule_same },
    { "NonMaxSuppression", 2, rule_depends },
    { "NonZero", 1, rule_depends },
    { "Not", 1, rule_same },
    { "OneHot", 3, rule_one_hot },
    { "Or", 2, rule_compare },
    { "PRelu", 2, rule_prelu },
    { "Pad", 1, rule_pad },
    { "Pow", 2, rule_binary },
    { "QuantizeLinear", 2, rule_quantize },
    { "Range", 3, rule_range },
    { "Reciprocal", 1, rule_same },
    { "ReduceL1", 1, rule_reduce },
    { "ReduceL2", 1, rule_reduce },
    { "ReduceLogSum", 1, rule_reduce },
    { "ReduceLogSumExp", 1, rule_reduce },
    { "ReduceMax", 1, rule_reduce },
    { "ReduceMean", 1, rule_reduce },
    { "ReduceMin", 1, rule_reduce },
    { "ReduceProd", 1, rule_reduce },
    { "ReduceSum", 1, rule_reduce },
    { "ReduceSumSquare", 1, rule_reduce },
    { "Relu", 1, rule_same },
    { "Reshape", 1, rule_reshape },
    { "Resize", 1, rule_resize },
    { "ReverseSequence", 2, rule_same },
    { "RoiAlign", 3, rule_roi },
    { "Round", 1, rule_same },
    { "Scatter", 3, rule_same },
    { "ScatterElements", 3, rule_same },
    { "ScatterND", 3, rule_same },
    { "Selu", 1, rule_same },
    { "Shape", 1, rule_shape },
    { "Shrink", 1, rule_same },
    { "Sigmoid", 1, rule_same },
    { "Sign", 1, rule_same },
    { "Sin", 1, rule_same },
    { "Sinh", 1, rule_same },
    { "Size", 1, rule_size },
    { "Slice", 1, rule_slice },
    { "Softmax", 1, rule_axis },
    { "Softplus", 1, rule_same },
    { "Softsign", 1, rule_same },
    { "SpaceToDepth", 1, rule_space_to_depth },
    { "Split", 1, rule_split },
    { "Sqrt", 1, rule_same },
    { "Squeeze", 1, rule_squeeze },
    { "Sub", 2, rule_binary },
    { "Sum", 1, rule_binary },
    { "Tan", 1, rule_same },
    { "Tanh", 1, rule_same },
    { "ThresholdedRelu", 1, rule_same },
    { "Tile", 2, rule_tile },
    { "TopK", 1, rule_top_k },
    { "Transpose", 1, rule_transpose },
    { "Trilu", 1, rule_same },
    { "Unique", 1, rule_depends },
    { "Unsqueeze", 1, rule_unsqueeze },
    { "Upsample", 1, rule_resize },
    { "Where", 3, rule_where },
    { "Xor", 2, rule_compare },
};

enum { N_RULES = sizeof rules / sizeof rules[0] };

const char *infer_operator(size_t i)
{
    return i < N_RULES ? rules[i].op : NULL;
}

static int compare_rule(const void *op, const void *rule)
{
    return strcmp(op, ((const struct rule *)rule)->op);
}

static const struct rule *find_rule(const struct onnx_node *n)
{
    return *n->domain ? NULL : bsearch(n->op, rules, N_RULES, sizeof rules[0], compare_rule);
}

/* Looks whether all inputs are there and have shapes. */
static int check_inputs(const struct infer *c, const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_in; i++) {
        if (!infer_in(c, i))
            return infer_wrong(c, "its input %zu is missing", i + 1);
    }
    for (size_t i = 0; i < c->n->n_in; i++) {
        const struct onnx_value *v = infer_in(c, i);

        if (v && !v->has_shape)
            return infer_unknown(c, "its input '%.100s' has no shape that is known", v->name);
    }
    if (!c->n->n_out || c->n->out[0] == ONNX_NONE)
        return infer_wrong(c, "it has no output");
    return 0;
}

static bool all_constant(const struct infer *c)
{
    bool any = false;

    for (size_t i = 0; i < c->n->n_out; i++) {
        const struct onnx_value *v = infer_out(c, i);

        if (v && !onnx_is_constant(v))
            return false;
        any = any || v;
    }
    return any;
}

static int infer_node(const struct infer *c)
{
    const struct rule *rule = find_rule(c->n);
    int err;

    if (!rule)
        return infer_unknown(c, "operator %.60s%s%.60s is not known here", c->n->op, *c->n->domain ? " of " : "",
                             c->n->domain);
    err = check_inputs(c, rule);
    err = err ? err : rule->infer(c);
    for (size_t i = 0; i < c->n->n_out && !err; i++) {
        if (infer_out(c, i) && !infer_out(c, i)->has_shape)
            err = infer_unknown(c, "its output %zu has no shape that is known", i + 1);
    }
    if (!err)
        infer_fold(c);
    c->n->is_folded = all_constant(c);
    return err;
}

int onnx_infer(struct onnx_reading *r, size_t i, const Onnx__NodeProto *proto, struct exp_why *why)
{
    const struct infer c = { r, &r->graph, &r->graph.node[i], proto, why };
    const int err = infer_node(&c);

    return err < 0 ? err : 0;
}
