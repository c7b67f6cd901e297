/* Shapes and types: the table of operators and rules, and functions shared by rules. */
#include "experiments/onnx/infer.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- results of rules ---- */

/* ---- the rule of an operator ---- */

enum { MANY = INT32_MAX };

/*
 * The attributes of all opsets, each with the letters of its kinds (kind_letters); attributes of the first opsets
 * without effect on values (consumed_inputs) are included.
 */
struct rule {
    const char *op;       /* one or more, separated by blanks */
    size_t n_in, most_in; /* the least and the most inputs, over all opsets */
    int (*infer)(const struct infer *c);
    const char *attributes;
};

static const struct rule rules[] = {
    { "Abs Ceil Exp Floor Log Neg Reciprocal Relu Sigmoid Sqrt Tanh", 1, 1, rule_same, "consumed_inputs:I" },
    { "Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cos Cosh Erf HardSwish Identity Mish Not Round Sign Sin Sinh "
      "Softplus Softsign Tan",
      1, 1, rule_same, "" },
    { "Add Div Mul Sub", 2, 2, rule_binary, "axis:i broadcast:i consumed_inputs:I" },
    { "And Equal Greater Less Or Xor", 2, 2, rule_compare, "axis:i broadcast:i" },
    { "ArgMax ArgMin", 1, 1, rule_arg, "axis:i keepdims:i select_last_index:i" },
    { "AveragePool", 1, 1, rule_pool,
      "auto_pad:s ceil_mode:i count_include_pad:i dilations:I kernel_shape:I pads:I strides:I" },
    { "BatchNormalization", 5, 5, rule_batch_norm,
      "consumed_inputs:I epsilon:f is_test:i momentum:f spatial:i training_mode:i" },
    { "BitShift", 2, 2, rule_binary, "direction:s" },
    { "BitwiseAnd BitwiseOr BitwiseXor", 2, 2, rule_binary, "" },
    { "Cast", 1, 1, rule_cast, "round_mode:s saturate:i to:is" },
    { "CastLike", 2, 2, rule_cast, "round_mode:s saturate:i" },
    { "Celu Swish ThresholdedRelu", 1, 1, rule_same, "alpha:f" },
    { "Clip", 1, 3, rule_same, "consumed_inputs:I max:f min:f" },
    { "Compress", 2, 2, rule_depends, "axis:i" },
    { "Concat", 1, MANY, rule_concat, "axis:i" },
    { "Constant", 0, 0, rule_constant,
      "sparse_value:o value:t value_float:f value_floats:F value_int:i value_ints:I value_string:s value_strings:o" },
    { "ConstantOfShape", 1, 1, rule_constant_of_shape, "value:t" },
    { "Conv", 2, 3, rule_conv, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I" },
    { "ConvInteger", 2, 4, rule_integers, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I" },
    { "ConvTranspose", 2, 3, rule_conv_transpose,
      "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I strides:I" },
    { "CumSum", 2, 2, rule_same, "exclusive:i reverse:i" },
    { "DepthToSpace", 1, 1, rule_depth_to_space, "blocksize:i mode:s" },
    { "DequantizeLinear", 2, 3, rule_dequantize, "axis:i block_size:i output_dtype:i" },
    { "Det", 1, 1, rule_det, "" },
    { "Dropout", 1, 3, rule_dropout, "consumed_inputs:I is_test:i ratio:f seed:i" },
    { "DynamicQuantizeLinear", 1, 1, rule_quantize_dynamically, "" },
    { "Elu LeakyRelu", 1, 1, rule_same, "alpha:f consumed_inputs:I" },
    { "Expand", 2, 2, rule_expand, "" },
    { "EyeLike", 1, 1, rule_eye_like, "dtype:i k:i" },
    { "Flatten", 1, 1, rule_flatten, "axis:i" },
    { "Gather", 2, 2, rule_gather, "axis:i" },
    { "GatherElements", 2, 2, rule_gather_elements, "axis:i" },
    { "GatherND", 2, 2, rule_gather_nd, "batch_dims:i" },
    { "Gelu", 1, 1, rule_same, "approximate:s" },
    { "Gemm", 2, 3, rule_gemm, "alpha:f beta:f broadcast:i transA:i transB:i" },
    { "GlobalAveragePool GlobalMaxPool", 1, 1, rule_global_pool, "" },
    { "GlobalLpPool", 1, 1, rule_global_pool, "p:fi" },
    { "GreaterOrEqual LessOrEqual", 2, 2, rule_compare, "" },
    { "GridSample", 2, 2, rule_grid_sample, "align_corners:i mode:s padding_mode:s" },
    { "GroupNormalization", 3, 3, rule_group_norm, "epsilon:f num_groups:i stash_type:i" },
    { "HardSigmoid", 1, 1, rule_same, "alpha:f beta:f consumed_inputs:I" },
    { "Hardmax LogSoftmax Softmax", 1, 1, rule_axis, "axis:i" },
    { "InstanceNormalization", 3, 3, rule_channels, "consumed_inputs:I epsilon:f" },
    { "IsInf", 1, 1, rule_same_bool, "detect_negative:i detect_positive:i" },
    { "IsNaN", 1, 1, rule_same_bool, "" },
    { "LRN", 1, 1, rule_same, "alpha:f beta:f bias:f size:i" },
    { "LayerNormalization", 2, 3, rule_layer_norm, "axis:i epsilon:f stash_type:i" },
    { "LpNormalization", 1, 1, rule_same, "axis:i p:i" },
    { "LpPool", 1, 1, rule_pool, "auto_pad:s ceil_mode:i dilations:I kernel_shape:I p:fi pads:I strides:I" },
    { "MatMul", 2, 2, rule_matmul, "" },
    { "MatMulInteger", 2, 4, rule_integers, "" },
    { "Max Mean Min Sum", 1, MANY, rule_binary, "consumed_inputs:I" },
    { "MaxPool", 1, 1, rule_pool,
      "auto_pad:s ceil_mode:i dilations:I kernel_shape:I pads:I storage_order:i strides:I" },
    { "MaxRoiPool", 2, 2, rule_roi, "pooled_shape:I spatial_scale:f" },
    { "MaxUnpool", 2, 3, rule_max_unpool, "kernel_shape:I pads:I strides:I" },
    { "MeanVarianceNormalization", 1, 1, rule_same, "axes:I" },
    { "Mod", 2, 2, rule_binary, "fmod:i" },
    { "NonMaxSuppression", 2, 5, rule_depends, "center_point_box:i" },
    { "NonZero", 1, 1, rule_depends, "" },
    { "OneHot", 3, 3, rule_one_hot, "axis:i" },
    { "PRelu", 2, 2, rule_prelu, "consumed_inputs:I" },
    { "Pad", 1, 4, rule_pad, "mode:s paddings:I pads:I value:f" },
    { "Pow", 2, 2, rule_binary, "axis:i broadcast:i" },
    { "QLinearConv", 8, 9, rule_integers, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I" },
    { "QLinearMatMul", 8, 8, rule_integers, "" },
    { "QuantizeLinear", 2, 3, rule_quantize, "axis:i block_size:i output_dtype:i precision:i saturate:i" },
    { "RMSNormalization", 2, 2, rule_same, "axis:i epsilon:f stash_type:i" },
    { "Range", 3, 3, rule_range, "" },
    { "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
      "ReduceSumSquare",
      1, 2, rule_reduce, "axes:I keepdims:i noop_with_empty_axes:i" },
    { "Reshape", 1, 2, rule_reshape, "allowzero:i consumed_inputs:I shape:I" },
    { "Resize", 1, 4, rule_resize,
      "antialias:i axes:I coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f "
      "keep_aspect_ratio_policy:s mode:s nearest_mode:s" },
    { "ReverseSequence", 2, 2, rule_same, "batch_axis:i time_axis:i" },
    { "RoiAlign", 3, 3, rule_roi,
      "coordinate_transformation_mode:s mode:s output_height:i output_width:i sampling_ratio:i spatial_scale:f" },
    { "Scatter", 3, 3, rule_same, "axis:i" },
    { "ScatterElements", 3, 3, rule_same, "axis:i reduction:s" },
    { "ScatterND", 3, 3, rule_same, "reduction:s" },
    { "Selu", 1, 1, rule_same, "alpha:f consumed_inputs:I gamma:f" },
    { "Shape", 1, 1, rule_shape, "end:i start:i" },
    { "Shrink", 1, 1, rule_same, "bias:f lambd:f" },
    { "Size", 1, 1, rule_size, "" },
    { "Slice", 1, 5, rule_slice, "axes:I ends:I starts:I" },
    { "SpaceToDepth", 1, 1, rule_space_to_depth, "blocksize:i" },
    { "Split", 1, 2, rule_split, "axis:i num_outputs:i split:I" },
    { "Squeeze", 1, 2, rule_squeeze, "axes:I" },
    { "Tile", 2, 3, rule_tile, "" },
    { "TopK", 1, 2, rule_top_k, "axis:i k:i largest:i sorted:i" },
    { "Transpose", 1, 1, rule_transpose, "perm:I" },
    { "Trilu", 1, 2, rule_same, "upper:i" },
    { "Unique", 1, 1, rule_depends, "axis:i sorted:i" },
    { "Unsqueeze", 1, 2, rule_unsqueeze, "axes:I" },
    { "Upsample", 1, 2, rule_resize, "height_scale:f mode:s scales:F width_scale:f" },
    { "Where", 3, 3, rule_where, "" },
};

enum { N_RULES = sizeof rules / sizeof rules[0] };

bool infer_operator(size_t i, char *name, size_t bytes)
{
    for (size_t r = 0; r < N_RULES; r++) {
        for (const char *at = rules[r].op; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");

            if (!i--) {
                exp_say(name, bytes, "%.*s", (int)length, at);
                return true;
            }
            at += length;
        }
    }
    return false;
}

/* Returns the text behind a word of a list that ends in this character or with the list; NULL: the list lacks the word. */
static const char *find_word(const char *list, const char *word, char end)
{
    const size_t n = strlen(word);

    for (const char *at = list; *at && !strchr(word, ' '); at += strspn(at, " ")) {
        if (!strncmp(at, word, n) && (at[n] == end || (end == ' ' && !at[n])))
            return at + n;
        at += strcspn(at, " ");
    }
    return NULL;
}

static const struct rule *find_rule(const struct onnx_node *n)
{
    for (size_t i = 0; i < N_RULES && !*n->domain && *n->op; i++) {
        if (find_word(rules[i].op, n->op, ' '))
            return &rules[i];
    }
    return NULL;
}

/* Operators of further domains, read like standard operators. */
static const struct rule foreign_rules[] = {
    { "FusedConv", 2, 4, rule_conv,
      "activation:s activation_params:F auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I" },
};

static const struct rule *rule_of(const struct onnx_node *n)
{
    return onnx_is_fused_conv(n) ? &foreign_rules[0] : find_rule(n);
}

/* ---- attributes ---- */

enum { MOST_ATTRIBUTES = 64 };

static const struct {
    char letter;
    const char *name;
} kind_letters[] = {
    [ONNX_KIND_NONE] = { '-', "nothing" },
    [ONNX_KIND_INT] = { 'i', "a whole number" },
    [ONNX_KIND_FLOAT] = { 'f', "a float" },
    [ONNX_KIND_TEXT] = { 's', "a text" },
    [ONNX_KIND_INTS] = { 'I', "a list of whole numbers" },
    [ONNX_KIND_FLOATS] = { 'F', "a list of floats" },
    [ONNX_KIND_TENSOR] = { 't', "a tensor" },
    [ONNX_KIND_OTHER] = { 'o', "a list or a graph" },
};

/* Refuses an unknown attribute: it may change the meaning of the node. */
static int check_attribute(const struct infer *c, const struct rule *rule, size_t i)
{
    const struct onnx_attribute *a = &c->n->attribute[i];
    const char *letters = find_word(rule->attributes, a->name, ':');

    if (onnx_attribute(c->n, a->name) != a)
        return infer_wrong(c, "its attribute '%.60s' stands twice", a->name);
    if (!letters)
        return infer_unread(c, "its attribute '%.60s' is not known here", a->name);
    if (a->kind == ONNX_KIND_NONE)
        return 0;
    for (letters++; *letters && *letters != ' '; letters++) {
        if (*letters == kind_letters[a->kind].letter)
            return 0;
    }
    return infer_unread(c, "its attribute '%.60s' is %s, which it is in no opset", a->name, kind_letters[a->kind].name);
}

static int check_attributes(const struct infer *c, const struct rule *rule)
{
    int err = 0;

    if (c->n->n_attributes > MOST_ATTRIBUTES)
        return infer_wrong(c, "%zu attributes, and no operator has more than %d", c->n->n_attributes, MOST_ATTRIBUTES);
    for (size_t i = 0; i < c->n->n_attributes && !err; i++)
        err = check_attribute(c, rule, i);
    return err;
}

/* Looks whether all inputs are there and have shapes. */
static int check_inputs(const struct infer *c, const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_in; i++) {
        if (!infer_in(c, i))
            return infer_wrong(c, "its input %zu is missing", i + 1);
    }
    for (size_t i = rule->most_in; i < c->n->n_in; i++) {
        if (infer_in(c, i))
            return infer_unread(c, "its input %zu is not known here: no opset gives it more than %zu", i + 1,
                                rule->most_in);
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
    const struct rule *rule = rule_of(c->n);
    int err;

    if (onnx_is_function(c->r, c->n))
        return infer_unread(c,
                            "operator %.60s is a function of the file, and functions are not read: "
                            "onnx.inliner.inline_local_functions puts their nodes in their places",
                            c->n->op);
    if (!rule)
        return infer_unknown(c, "operator %.60s%s%.60s is not known here%s", c->n->op,
                             *c->n->domain ? " of domain " : "", c->n->domain, onnx_hint(c->n));
    err = check_attributes(c, rule);
    err = err ? err : check_inputs(c, rule);
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
    int err;

    assert(proto);
    err = infer_node(&c);
    return err < 0 ? err : 0;
}
