#include "tests/experiments/onnx_builder.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/onnx/graph.h"

#include "onnx.pb-c.h"

/* Messages, texts and arrays are separate pieces of malloc: protobuf-c frees them like the messages of a file. */

struct onnx_writer {
    Onnx__ModelProto *model;
};

#define NEW(type, kind) init_message(exp_new(1, sizeof(type)), kind)

/* Starts a message of a kind. */
static void *init_message(void *message, const ProtobufCMessageDescriptor *kind)
{
    kind->message_init(message);
    return message;
}

/* Appends a message to an array of pointers. */
static void append(void *array, size_t *n, void *message)
{
    memcpy(exp_append(array, n, sizeof message), &message, sizeof message);
}

struct onnx_writer *onnx_writer_new(const char *name, int64_t opset)
{
    struct onnx_writer *w = exp_new(1, sizeof *w);
    Onnx__OperatorSetIdProto *set = NEW(Onnx__OperatorSetIdProto, &onnx__operator_set_id_proto__descriptor);

    w->model = NEW(Onnx__ModelProto, &onnx__model_proto__descriptor);
    w->model->graph = NEW(Onnx__GraphProto, &onnx__graph_proto__descriptor);
    w->model->graph->name = exp_copy_text(name);
    w->model->producer_name = exp_copy_text("convolution bench");
    w->model->has_ir_version = 1;
    w->model->ir_version = 7;
    set->has_version = 1;
    set->version = opset;
    set->domain = exp_copy_text("");
    append(&w->model->opset_import, &w->model->n_opset_import, set);
    return w;
}

void onnx_writer_free(struct onnx_writer *w)
{
    if (w)
        protobuf_c_message_free_unpacked(&w->model->base, NULL);
    free(w);
}

struct Onnx__ModelProto *onnx_writer_model(struct onnx_writer *w)
{
    return w->model;
}

/* ---- values ---- */

static Onnx__TensorShapeProto *new_shape(size_t n_dims, const int64_t *dim)
{
    Onnx__TensorShapeProto *shape = NEW(Onnx__TensorShapeProto, &onnx__tensor_shape_proto__descriptor);

    for (size_t i = 0; i < n_dims; i++) {
        Onnx__TensorShapeProto__Dimension *d =
            NEW(Onnx__TensorShapeProto__Dimension, &onnx__tensor_shape_proto__dimension__descriptor);

        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = dim[i];
        append(&shape->dim, &shape->n_dim, d);
    }
    return shape;
}

static Onnx__ValueInfoProto *new_value(const char *name, size_t n_dims, const int64_t *dim)
{
    Onnx__ValueInfoProto *v = NEW(Onnx__ValueInfoProto, &onnx__value_info_proto__descriptor);

    v->name = exp_copy_text(name);
    v->type = NEW(Onnx__TypeProto, &onnx__type_proto__descriptor);
    v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    v->type->tensor_type = NEW(Onnx__TypeProto__Tensor, &onnx__type_proto__tensor__descriptor);
    v->type->tensor_type->has_elem_type = 1;
    v->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    v->type->tensor_type->shape = new_shape(n_dims, dim);
    return v;
}

void onnx_write_input(struct onnx_writer *w, const char *name, size_t n_dims, const int64_t *dim)
{
    append(&w->model->graph->input, &w->model->graph->n_input, new_value(name, n_dims, dim));
}

void onnx_write_input_of(struct onnx_writer *w, const char *name, int32_t type, size_t n_dims, const int64_t *dim)
{
    onnx_write_input(w, name, n_dims, dim);
    w->model->graph->input[w->model->graph->n_input - 1]->type->tensor_type->elem_type = type;
}

void onnx_write_output(struct onnx_writer *w, const char *name, size_t n_dims, const int64_t *dim)
{
    append(&w->model->graph->output, &w->model->graph->n_output, new_value(name, n_dims, dim));
}

