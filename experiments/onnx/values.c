/* Values of a graph, by name, and the memory that a graph owns. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/onnx/reading.h"

void onnx_own_memory(struct onnx_reading *r, void *memory)
{
    memcpy(exp_append(&r->owned, &r->n_owned, sizeof memory), &memory, sizeof memory);
}

void *onnx_own(struct onnx_reading *r, size_t n, size_t bytes)
{
    void *memory = exp_new(n, bytes);

    onnx_own_memory(r, memory);
    return memory;
}

char *onnx_own_text(struct onnx_reading *r, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = exp_format_list(format, args);
    va_end(args);
    onnx_own_memory(r, text);
    return text;
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct onnx_name *)entry)->name);
}

size_t onnx_find_value(const struct onnx_names *names, const char *name)
{
    const struct onnx_name *found = bsearch(name, names->name, names->n, sizeof *names->name, compare_name);

    return found ? found->value : ONNX_NONE;
}

struct onnx_value *onnx_add_value(struct onnx_graph *g, const char *name)
{
    struct onnx_value *v = exp_append(&g->value, &g->n_values, sizeof *v);

    v->name = name;
    v->producer = ONNX_NONE;
    return v;
}

/* ---- functions of the file ---- */

static int compare_functions(const void *a, const void *b)
{
    const Onnx__FunctionProto *const *x = a, *const *y = b;
    const int order = strcmp(onnx_text_or_empty((*x)->name), onnx_text_or_empty((*y)->name));

    return order ? order : strcmp(onnx_text_or_empty((*x)->domain), onnx_text_or_empty((*y)->domain));
}

void onnx_sort_functions(struct onnx_reading *r)
{
    if (r->model->n_functions)
        qsort(r->model->functions, r->model->n_functions, sizeof(Onnx__FunctionProto *), compare_functions);
}

bool onnx_is_function(const struct onnx_reading *r, const struct onnx_node *n)
{
    const Onnx__NodeProto *proto = r->model->graph->node[n->number - 1];
    const Onnx__FunctionProto key = { .name = proto->op_type, .domain = proto->domain }, *pointer = &key;

    return r->model->n_functions &&
           bsearch(&pointer, r->model->functions, r->model->n_functions, sizeof pointer, compare_functions);
}
