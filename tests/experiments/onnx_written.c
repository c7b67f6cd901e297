#include "tests/experiments/onnx_written.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/outdir.h"
#include "tests/scratch.h"
#include "tests/suites.h"

struct onnx_writer *onnx_write_begin(void)
{
    struct onnx_writer *w = onnx_writer_new("net", 13);

    onnx_write_input(w, "x", DIMS(1, 2, 4, 4));
    onnx_write_output(w, "y", DIMS(1, 3, 4, 4));
    return w;
}

struct onnx_writer *onnx_write_small(void)
{
    struct onnx_writer *w = onnx_write_begin();
    float *filters = exp_new(54, sizeof *filters);

    for (size_t i = 0; i < 54; i++)
        filters[i] = (float)i;
    onnx_write_floats(w, "f", DIMS(3, 2, 3, 3), filters);
    onnx_write_node(w, "Conv", "conv", "x,f", "c");
    onnx_write_ints(w, "pads", DIMS(1, 1, 1, 1));
    onnx_write_node(w, "Relu", "", "c", "y");
    return w;
}

const char *onnx_written(struct onnx_writer *w, const char *name)
{
    const char *path = scratch_path(name);
    struct exp_why why;

    CU_ASSERT_EQUAL_FATAL(exp_file_write(path, onnx_writer_print, w, &why), 0);
    onnx_writer_free(w);
    return path;
}

int onnx_written_read(struct onnx_writer *w, const struct onnx_ask *ask, struct onnx_graph **g, struct exp_why *why)
{
    return onnx_read(g, onnx_written(w, "net.onnx"), ask, why);
}

struct onnx_graph *onnx_written_as(struct onnx_writer *w, const struct onnx_ask *ask)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };

    test_check(!onnx_written_read(w, ask, &g, &why), "'%s'", why.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    return g;
}

void onnx_refused(const char *path, const struct onnx_ask *ask, int err, const char *words)
{
    struct onnx_graph *g;
    struct exp_why why = { "" };
    const int is = onnx_read(&g, path, ask, &why);
    const bool names = !strncmp(why.text, path, strlen(path)) && why.text[strlen(path)] == ':';

    onnx_free(g);
    test_check(is == err && !g && names && strstr(why.text, words), "%d '%s', not %d '%s'", is, why.text, err, words);
}

const struct onnx_value *onnx_value_named(const struct onnx_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_values; i++) {
        if (!strcmp(g->value[i].name, name))
            return &g->value[i];
    }
    return NULL;
}

bool onnx_has_shape(const struct onnx_graph *g, const char *name, size_t n_dims, const int64_t *dim)
{
    const struct onnx_value *v = onnx_value_named(g, name);

    return v && v->has_shape && v->n_dims == n_dims && !memcmp(v->dim, dim, n_dims * sizeof *dim);
}
