/* Writes a graph as an ONNX model in memory, with the present weights. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/graph.h"

#include "onnx.pb-c.h" /* made of Debian's onnx.proto when it is built */

enum { IR_WITHOUT_LISTED_INITIALIZERS = 4, NEWEST_IR = 8 };

struct writer {
    const struct onnx_graph *g;
    bool *is_used; /* values with readers among the nodes left after folding */
    void **owned;
    size_t n_owned;
};

static void *own(struct writer *w, size_t n, size_t bytes)
{
    void **piece = exp_append(&w->owned, &w->n_owned, sizeof *piece);

    *piece = exp_new(n + 1, bytes);
    return *piece;
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s; /* protobuf-c's structs are not const; packing changes nothing */
}

static char *name_of(const struct writer *w, size_t value)
{
    return text(value == ONNX_NONE ? "" : w->g->value[value].name);
}

/* ---- constants ---- */

static void *data_of(struct writer *w, const struct onnx_value *v)
{
    float *x;

    if (!v->is_filled)
        return (void *)(uintptr_t)v->data;
    x = own(w, v->elements, sizeof *x);
    for (size_t i = 0; i < v->elements; i++)
        x[i] = v->fill;
    return x;
}

static Onnx__TensorProto *write_constant(struct writer *w, size_t value)
{
    const struct onnx_value *v = &w->g->value[value];
    Onnx__TensorProto *t = own(w, 1, sizeof *t);

    onnx__tensor_proto__init(t);
    t->name = name_of(w, value);
    t->n_dims = v->n_dims;
    t->dims = (int64_t *)(uintptr_t)v->dim;
    t->has_data_type = 1;
    t->data_type = (int32_t)v->type;
    t->has_raw_data = 1;
    t->raw_data = (ProtobufCBinaryData){ v->elements * onnx_type_bytes(v->type), data_of(w, v) };
    return t;
}

static void write_constants(struct writer *w, Onnx__GraphProto *to)
{
    to->initializer = own(w, w->g->n_values, sizeof *to->initializer);
    for (size_t i = 0; i < w->g->n_values; i++)
        if (w->is_used[i] && onnx_is_constant(&w->g->value[i]))
            to->initializer[to->n_initializer++] = write_constant(w, i);
}

/* ---- inputs and outputs ---- */

static Onnx__TensorShapeProto__Dimension *write_dimension(struct writer *w, int64_t n)
{
    Onnx__TensorShapeProto__Dimension *d = own(w, 1, sizeof *d);

    onnx__tensor_shape_proto__dimension__init(d);
    d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    d->dim_value = n;
    return d;
}

static Onnx__ValueInfoProto *write_value(struct writer *w, size_t value)
{
    const struct onnx_value *v = &w->g->value[value];
    Onnx__ValueInfoProto *info = own(w, 1, sizeof *info);
    Onnx__TypeProto__Tensor *tensor = own(w, 1, sizeof *tensor);

    onnx__value_info_proto__init(info);
    onnx__type_proto__tensor__init(tensor);
    info->name = name_of(w, value);
    info->type = own(w, 1, sizeof *info->type);
    onnx__type_proto__init(info->type);
    info->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    info->type->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = (int32_t)v->type;
    if (!v->has_shape)
        return info;
    tensor->shape = own(w, 1, sizeof *tensor->shape);
    onnx__tensor_shape_proto__init(tensor->shape);
    tensor->shape->dim = own(w, v->n_dims, sizeof *tensor->shape->dim);
    for (; tensor->shape->n_dim < v->n_dims; tensor->shape->n_dim++)
        tensor->shape->dim[tensor->shape->n_dim] = write_dimension(w, v->dim[tensor->shape->n_dim]);
    return info;
}

static void write_ends(struct writer *w, Onnx__GraphProto *to, const struct onnx_outputs *outputs)
{
    to->input = own(w, w->g->n_inputs, sizeof *to->input);
    for (; to->n_input < w->g->n_inputs; to->n_input++)
        to->input[to->n_input] = write_value(w, w->g->input[to->n_input]);
    to->output = own(w, outputs->n, sizeof *to->output);
    for (; to->n_output < outputs->n; to->n_output++)
        to->output[to->n_output] = write_value(w, outputs->value[to->n_output]);
}

/* ---- nodes ---- */

