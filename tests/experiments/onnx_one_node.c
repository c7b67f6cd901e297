#include "tests/experiments/onnx_one_node.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/reading.h"
#include "tests/scratch.h"

/* All messages are made by exp_new, so that protobuf-c frees them with the model. */
struct one_node {
    Onnx__ModelProto *model;
    Onnx__NodeProto *node;
};

#define NEW(kind, init) ((kind *)memcpy(exp_new(1, sizeof(kind)), &(kind)init, sizeof(kind)))

struct one_node *one_node_new(const char *op, int64_t opset)
{
    struct one_node *o = exp_new(1, sizeof *o);
    Onnx__OperatorSetIdProto *set = NEW(Onnx__OperatorSetIdProto, ONNX__OPERATOR_SET_ID_PROTO__INIT);

    o->model = NEW(Onnx__ModelProto, ONNX__MODEL_PROTO__INIT);
    o->model->has_ir_version = 1;
    o->model->ir_version = 8;
    o->model->opset_import = exp_new(1, sizeof set);
    o->model->opset_import[o->model->n_opset_import++] = set;
    set->has_version = 1;
    set->version = opset;
    o->model->graph = NEW(Onnx__GraphProto, ONNX__GRAPH_PROTO__INIT);
    o->model->graph->name = exp_copy_text("one");
    o->model->graph->node = exp_new(1, sizeof o->node);
    o->node = NEW(Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
    o->model->graph->node[o->model->graph->n_node++] = o->node;
    o->node->name = exp_copy_text("node");
    o->node->op_type = exp_copy_text(op);
    return o;
}

void one_node_free(struct one_node *o)
{
    onnx__model_proto__free_unpacked(o->model, NULL);
    free(o);
}

/* Appends the name of an input or output. */
static const char *add_name(char ***names, size_t *n, char *name)
{
    *names = exp_resize(*names, *n + 1, sizeof **names);
    return (*names)[(*n)++] = name;
}

static const char *add_input(struct one_node *o, const char *prefix)
{
    return add_name(&o->node->input, &o->node->n_input,
                    *prefix ? exp_format("%s%zu", prefix, o->node->n_input) : exp_copy_text(""));
}

static Onnx__ValueInfoProto *new_value(const char *name)
{
    Onnx__ValueInfoProto *v = NEW(Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);
    Onnx__TypeProto__Tensor *t = NEW(Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT);

    v->name = exp_copy_text(name);
    v->type = NEW(Onnx__TypeProto, ONNX__TYPE_PROTO__INIT);
    v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    v->type->tensor_type = t;
    t->has_elem_type = 1;
    t->elem_type = ONNX_FLOAT;
    return v;
}

void one_node_input(struct one_node *o, size_t n_dims, const int64_t *dim)
{
    Onnx__GraphProto *g = o->model->graph;
    Onnx__ValueInfoProto *v = new_value(add_input(o, "x"));
    Onnx__TensorShapeProto *shape = NEW(Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT);

    v->type->tensor_type->shape = shape;
    shape->dim = exp_new(n_dims + 1, sizeof *shape->dim);
    for (; shape->n_dim < n_dims; shape->n_dim++) {
        Onnx__TensorShapeProto__Dimension *d =
            NEW(Onnx__TensorShapeProto__Dimension, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT);

        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = dim[shape->n_dim];
        shape->dim[shape->n_dim] = d;
    }
    g->input = exp_resize(g->input, g->n_input + 1, sizeof *g->input);
    g->input[g->n_input++] = v;
}

void one_node_constant(struct one_node *o, size_t n, const int64_t *value)
{
    Onnx__GraphProto *g = o->model->graph;
    Onnx__TensorProto *t = NEW(Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);

    t->name = exp_copy_text(add_input(o, "c"));
    t->has_data_type = 1;
    t->data_type = ONNX_INT64;
    t->dims = exp_new(1, sizeof *t->dims);
    t->dims[t->n_dims++] = (int64_t)n;
    t->int64_data = exp_copy_bytes(value, n, sizeof *value);
    t->n_int64_data = n;
    g->initializer = exp_resize(g->initializer, g->n_initializer + 1, sizeof *g->initializer);
    g->initializer[g->n_initializer++] = t;
}

void one_node_no_input(struct one_node *o)
{
    add_input(o, "");
}

static Onnx__AttributeProto *add_attribute(struct one_node *o, const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    Onnx__NodeProto *n = o->node;
    Onnx__AttributeProto *a = NEW(Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);

    n->attribute = exp_resize(n->attribute, n->n_attribute + 1, sizeof *n->attribute);
    n->attribute[n->n_attribute++] = a;
    a->name = exp_copy_text(name);
    a->has_type = 1;
    a->type = type;
    return a;
}

void one_node_int(struct one_node *o, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = add_attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

    a->has_i = 1;
    a->i = value;
}

void one_node_float(struct one_node *o, const char *name, float value)
{
    Onnx__AttributeProto *a = add_attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

    a->has_f = 1;
    a->f = value;
}

void one_node_text(struct one_node *o, const char *name, const char *value)
{
    Onnx__AttributeProto *a = add_attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

    a->has_s = 1;
    a->s = (ProtobufCBinaryData){ strlen(value), (uint8_t *)exp_copy_text(value) };
}

void one_node_ints(struct one_node *o, const char *name, size_t n, const int64_t *value)
{
    Onnx__AttributeProto *a = add_attribute(o, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

    a->n_ints = n;
    a->ints = exp_copy_bytes(value, n, sizeof *value);
}

int one_node_read(const struct one_node *o, size_t n_outputs, struct onnx_graph **g, struct exp_why *why)
{
    Onnx__GraphProto *graph = o->model->graph;
    uint8_t *bytes;
    const char *path;

    for (size_t i = o->node->n_output; i < n_outputs; i++) {
        const char *name = add_name(&o->node->output, &o->node->n_output, exp_format("y%zu", i));

        graph->output = exp_resize(graph->output, graph->n_output + 1, sizeof *graph->output);
        graph->output[graph->n_output++] = new_value(name);
    }
    bytes = exp_new(onnx__model_proto__get_packed_size(o->model) + 1, 1);
    path = scratch_write("one.onnx", bytes, onnx__model_proto__pack(o->model, bytes));
    free(bytes);
    return onnx_read(g, path, NULL, why);
}
