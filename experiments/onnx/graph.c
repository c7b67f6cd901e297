#include "experiments/onnx/graph.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- types ---- */

static const struct {
    const char *name;
    size_t bytes;
} types[ONNX_N_TYPES] = {
    [ONNX_UNKNOWN_TYPE] = { "unknown", 0 },
    [ONNX_FLOAT] = { "float", 4 },
    [ONNX_UINT8] = { "uint8", 1 },
    [ONNX_INT8] = { "int8", 1 },
    [ONNX_UINT16] = { "uint16", 2 },
    [ONNX_INT16] = { "int16", 2 },
    [ONNX_INT32] = { "int32", 4 },
    [ONNX_INT64] = { "int64", 8 },
    [ONNX_STRING] = { "string", 0 },
    [ONNX_BOOL] = { "bool", 1 },
    [ONNX_FLOAT16] = { "float16", 2 },
    [ONNX_DOUBLE] = { "double", 8 },
    [ONNX_UINT32] = { "uint32", 4 },
    [ONNX_UINT64] = { "uint64", 8 },
    [ONNX_COMPLEX64] = { "complex64", 0 },
    [ONNX_COMPLEX128] = { "complex128", 0 },
    [ONNX_BFLOAT16] = { "bfloat16", 2 },
    [ONNX_FLOAT8E4M3FN] = { "float8e4m3fn", 0 },
    [ONNX_FLOAT8E4M3FNUZ] = { "float8e4m3fnuz", 0 },
    [ONNX_FLOAT8E5M2] = { "float8e5m2", 0 },
    [ONNX_FLOAT8E5M2FNUZ] = { "float8e5m2fnuz", 0 },
    [ONNX_UINT4] = { "uint4", 0 },
    [ONNX_INT4] = { "int4", 0 },
    [ONNX_FLOAT4E2M1] = { "float4e2m1", 0 },
    [ONNX_FLOAT8E8M0] = { "float8e8m0", 0 },
    [ONNX_UINT2] = { "uint2", 0 },
    [ONNX_INT2] = { "int2", 0 },
};

size_t onnx_type_bytes(enum onnx_type type)
{
    return type < ONNX_N_TYPES ? types[type].bytes : 0;
}

const char *onnx_type_name(enum onnx_type type)
{
    return types[type < ONNX_N_TYPES ? type : ONNX_UNKNOWN_TYPE].name;
}

/* ---- nodes ---- */

bool onnx_is(const struct onnx_node *n, const char *op)
{
    return !n->why_unread && !*n->domain && !strcmp(n->op, op);
}

bool onnx_is_fused_conv(const struct onnx_node *n)
{
    return !n->why_unread && !strcmp(n->domain, "com.microsoft") && !strcmp(n->op, "FusedConv");
}

bool onnx_is_conv(const struct onnx_node *n)
{
    return onnx_is(n, "Conv") || onnx_is_fused_conv(n);
}

/*
 * The first matching line counts. An empty domain matches every domain; the text must be a part of the operator's name.
 */
static const struct {
    const char *domain, *op, *hint;
} hints[] = {
    { "com.microsoft", "QLinear", "; ONNX Runtime's quantizer makes it: quant_format=QDQ makes standard operators" },
    { "", "QLinearConv", "; it is quantized: `make network` runs it, and layers are fp32" },
    { "", "ConvInteger", "; it is quantized: `make network` runs it, and layers are fp32" },
    { "", "Quantize", "; it is quantized in a way that is not run: take the network as it was before" },
    { "", "QAttention", "; it is quantized in a way that is not run: take the network as it was before" },
    { "", "QGemm", "; it is quantized in a way that is not run: take the network as it was before" },
    { "", "NBits", "; it is quantized in a way that is not run: take the network as it was before" },
    { "com.m", "", "; ONNX Runtime's optimiser makes such operators: save the network before it is optimised" },
    { "ai.onnx.ml", "", "; it is no operator of a neural network" },
    { "ai.onnx.preview.training", "", "; it is for training" },
};

const char *onnx_hint(const struct onnx_node *n)
{
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (!strncmp(n->domain, hints[i].domain, strlen(hints[i].domain)) && strstr(n->op, hints[i].op))
            return hints[i].hint;
    }
    return "";
}

static const struct onnx_value *value_at(const struct onnx_graph *g, const size_t *at, size_t n, size_t i)
{
    return i < n && at[i] != ONNX_NONE ? &g->value[at[i]] : NULL;
}

const struct onnx_value *onnx_in(const struct onnx_graph *g, const struct onnx_node *n, size_t i)
{
    assert(g && n);
    return value_at(g, n->in, n->n_in, i);
}

const struct onnx_value *onnx_out(const struct onnx_graph *g, const struct onnx_node *n, size_t i)
{
    assert(g && n);
    return value_at(g, n->out, n->n_out, i);
}

const struct onnx_attribute *onnx_attribute(const struct onnx_node *n, const char *name)
{
    assert(n && name);
    for (size_t i = 0; i < n->n_attributes; i++) {
        if (!strcmp(n->attribute[i].name, name))
            return &n->attribute[i];
    }
    return NULL;
}

static const struct onnx_attribute *find(const struct onnx_node *n, const char *name, enum onnx_kind kind)
{
    const struct onnx_attribute *a = onnx_attribute(n, name);

    return a && a->kind == kind ? a : NULL;
}

int64_t onnx_int(const struct onnx_node *n, const char *name, int64_t otherwise)
{
    const struct onnx_attribute *a = find(n, name, ONNX_KIND_INT);

    return a ? a->i : otherwise;
}

