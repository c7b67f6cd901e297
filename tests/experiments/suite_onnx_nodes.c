/*
 * The official tests of ONNX's operators (Debian's libonnx-testdata): by the fast path and by plain loops, each
 * operator makes the expected outputs.
 */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operator.h"
#include "tests/experiments/onnx_case.h"
#include "tests/experiments/onnx_written.h"
#include "tests/scratch.h"
#include "tests/suites.h"

#define NOTHING "nothing is left to run"
#define DATA "/usr/share/libonnx-testdata/data/"

/* The outcome of a case. */
struct result {
    bool ran, is_float; /* is_float: all inputs and outputs are floats, or indexes */
    struct exp_why why; /* why the case did not run */
};

/* ---- running a graph ---- */

/* Makes memory for a value with the value's known elements. Returns the memory, to be freed. */
static void *new_data(const struct onnx_case *c, const struct onnx_value *v)
{
    const struct onnx_value *given = v->is_input ? onnx_case_input(c, v->name) : v;
    const size_t bytes = v->elements * onnx_type_bytes(v->type);
    char *data = exp_new(bytes + 1, 1);

    memset(data, 0xff, bytes); /* NaN, unless an operator writes */
    if (given && given->data && given->bytes == bytes)
        memcpy(data, given->data, bytes);
    for (size_t i = 0; v->is_filled && i < v->elements; i++)
        memcpy(data + i * sizeof v->fill, &v->fill, sizeof v->fill);
    return data;
}

enum way { FAST, PLAIN, N_WAYS };

static int run_node(const struct onnx_case *c, const struct onnx_node *node, void *const *data, enum way way,
                    struct exp_why *why)
{
    const void *in[64] = { NULL };
    void *out[64] = { NULL };
    const struct op_tensors t = { in, out };
    struct op_call call;
    int err = op_prepare(&call, &(struct op_ask){ .graph = c->graph, .node = node, .n_threads = 2 }, why);

    if (err)
        return err;
    for (size_t i = 0; i < node->n_in && i < 64; i++)
        in[i] = node->in[i] == ONNX_NONE ? NULL : data[node->in[i]];
    for (size_t i = 0; i < node->n_out && i < 64; i++)
        out[i] = node->out[i] == ONNX_NONE ? NULL : data[node->out[i]];
    if (way == FAST)
        op_run(&call, &t, NULL);
    else
        op_reference(&call, &t);
    op_release(&call);
    return 0;
}

static int run_nodes(const struct onnx_case *c, void *const *data, enum way way, struct exp_why *why)
{
    int err = 0;

    for (size_t i = 0; !err && i < c->graph->n_nodes; i++) {
        if (!c->graph->node[i].is_folded)
            err = run_node(c, &c->graph->node[i], data, way, why);
    }
    return err;
}

/* ---- comparing ---- */

/*
 * Tolerances between numpy's sums in floats and our sums. Windows (Hann, Hamming, ...) use a pi with few digits, so
 * they get the tolerance of the official runner. Files of short floats were computed in short floats.
 */
static bool is_near(const char *name, enum onnx_type stored, float got, float want)
{
    const float relative = strstr(name, "window") || stored == ONNX_FLOAT16 ? 1e-3F
                           : stored == ONNX_BFLOAT16                        ? 1e-2F
                                                                            : 2e-5F;

    return got == want || (got != got && want != want) || fabsf(got - want) <= 2e-6F + relative * fabsf(want);
}

static void compare(const char *name, const struct onnx_value *want, const struct onnx_value *v, const void *got,
                    enum way way)
{
    bool is_shaped = v->n_dims == want->n_dims && v->type == want->type;

    for (size_t d = 0; is_shaped && d < v->n_dims; d++)
        is_shaped = v->dim[d] == want->dim[d];
    if (!test_check(is_shaped, "%s: '%s' has another type or shape than its file", name, v->name))
        return;
    if (want->type != ONNX_FLOAT) {
        test_check(!memcmp(got, want->data, want->bytes), "%s: '%s', way %d, differs", name, v->name, (int)way);
        return;
    }
    for (size_t i = 0; i < v->elements; i++) {
        const float x = ((const float *)got)[i], y = want->is_filled ? want->fill : ((const float *)want->data)[i];

        if (!test_check(is_near(name, want->stored, x, y), "%s: '%s', way %d: element %zu is %g, not %g", name, v->name,
                        (int)way, i, (double)x, (double)y))
            return;
    }
}

static void compare_outputs(const char *name, const struct onnx_case *c, void *const *data, enum way way)
{
    for (size_t i = 0; i < c->n_outputs && i < c->graph->n_outputs; i++) {
        const size_t v = c->graph->output[i];

        compare(name, &c->output[i], &c->graph->value[v], data[v], way);
    }
}

/* ---- cases ---- */

static bool is_of_floats(const struct onnx_case *c)
{
    for (size_t i = 0; i < c->n_inputs + c->n_outputs; i++) {
        const struct onnx_value *v = i < c->n_inputs ? &c->input[i] : &c->output[i - c->n_inputs];

        if (v->stored != ONNX_FLOAT && v->stored != ONNX_INT64 && v->stored != ONNX_INT32 && v->stored != ONNX_BOOL)
            return false;
    }
    return true;
}

