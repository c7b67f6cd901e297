/*
 * The work that a small file can cause in the reader: constants of huge shapes without bytes, before every operator;
 * and files with many nodes, each of them cheap. The test counts visited elements, and measures no time.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/onnx/infer.h"
#include "tests/experiments/onnx_written.h"
#include "tests/scratch.h"
#include "tests/suites.h"

enum { ENOUGH = 1000 }; /* visits of a file of a few constants */

/* Returns how many elements the reader looked at. */
static size_t visits_of(const struct onnx_graph *g, const char *path)
{
    const struct onnx_reading *r = (const struct onnx_reading *)g; /* the graph is the first member of the reading */
    struct stat s;

    return stat(path, &s) ? SIZE_MAX : ONNX_MAY_VISIT + (size_t)s.st_size - r->may_visit;
}

/* Adds a constant of n dimensions and zeros, without bytes in the file. */
static void add_filled(struct onnx_writer *w, const char *name, size_t n, const int64_t *dim)
{
    char shape[40];

    snprintf(shape, sizeof shape, "%s_shape", name);
    onnx_write_int64s(w, shape, n, dim);
    onnx_write_node(w, "ConstantOfShape", name, shape, name);
}

/* Reads and frees a network. Returns how many elements were visited; 0: the network is refused. */
static size_t try_network(struct onnx_writer *w)
{
    const char *path = onnx_written(w, "net.onnx");
    struct onnx_graph *g;
    struct exp_why why;
    size_t visits = 0;

    if (!onnx_read(&g, path, NULL, &why))
        visits = visits_of(g, path);
    onnx_free(g);
    return visits;
}

/* Runs the reader on an operator. dim: shape of the first input. other: name of each further input. */
static void try_operator(const char *op, const int64_t *dim, size_t n_dims, size_t n_in, const char *other)
{
    struct onnx_writer *w = onnx_writer_new("net", 17);
    char in[100] = "x";
    size_t visits;

    add_filled(w, "x", n_dims, dim);
    onnx_write_int64s(w, "zero", DIMS(0));
    onnx_write_int64s(w, "one", DIMS(1));
    onnx_write_int64s(w, "sizes", DIMS(1 << 20, INT64_C(1) << 31));
    for (size_t i = 1; i < n_in; i++)
        snprintf(in + strlen(in), sizeof in - strlen(in), ",%s", other);
    onnx_write_node(w, op, "node", in, "y");
    onnx_write_int(w, "axis", 1);
    onnx_write_int(w, "to", 7);
    visits = try_network(w);
    test_check(visits <= ENOUGH, "%s of %lld x %lld, %zu inputs, %s: %zu elements were looked at", op,
               (long long)dim[0], n_dims > 1 ? (long long)dim[1] : 1, n_in, other, visits);
}

/* Shapes with too many elements, or too many blocks around an axis, to count one by one. */
static void no_operator_walks_through_a_constant_of_one_number(void)
{
    static const char *const others[] = { "x", "zero", "one", "sizes" };
    static const int64_t shapes[][3] = { { 1 << 20, INT64_C(1) << 31, 1 },
                                         { INT64_C(1) << 50, 0, 1 },
                                         { INT64_C(1) << 50, 1, 0 } };
    char name[64];

    for (size_t op = 0; infer_operator(op, name, sizeof name); op++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            try_operator(name, shapes[s], 3, 1, "");
            for (size_t k = 0; k < COUNT(others); k++)
                try_operator(name, shapes[s], 3, 2 + (k == 1), others[k]);
        }
    }
}

/* Tests constants stored in the file: a dimension of 0 makes large shapes cheap. */
static void try_empty(const char *op, const int64_t *dim, const char *in)
{
    struct onnx_writer *w = onnx_writer_new("net", 17);
    size_t visits;

    onnx_write_floats(w, "x", 3, dim, exp_new(1, sizeof(float)));
    onnx_write_int64s(w, "zero", DIMS(0));
    onnx_write_int64s(w, "none", 0, NULL);
    onnx_write_node(w, op, "node", in, "y");
    onnx_write_int(w, "axis", 1);
    visits = try_network(w);
    test_check(visits <= ENOUGH, "%s of %lldx%lldx%lld: %zu elements were looked at", op, (long long)dim[0],
               (long long)dim[1], (long long)dim[2], visits);
}