float onnx_float(const struct onnx_node *n, const char *name, float otherwise)
{
    const struct onnx_attribute *a = find(n, name, ONNX_KIND_FLOAT);

    return a ? a->f : otherwise;
}

const char *onnx_text(const struct onnx_node *n, const char *name, const char *otherwise)
{
    const struct onnx_attribute *a = find(n, name, ONNX_KIND_TEXT);

    return a ? a->s : otherwise;
}

const int64_t *onnx_ints(const struct onnx_node *n, const char *name, size_t *count)
{
    const struct onnx_attribute *a = find(n, name, ONNX_KIND_INTS);

    *count = a ? a->n : 0;
    return a ? a->ints : NULL;
}

const float *onnx_floats(const struct onnx_node *n, const char *name, size_t *count)
{
    const struct onnx_attribute *a = find(n, name, ONNX_KIND_FLOATS);

    *count = a ? a->n : 0;
    return a ? a->floats : NULL;
}

/* ---- constants ---- */

bool onnx_is_constant(const struct onnx_value *v)
{
    return v->data || v->is_filled;
}

/* The conversion of an element of each type to a number. */
#define ELEMENT(type) (((const type *)v->data)[i])
#define READ(as)                                                                                                       \
    switch (v->type) {                                                                                                 \
    case ONNX_FLOAT:                                                                                                   \
        return (as)ELEMENT(float);                                                                                     \
    case ONNX_UINT8:                                                                                                   \
    case ONNX_BOOL:                                                                                                    \
        return (as)ELEMENT(uint8_t);                                                                                   \
    case ONNX_INT8:                                                                                                    \
        return (as)ELEMENT(int8_t);                                                                                    \
    case ONNX_UINT16:                                                                                                  \
        return (as)ELEMENT(uint16_t);                                                                                  \
    case ONNX_INT16:                                                                                                   \
        return (as)ELEMENT(int16_t);                                                                                   \
    case ONNX_INT32:                                                                                                   \
        return (as)ELEMENT(int32_t);                                                                                   \
    case ONNX_INT64:                                                                                                   \
        return (as)ELEMENT(int64_t);                                                                                   \
    case ONNX_UINT32:                                                                                                  \
        return (as)ELEMENT(uint32_t);                                                                                  \
    case ONNX_UINT64:                                                                                                  \
        return (as)ELEMENT(uint64_t);                                                                                  \
    default:                                                                                                           \
        return 0;                                                                                                      \
    }

/* Returns a float as the nearest integer. */
static int64_t to_int(double x)
{
    if (x != x)
        return 0;
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static int64_t stored_int(const struct onnx_value *v, size_t i)
{
    READ(int64_t)
}

double onnx_element(const struct onnx_value *v, size_t i)
{
    assert(i < v->elements);
    if (v->is_filled)
        return (double)v->fill;
    READ(double)
}

int64_t onnx_element_int(const struct onnx_value *v, size_t i)
{
    assert(i < v->elements);
    return v->type == ONNX_FLOAT ? to_int(onnx_element(v, i)) : stored_int(v, i);
}

/* ---- types that run as floats ---- */

static void mark_types(const struct onnx_graph *g, const size_t *list, size_t n, bool *is_there)
{
    for (size_t i = 0; i < n; i++) {
        const struct onnx_value *v = list[i] == ONNX_NONE ? NULL : &g->value[list[i]];

        if (v && v->stored != v->type && v->has_shape && v->elements > 1)
            is_there[v->stored] = true;
    }
}

void onnx_say_types(const struct onnx_graph *g, char *text, size_t bytes)
{
    bool is_there[ONNX_N_TYPES] = { false };
    const char *before = "Elements of ";

    exp_say(text, bytes, "%s", "");
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->node[i].is_folded)
            continue;
        mark_types(g, g->node[i].in, g->node[i].n_in, is_there);
        mark_types(g, g->node[i].out, g->node[i].n_out, is_there);
    }
    for (size_t t = 0; t < ONNX_N_TYPES; t++) {
        if (!is_there[t])
            continue;
        exp_say_more(text, bytes, "%s%s", before, types[t].name);
        before = ", ";
    }
    if (*text)
        exp_say_more(text, bytes, " in the file run as float (fp32) here.");
}

/* ---- differences of opsets ---- */

int onnx_list(const struct onnx_graph *g, const struct onnx_node *n, const char *name, size_t in,
              struct onnx_list *list)
{
    const struct onnx_value *v = onnx_in(g, n, in);
    const int64_t *ints = onnx_ints(n, name, &list->n);

    assert(list && name);
    if (ints)
        v = NULL;
    else if (v && (!onnx_is_constant(v) || !v->has_shape))
        return -EINVAL;
    else if (v)
        list->n = v->elements;
    list->is_given = ints || v;
    if (list->n > ONNX_MAX_LIST)
        return -EINVAL;
    for (size_t i = 0; i < list->n; i++)
        list->at[i] = ints ? ints[i] : onnx_element_int(v, i);
    return 0;
}

int onnx_number(const struct onnx_graph *g, const struct onnx_node *n, const char *name, size_t in, double otherwise,
                double *number)
{
    const struct onnx_attribute *a = find(n, name, ONNX_KIND_FLOAT);
    const struct onnx_value *v = onnx_in(g, n, in);

    if (a || !v) {
        *number = a ? (double)a->f : otherwise;
        return 0;
    }
    if (!onnx_is_constant(v) || !v->elements)
        return -EINVAL;
    *number = onnx_element(v, 0);
    return 0;
}
