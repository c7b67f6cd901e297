/*
 * Which convolutions does a network have? Prints a layer table of an ONNX file or of any model, the differences from a
 * second table, or the type and shape of every value of the network.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/outdir.h"
#include "experiments/bench/course/course.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/onnx/graph.h"

struct options {
    const char *model, *layers, *input, *compare, *out;
    unsigned batch, links, format;
};

enum format { LAYERS, VALUES };

struct session {
    struct options options;
    struct exp_model model, other; /* the second is for COMPARE */
    struct exp_why why;
};

static int prepare(void *session)
{
    struct session *s = session;
    const struct options *o = &s->options;
    int err;

    if (o->format == VALUES)
        return 0; /* networks are read in turn */
    err = exp_main_model(&s->model, o->model, EXP_MODEL_ASK(o), &s->why);
    return err || !*o->compare
               ? err
               : exp_main_model(&s->other, o->compare, &(struct exp_model_ask){ .batch = o->batch, .links = o->links },
                                &s->why);
}

/* ---- tables ---- */

/* Prints a text as a cell, in quotes if necessary. */
static void print_cell(const char *text, FILE *out)
{
    if (*text && !strpbrk(text, ",\"# \t")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void print_layers(const struct exp_model *m, FILE *out)
{
    fprintf(out, "# the convolutions of %s\nname", m->name);
    for (size_t f = 0; f < CONV_N_FIELDS; f++)
        fprintf(out, ",%s", conv_fields[f].name);
    fputc('\n', out);
    for (size_t i = 0; i < m->n_layers; i++) {
        print_cell(m->layer[i].name, out);
        for (size_t f = 0; f < CONV_N_FIELDS; f++)
            fprintf(out, ",%zu", conv_field(&m->layer[i].problem, f));
        fputc('\n', out);
    }
}

static void print_value(const struct onnx_graph *g, const struct onnx_value *v, FILE *out)
{
    const struct onnx_node *n = v->producer == ONNX_NONE ? NULL : &g->node[v->producer];

    print_cell(v->name, out);
    fprintf(out, ",%s,", onnx_type_name(v->stored));
    for (size_t i = 0; i < v->n_dims; i++)
        fprintf(out, "%s%lld", i ? "x" : "", (long long)v->dim[i]);
    fprintf(out, "%s,%s,", v->has_shape && !v->n_dims ? "scalar" : "", onnx_is_constant(v) ? "1" : "0");
    if (n)
        print_cell(n->name, out);
    fputc(',', out);
    if (n)
        print_cell(n->op, out);
    fputc(',', out);
    if (!v->has_shape)
        print_cell(n && n->why_no_shape ? n->why_no_shape : "it is no tensor", out);
    fputc('\n', out);
}

static int print_values(const char *path, const struct options *o, FILE *out, struct exp_why *why)
{
    struct onnx_graph *g;
    const int err = onnx_read(&g, path, &(struct onnx_ask){ o->batch, o->input, o->links }, why);

    if (err)
        return err;
    fprintf(out, "# the values of %s\nvalue,type,shape,constant,node,operator,why_no_shape\n", g->path);
    for (size_t i = 0; i < g->n_values; i++)
        print_value(g, &g->value[i], out);
    onnx_free(g);
    return 0;
}

/* Prints the values of every network of a list; a line for an unreadable network. */
static int print_all_values(const struct options *o, FILE *out, struct exp_why *why)
{
    char *list = exp_copy_text(o->model), *rest = list, *path;
    size_t n = 0;
    int err = 0;

    while ((path = strtok_r(rest, ",", &rest))) {
        err = print_values(path, o, out, why);
        n += !err;
        if (err && (n || *rest))
            fprintf(stderr, "onnx2layers: %s\n", why->text);
    }
    free(list);
    return n ? 0 : err;
}

/* ---- differences ---- */

/* Finds a layer of this shape without a partner. */
static size_t find_partner(const struct exp_model *m, const struct conv_problem *p, const bool *taken)
{
    size_t i = 0;

    assert(m && p && taken);
    while (i < m->n_layers && (taken[i] || !conv_problem_equal(&m->layer[i].problem, p)))
        i++;
    return i;
}

/* Pairs layers of equal shape, first at equal positions. Returns the number of pairs. */
static size_t pair_equals(const struct exp_model *a, const struct exp_model *b, bool *in_a, bool *in_b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_layers && i < b->n_layers; i++)
        in_a[i] = in_b[i] = conv_problem_equal(&a->layer[i].problem, &b->layer[i].problem);
    for (size_t i = 0; i < a->n_layers; i++) {
        const size_t k = in_a[i] ? b->n_layers : find_partner(b, &a->layer[i].problem, in_b);

        if (k < b->n_layers)
            in_a[i] = in_b[k] = true;
        n += in_a[i];
    }
    return n;
}

static size_t next_alone(const struct exp_model *m, const bool *taken, size_t i)
{
    while (i < m->n_layers && taken[i])
        i++;
    return i;
}

static void print_difference(const struct exp_layer *a, const struct exp_layer *b, FILE *out)
{
    const char *comma = "";

    fprintf(out, "%s (%s): ", a->name, b->name);
    for (size_t f = 0; f < CONV_N_FIELDS; f++) {
        const size_t x = conv_field(&a->problem, f), y = conv_field(&b->problem, f);

        if (x == y)
            continue;
        fprintf(out, "%s%s %zu (%zu)", comma, conv_fields[f].name, x, y);
        comma = ", ";
    }
    fputc('\n', out);
}

/* Pairs the remaining layers in order and prints each pair; then prints the rest. */
static void print_differences(const struct exp_model *a, const struct exp_model *b, FILE *out)
{
    bool *in_a = exp_new(a->n_layers, sizeof *in_a), *in_b = exp_new(b->n_layers, sizeof *in_b);
    const size_t equal = pair_equals(a, b, in_a, in_b);
    size_t i = next_alone(a, in_a, 0), k = next_alone(b, in_b, 0);

    fprintf(out, "%s has %zu convolutions, %s has %zu; %zu are equal%s\n", a->name, a->n_layers, b->name, b->n_layers,
            equal,
            equal < a->n_layers || equal < b->n_layers ? "; others, and in parentheses what the second has:" : "");
    while (i < a->n_layers && k < b->n_layers) {
        print_difference(&a->layer[i], &b->layer[k], out);
        i = next_alone(a, in_a, i + 1);
        k = next_alone(b, in_b, k + 1);
    }
    for (; i < a->n_layers; i = next_alone(a, in_a, i + 1))
        fprintf(out, "%s: only %s has it\n", a->layer[i].name, a->name);
    for (; k < b->n_layers; k = next_alone(b, in_b, k + 1))
        fprintf(out, "%s: only %s has it\n", b->layer[k].name, b->name);
    free(in_a);
    free(in_b);
}

/* ---- the question ---- */

static int print(void *session, FILE *out)
{
    struct session *s = session;

    if (s->options.format == VALUES)
        return print_all_values(&s->options, out, &s->why);
    if (*s->options.compare)
        print_differences(&s->model, &s->other, out);
    else
        print_layers(&s->model, out);
    return 0;
}

static int work(void *session)
{
    struct session *s = session;

    return exp_file_write(s->options.out, print, s, &s->why);
}

static void release(void *session)
{
    struct session *s = session;

    exp_model_release(&s->model);
    exp_model_release(&s->other);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_NAMES("MODEL", "a network (.onnx), or another model that experiment takes (experiments/models/README.md)",
              model, ""),
    EXP_ASK_OPTIONS,
    EXP_NAMES("COMPARE", "in place of the table, in what it differs from this model, such as resnet50", compare, ""),
    EXP_WORD("FORMAT", "layers (default): a layer table; values: of networks, type and shape of every value", format,
             LAYERS, "layers", "values"),
    EXP_PATH("OUT", "file that is written (default: standard output)", out, ""),
    EXP_OPTIONS_END,
};

const struct exp_question question_layers = {
    .name = "layers",
    .program = "onnx2layers",
    .asks = "Which convolutions does a network (.onnx) have? As a layer table",
    .takes = "No time. What is left out goes to standard error, each node with its reason.",
    .examples = { "make layers MODEL=net.onnx OUT=net.csv", "make layers MODEL=net.onnx BATCH=8 INPUT=3x224x224",
                  "make layers MODEL=resnet50.onnx COMPARE=resnet50" },
    .needs = { "MODEL=net.onnx" },
    .options = options,
    EXP_SESSION(struct session),
    .prepare = prepare,
    .prepares_from_files = true,
    .work = work,
    .release = release,
};