/* Adds an initializer with `bytes` bytes of data an element; the data are from malloc. */
static void add_tensor(struct onnx_writer *w, const char *name, int32_t type, size_t n_dims, const int64_t *dim,
                       void *data, size_t bytes)
{
    Onnx__TensorProto *t = NEW(Onnx__TensorProto, &onnx__tensor_proto__descriptor);

    t->name = exp_copy_text(name);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = n_dims;
    t->dims = exp_copy_bytes(dim, n_dims, sizeof *dim);
    t->has_raw_data = 1;
    t->raw_data.data = data;
    t->raw_data.len = bytes;
    for (size_t i = 0; i < n_dims; i++)
        t->raw_data.len *= (size_t)dim[i];
    append(&w->model->graph->initializer, &w->model->graph->n_initializer, t);
}

void onnx_write_floats(struct onnx_writer *w, const char *name, size_t n_dims, const int64_t *dim, float *data)
{
    add_tensor(w, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, n_dims, dim, data, sizeof *data);
}

void onnx_write_int64s(struct onnx_writer *w, const char *name, size_t n, const int64_t *data)
{
    add_tensor(w, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, (int64_t[]){ (int64_t)n },
               exp_copy_bytes(data, n, sizeof *data), sizeof *data);
}

void onnx_write_constant(struct onnx_writer *w, const char *name, int32_t type, size_t n_dims, const int64_t *dim,
                         void *data)
{
    add_tensor(w, name, type, n_dims, dim, data, onnx_type_bytes((enum onnx_type)type));
}

/* ---- nodes ---- */

static void append_names(char ***names, size_t *n, const char *list)
{
    for (; *list; list += *list == ',') {
        const size_t length = strcspn(list, ",");

        append(names, n, exp_format("%.*s", (int)length, list));
        list += length;
    }
}

void onnx_write_node(struct onnx_writer *w, const char *op, const char *name, const char *in, const char *out)
{
    Onnx__NodeProto *n = NEW(Onnx__NodeProto, &onnx__node_proto__descriptor);

    n->op_type = exp_copy_text(op);
    n->name = exp_copy_text(name);
    append_names(&n->input, &n->n_input, in);
    append_names(&n->output, &n->n_output, out);
    append(&w->model->graph->node, &w->model->graph->n_node, n);
}

static Onnx__AttributeProto *add_attribute(struct onnx_writer *w, const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    Onnx__NodeProto *n = w->model->graph->node[w->model->graph->n_node - 1];
    Onnx__AttributeProto *a = NEW(Onnx__AttributeProto, &onnx__attribute_proto__descriptor);

    a->name = exp_copy_text(name);
    a->has_type = 1;
    a->type = type;
    append(&n->attribute, &n->n_attribute, a);
    return a;
}

void onnx_write_int(struct onnx_writer *w, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = add_attribute(w, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

    a->has_i = 1;
    a->i = value;
}

void onnx_write_float(struct onnx_writer *w, const char *name, float value)
{
    Onnx__AttributeProto *a = add_attribute(w, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

    a->has_f = 1;
    a->f = value;
}

void onnx_write_text(struct onnx_writer *w, const char *name, const char *value)
{
    Onnx__AttributeProto *a = add_attribute(w, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

    a->has_s = 1;
    a->s.len = strlen(value);
    a->s.data = exp_copy_bytes(value, a->s.len, 1);
}

void onnx_write_ints(struct onnx_writer *w, const char *name, size_t n, const int64_t *values)
{
    Onnx__AttributeProto *a = add_attribute(w, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

    a->n_ints = n;
    a->ints = exp_copy_bytes(values, n, sizeof *values);
}

/* ---- the file ---- */

struct to_file {
    ProtobufCBuffer base; /* first: protobuf-c gets this */
    FILE *out;
};

static void put(ProtobufCBuffer *to, size_t n, const uint8_t *bytes)
{
    fwrite(bytes, 1, n, ((struct to_file *)(void *)to)->out);
}

int onnx_writer_print(void *writer, FILE *out)
{
    const struct onnx_writer *w = writer;
    struct to_file to = { { put }, out };

    protobuf_c_message_pack_to_buffer(&w->model->base, &to.base);
    return 0;
}
