#include "tests/experiments/onnx_case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/reading.h"
#include "tests/scratch.h"

/* ---- models with more constants ---- */

static bool becomes_constant(const struct onnx_case *c, size_t i, enum case_constants constants)
{
    return constants == CASE_ALL_BUT_FIRST ? i > 0 : constants == CASE_INTS && c->input[i].type != ONNX_FLOAT;
}

/* Reads a message of a file into m. NULL: the file is no message of the kind. */
static ProtobufCMessage *parse(struct onnx_mapping *m, const char *path, const ProtobufCMessageDescriptor *kind)
{
    ProtobufCMessage *message = NULL;

    if (!onnx_map(m, path, NULL))
        message = protobuf_c_message_unpack(kind, NULL, m->bytes, m->at);
    onnx_unmap(m);
    return message;
}

/* Adds an input to the constants of a graph: the tensor gets the input's name. */
static void add_constant(Onnx__GraphProto *g, const char *path, const char *name)
{
    struct onnx_mapping m;
    Onnx__TensorProto *t = (Onnx__TensorProto *)parse(&m, path, &onnx__tensor_proto__descriptor);

    if (!t)
        return;
    free(t->name);
    t->name = exp_copy_text(name);
    g->initializer = exp_resize(g->initializer, g->n_initializer + 1, sizeof *g->initializer);
    g->initializer[g->n_initializer++] = t;
}

/* Writes the model with more constants. */
static const char *write_model(const struct onnx_case *c, const char *folder, Onnx__ModelProto *model,
                               enum case_constants constants)
{
    uint8_t *bytes;
    const char *path;

    for (size_t i = 0; i < c->n_inputs; i++) {
        char *input = exp_format("%s/test_data_set_0/input_%zu.pb", folder, i);

        if (becomes_constant(c, i, constants))
            add_constant(model->graph, input, c->name_of_input[i]);
        free(input);
    }
    bytes = exp_new(onnx__model_proto__get_packed_size(model) + 1, 1);
    path = scratch_write("model.onnx", bytes, onnx__model_proto__pack(model, bytes));
    free(bytes);
    return path;
}

static int read_with_constants(struct onnx_case *c, const char *folder, const char *path, enum case_constants constants,
                               struct exp_why *why)
{
    struct onnx_mapping m;
    Onnx__ModelProto *model = (Onnx__ModelProto *)parse(&m, path, &onnx__model_proto__descriptor);
    const char *changed;

    if (!model)
        return exp_fail(why, -EINVAL, "%s cannot be read again", path);
    changed = write_model(c, folder, model, constants);
    protobuf_c_message_free_unpacked((ProtobufCMessage *)model, NULL);
    return onnx_read(&c->graph, changed, NULL, why);
}

/* Takes the tensors beside the model. */
static void take_tensors(struct onnx_case *c, const struct onnx_graph *beside)
{
    for (; c->n_inputs < beside->n_inputs && c->n_inputs < CASE_MAX_TENSORS; c->n_inputs++)
        c->input[c->n_inputs] = beside->value[beside->input[c->n_inputs]];
    for (; c->n_outputs < beside->n_outputs && c->n_outputs < CASE_MAX_TENSORS; c->n_outputs++)
        c->output[c->n_outputs] = beside->value[beside->output[c->n_outputs]];
}

static int read_tensors(struct onnx_case *c, const char *folder, struct exp_why *why)
{
    char *path = exp_format("%s/test_data_set_0", folder);
    int err = onnx_read_tensors(&c->owner[0], path, why);

    if (!err)
        take_tensors(c, c->owner[0]);
    free(path);
    return err;
}

int onnx_case_read(struct onnx_case *c, const char *folder, enum case_constants constants, struct exp_why *why)
{
    char *path = exp_format("%s/model.onnx", folder);
    int err;

    *c = (struct onnx_case){ 0 };
    err = read_tensors(c, folder, why);
    if (!err)
        err = onnx_read(&c->owner[1], path, NULL, why);
    for (size_t i = 0; i < c->n_inputs && !err; i++)
        c->name_of_input[i] = i < c->owner[1]->n_inputs ? c->owner[1]->value[c->owner[1]->input[i]].name : "";
    if (!err && constants != CASE_NONE)
        err = read_with_constants(c, folder, path, constants, why);
    else if (!err)
        c->graph = c->owner[1];
    if (!err && constants != CASE_NONE)
        c->owner[2] = c->graph;
    free(path);
    if (err)
        onnx_case_free(c);
    return err;
}

void onnx_case_free(struct onnx_case *c)
{
    for (size_t i = 0; i < 3; i++)
        onnx_free(c->owner[i]);
    *c = (struct onnx_case){ 0 };
}

const struct onnx_value *onnx_case_input(const struct onnx_case *c, const char *name)
{
    for (size_t i = 0; i < c->n_inputs; i++) {
        if (!strcmp(c->name_of_input[i], name))
            return &c->input[i];
    }
    return NULL;
}