static int write_attribute(struct writer *w, const struct onnx_attribute *a, Onnx__AttributeProto **to)
{
    static const Onnx__AttributeProto__AttributeType types[] = {
        [ONNX_KIND_INT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
        [ONNX_KIND_FLOAT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
        [ONNX_KIND_TEXT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
        [ONNX_KIND_INTS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
        [ONNX_KIND_FLOATS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS,
    };
    Onnx__AttributeProto *p = *to = own(w, 1, sizeof *p);

    onnx__attribute_proto__init(p);
    if (a->kind == ONNX_KIND_NONE || a->kind >= ONNX_KIND_TENSOR)
        return -ENOTSUP;
    p->name = text(a->name);
    p->has_type = 1;
    p->type = types[a->kind];
    p->has_i = a->kind == ONNX_KIND_INT;
    p->i = a->i;
    p->has_f = a->kind == ONNX_KIND_FLOAT;
    p->f = a->f;
    p->has_s = a->kind == ONNX_KIND_TEXT;
    p->s = (ProtobufCBinaryData){ p->has_s ? strlen(a->s) : 0, (uint8_t *)text(a->s) };
    p->n_ints = a->kind == ONNX_KIND_INTS ? a->n : 0;
    p->ints = (int64_t *)(uintptr_t)a->ints;
    p->n_floats = a->kind == ONNX_KIND_FLOATS ? a->n : 0;
    p->floats = (float *)(uintptr_t)a->floats;
    return 0;
}

static int write_node(struct writer *w, const struct onnx_node *n, Onnx__NodeProto **to, struct exp_why *why)
{
    Onnx__NodeProto *p = *to = own(w, 1, sizeof *p);
    int err = 0;

    onnx__node_proto__init(p);
    p->name = text(n->name);
    p->op_type = text(n->op);
    p->domain = text(n->domain);
    p->input = own(w, n->n_in, sizeof *p->input);
    for (; p->n_input < n->n_in; p->n_input++)
        p->input[p->n_input] = name_of(w, n->in[p->n_input]);
    p->output = own(w, n->n_out, sizeof *p->output);
    for (; p->n_output < n->n_out; p->n_output++)
        p->output[p->n_output] = name_of(w, n->out[p->n_output]);
    p->attribute = own(w, n->n_attributes, sizeof *p->attribute);
    for (; p->n_attribute < n->n_attributes && !err; p->n_attribute++)
        err = write_attribute(w, &n->attribute[p->n_attribute], &p->attribute[p->n_attribute]);
    return err ? exp_fail(why, err, "%s: node '%s': attribute '%s' is none that is written", w->g->path, n->name,
                          n->attribute[p->n_attribute - 1].name)
               : 0;
}

static int write_nodes(struct writer *w, Onnx__GraphProto *to, struct exp_why *why)
{
    int err = 0;

    to->node = own(w, w->g->n_nodes, sizeof *to->node);
    for (size_t i = 0; i < w->g->n_nodes && !err; i++) {
        const struct onnx_node *n = &w->g->node[i];

        if (n->is_folded)
            continue;
        err = write_node(w, n, &to->node[to->n_node++], why);
        for (size_t k = 0; k < n->n_in; k++)
            if (n->in[k] != ONNX_NONE)
                w->is_used[n->in[k]] = true;
    }
    return err;
}

/* ---- the model ---- */

static int pack(const Onnx__ModelProto *m, struct onnx_bytes *model, const char *path, struct exp_why *why)
{
    size_t bytes = onnx__model_proto__get_packed_size(m);

    if (bytes > INT_MAX)
        return exp_fail(why, -EOVERFLOW, "%s: %zu bytes of weights are too many for one message of protobuf", path,
                        bytes);
    model->bytes = bytes;
    model->data = exp_new(bytes + 1, 1);
    onnx__model_proto__pack(m, model->data);
    return 0;
}

int onnx_write(struct onnx_bytes *model, const struct onnx_graph *g, const struct onnx_outputs *outputs,
               struct exp_why *why)
{
    Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
    Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets = &opset;
    struct writer w = { .g = g };
    int err;

    assert(model && (outputs->value || !outputs->n));
    w.is_used = own(&w, g->n_values, sizeof *w.is_used);
    for (size_t i = 0; i < outputs->n; i++)
        w.is_used[outputs->value[i]] = true;
    opset.domain = text("");
    opset.has_version = 1;
    opset.version = g->opset;
    m.has_ir_version = 1;
    m.ir_version = g->ir_version < IR_WITHOUT_LISTED_INITIALIZERS ? IR_WITHOUT_LISTED_INITIALIZERS
                   : g->ir_version > NEWEST_IR                    ? NEWEST_IR
                                                                  : g->ir_version;
    m.n_opset_import = 1;
    m.opset_import = &opsets;
    m.graph = &graph;
    graph.name = text(g->name);
    err = write_nodes(&w, &graph, why);
    write_ends(&w, &graph, outputs);
    write_constants(&w, &graph);
    if (!err)
        err = pack(&m, model, g->path, why);
    for (size_t i = 0; i < w.n_owned; i++)
        free(w.owned[i]);
    free(w.owned);
    return err;
}