static void an_empty_constant_takes_no_time(void)
{
    static const int64_t shapes[][3] = { { INT64_C(1) << 50, 0, 3 }, { INT64_C(1) << 50, 3, 0 } };
    static const char *const in[] = { "x,x", "x,zero", "x,none" };
    char name[64];

    for (size_t op = 0; infer_operator(op, name, sizeof name); op++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            for (size_t i = 0; i < COUNT(in); i++)
                try_empty(name, shapes[s], in[i]);
        }
    }
}

/* Adds the attribute "value", a tensor of one float, to the last node. */
static void add_value(struct onnx_writer *w, float value)
{
    Onnx__GraphProto *g = onnx_writer_model(w)->graph;
    Onnx__NodeProto *n = g->node[g->n_node - 1];

    onnx_write_float(w, "value", 0);
    n->attribute[0]->has_f = 0;
    n->attribute[0]->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    n->attribute[0]->t = exp_new(1, sizeof *n->attribute[0]->t);
    onnx__tensor_proto__init(n->attribute[0]->t);
    n->attribute[0]->t->has_data_type = 1;
    n->attribute[0]->t->data_type = ONNX_FLOAT;
    n->attribute[0]->t->n_float_data = 1;
    n->attribute[0]->t->float_data = memcpy(exp_new(1, sizeof value), &value, sizeof value);
}

static void constants_of_one_number_are_reduced_in_one_step(void)
{
    static const struct {
        const char *op;
        float value, want;
    } lines[] = { { "ReduceSum", 0.5F, 0x1p50F }, { "ReduceSum", 0, 0 },   { "ReduceMax", -3, -3 },
                  { "ReduceMin", 3, 3 },          { "ReduceProd", -1, 1 }, { "ReduceProd", 2, INFINITY } };

    for (size_t i = 0; i < COUNT(lines); i++) {
        struct onnx_writer *w = onnx_writer_new("net", 12);
        const struct onnx_value *y;
        struct onnx_graph *g;

        add_filled(w, "x", 2, (int64_t[]){ 1 << 20, INT64_C(1) << 31 });
        add_value(w, lines[i].value);
        onnx_write_node(w, lines[i].op, "", "x", "y");
        g = onnx_written_as(w, NULL);
        y = onnx_value_named(g, "y");
        test_check(onnx_is_constant(y) && (float)onnx_element(y, 0) == lines[i].want, "%s of %g is %g, not %g",
                   lines[i].op, (double)lines[i].value, onnx_element(y, 0), (double)lines[i].want);
        onnx_free(g);
    }
}

/* Many nodes, each of which may visit the file's constants: the file's limit stops the nodes together. */
static void many_nodes_share_what_may_be_done(void)
{
    enum { NODES = 300, ELEMENTS = 1 << 20 };
    const char *const ops[] = { "ReduceSum", "ReduceMax", "Neg", "Greater" };
    struct onnx_writer *w = onnx_writer_new("net", 12);
    const char *path;
    struct onnx_graph *g;
    struct exp_why why;
    size_t folded = 0;
    struct stat s;

    onnx_write_floats(w, "x", DIMS(ELEMENTS), exp_new(ELEMENTS, sizeof(float)));
    for (size_t i = 0; i < NODES; i++) {
        char out[20];

        snprintf(out, sizeof out, "y%zu", i);
        onnx_write_node(w, ops[i % COUNT(ops)], "", i % COUNT(ops) == 3 ? "x,x" : "x", out);
    }
    path = onnx_written(w, "net.onnx");
    CU_ASSERT_EQUAL_FATAL(onnx_read(&g, path, NULL, &why), 0);
    for (size_t i = 0; i < g->n_nodes; i++)
        folded += g->node[i].is_folded;
    CU_ASSERT_EQUAL_FATAL(stat(path, &s), 0);
    test_check(folded && folded * ELEMENTS <= ONNX_MAY_VISIT + (size_t)s.st_size, "%zu of %d nodes are folded", folded,
               NODES);
    onnx_free(g);
}

static const struct test_case cases[] = {
    { "no operator walks through a constant of one number", no_operator_walks_through_a_constant_of_one_number },
    { "an empty constant takes no time", an_empty_constant_takes_no_time },
    { "constants of one number are reduced in one step", constants_of_one_number_are_reduced_in_one_step },
    { "many nodes share what may be done", many_nodes_share_what_may_be_done },
    { NULL, NULL },
};

const struct test_suite suite_onnx_fold = { "onnx_fold", cases };