static bool has_to_run(const struct onnx_case *c, struct exp_why *why)
{
    exp_fail(why, 0, NOTHING);
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        if (!c->graph->node[i].is_folded)
            return true;
    }
    return false;
}

/* Tells whether all outputs of nodes have a shape. */
static bool has_shapes(const struct onnx_case *c, struct exp_why *why)
{
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        const struct onnx_node *n = &c->graph->node[i];

        if (n->why_no_shape) {
            exp_fail(why, 0, "node '%s' (%s): %s", n->name, n->op, n->why_no_shape);
            return false;
        }
    }
    return true;
}

/* Tells whether files have the types of the model: files of BFLOAT16 have a different type. */
static bool has_types(const struct onnx_case *c, struct exp_why *why)
{
    for (size_t i = 0; i < c->n_inputs + c->n_outputs; i++) {
        const bool is_input = i < c->n_inputs;
        const struct onnx_value *v = is_input ? &c->input[i] : &c->output[i - c->n_inputs], *of = NULL;

        if (is_input)
            of = onnx_value_named(c->graph, c->name_of_input[i]);
        else if (i - c->n_inputs < c->graph->n_outputs)
            of = &c->graph->value[c->graph->output[i - c->n_inputs]];
        if (!of || of->stored == v->stored)
            continue;
        exp_fail(why, 0, "a file of %s where the model has %s", onnx_type_name(v->stored), onnx_type_name(of->stored));
        return false;
    }
    return true;
}

/* folds: folding may leave nothing to run. */
static bool run_case(const char *name, const struct onnx_case *c, bool folds, struct exp_why *why)
{
    const size_t n = c->graph->n_values;
    void **data;
    int err = 0;

    if (!has_shapes(c, why) || !has_types(c, why) || (!folds && !has_to_run(c, why)))
        return false;
    data = exp_new(n, sizeof *data);
    for (enum way way = 0; !err && way < N_WAYS; way++) {
        for (size_t i = 0; i < n; i++)
            data[i] = new_data(c, &c->graph->value[i]);
        err = run_nodes(c, data, way, why);
        if (!err)
            compare_outputs(name, c, data, way);
        for (size_t i = 0; i < n; i++)
            free(data[i]);
    }
    free(data);
    return !err;
}

/* Tries a case with more and more inputs known before the run. */
static struct result try_case(const char *folder, const char *name)
{
    struct result r = { .ran = false };

    for (enum case_constants k = 0; !r.ran && k < CASE_N_WAYS; k++) {
        struct onnx_case c;
        struct exp_why why = { "" };

        if (!onnx_case_read(&c, folder, k, &why)) {
            r.is_float = is_of_floats(&c);
            r.ran = run_case(name, &c, !k, &why);
            onnx_case_free(&c);
        }
        if (!k || strcmp(why.text, NOTHING))
            r.why = why;
        if (!k && !strncmp(why.text, "a file of", 9))
            break;
    }
    return r;
}

struct totals {
    unsigned found, ran, ran_float, quantized; /* quantized: operators of s8 and u8; each must run */
};

static bool is_quantized(const char *name)
{
    static const char *const words[] = { "quantizelinear", "qlinear", "convinteger", "matmulinteger" };
    bool is = false;

    for (size_t i = 0; i < COUNT(words); i++)
        is = is || strstr(name, words[i]);
    return is;
}

static int is_case(const struct dirent *e)
{
    return !strncmp(e->d_name, "test_", 5);
}

static void try_folder(const char *folder, struct totals *t)
{
    struct dirent **list;
    int n = scandir(folder, &list, is_case, alphasort);

    for (int i = 0; i < n; i++) {
        char *path = exp_format("%s/%s", folder, list[i]->d_name);
        const struct result r = try_case(path, list[i]->d_name);

        t->found++;
        t->ran += r.ran;
        t->ran_float += r.ran && r.is_float;
        t->quantized += r.ran && is_quantized(list[i]->d_name);
        if (is_quantized(list[i]->d_name))
            test_check(r.ran, "%s does not run: %s", list[i]->d_name, r.why.text);
        if (!r.ran)
            printf("    %s: skipped: %s\n", list[i]->d_name, r.why.text);
        free(path);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void test_official(void)
{
    static const char *const folders[] = { DATA "node", DATA "pytorch-converted", DATA "pytorch-operator",
                                           DATA "simple" };
    const unsigned failed = CU_get_number_of_failures();
    struct totals t = { 0 };

    for (size_t i = 0; i < COUNT(folders); i++)
        try_folder(folders[i], &t);
    if (!t.found) {
        test_skip("%s is not there (package libonnx-testdata)", DATA);
        return;
    }
    printf("\n    of %u official tests %u ran, %u of them of floats alone; failures: %u\n", t.found, t.ran, t.ran_float,
           CU_get_number_of_failures() - failed);
    test_check(t.quantized >= 17, "only %u official tests of quantized operators ran", t.quantized);
    test_check(t.ran_float >= 530, "only %u official tests of floats ran", t.ran_float);
}

static const struct test_case cases[] = {
    { "what operators make of the inputs of official tests is what their outputs say", test_official },
    { NULL, NULL },
};

const struct test_suite suite_onnx_nodes = { "onnx_nodes", cases };
