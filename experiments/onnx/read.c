/* From a file to a graph: values by their names, nodes in their order, inputs of the requested size. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/onnx/reading.h"

/* ---- memory ---- */

void onnx_free(struct onnx_graph *g)
{
    struct onnx_reading *r = (struct onnx_reading *)g; /* the first member */

    if (!g)
        return;
    for (size_t i = 0; i < r->n_owned; i++)
        free(r->owned[i]);
    for (size_t i = 0; i < r->n_mappings; i++)
        onnx_unmap(&r->mapping[i]);
    onnx_parsed_free((ProtobufCMessage *)r->model, &r->block);
    free(r->owned);
    free(r->mapping);
    free(r->folder);
    free(g->value);
    free(r);
}

/* ---- names ---- */

static int compare_names(const void *a, const void *b)
{
    const struct onnx_name *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->value > y->value) - (x->value < y->value);
}

static void sort_names(struct onnx_names *names, const struct onnx_graph *g)
{
    free(names->name);
    *names = (struct onnx_names){ exp_new(g->n_values, sizeof *names->name), g->n_values };
    for (size_t i = 0; i < g->n_values; i++)
        names->name[i] = (struct onnx_name){ g->value[i].name, i };
    qsort(names->name, names->n, sizeof *names->name, compare_names);
}

/* Says who makes a value, for messages. */
static const char *maker(const struct onnx_graph *g, size_t value)
{
    const struct onnx_value *v = &g->value[value];

    return v->producer != ONNX_NONE ? g->node[v->producer].name : v->is_input ? "an input" : "an initializer";
}

static int check_names(const struct onnx_names *names, const struct onnx_graph *g, struct exp_why *why)
{
    for (size_t i = 1; i < names->n; i++) {
        const struct onnx_name *a = &names->name[i - 1], *b = &names->name[i];

        if (!strcmp(a->name, b->name))
            return exp_fail(why, -EINVAL, "%s: node '%.60s': its output '%.100s' is made by %.60s, too", g->path,
                            maker(g, b->value), b->name, maker(g, a->value));
    }
    return 0;
}

/* ---- initializers ---- */

static int add_initializers(struct onnx_reading *r, struct exp_why *why)
{
    const Onnx__GraphProto *proto = r->model->graph;
    struct exp_why what;
    int err = 0;

    if (proto->n_sparse_initializer)
        return exp_fail(why, -EINVAL, "%s: sparse initializers are not read", r->graph.path);
    for (size_t i = 0; i < proto->n_initializer && !err; i++) {
        const Onnx__TensorProto *t = proto->initializer[i];
        const char *name = onnx_text_or_empty(t->name);

        exp_say(what.text, sizeof what.text, "%s: initializer '%.100s'", r->graph.path, name);
        err = onnx_read_tensor(r, t, what.text, onnx_add_value(&r->graph, name), why);
    }
    return err;
}

/* ---- nodes ---- */

static enum onnx_kind kind_of(const Onnx__AttributeProto *a)
{
    static const enum onnx_kind kinds[] = {
        [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT] = ONNX_KIND_FLOAT,
        [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT] = ONNX_KIND_INT,
        [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING] = ONNX_KIND_TEXT,
        [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR] = ONNX_KIND_TENSOR,
        [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS] = ONNX_KIND_FLOATS,
        [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS] = ONNX_KIND_INTS,
    };

    if (a->has_type && a->type) {
        const size_t type = (size_t)a->type;

        return type < sizeof kinds / sizeof kinds[0] && kinds[type] ? kinds[type] : ONNX_KIND_OTHER;
    }
    /* Files of the format's first versions have no opset. */
    return a->has_f                                              ? ONNX_KIND_FLOAT
           : a->has_i                                            ? ONNX_KIND_INT
           : a->has_s                                            ? ONNX_KIND_TEXT
           : a->t                                                ? ONNX_KIND_TENSOR
           : a->n_floats                                         ? ONNX_KIND_FLOATS
           : a->n_ints                                           ? ONNX_KIND_INTS
           : a->n_strings || a->g || a->n_tensors || a->n_graphs ? ONNX_KIND_OTHER
                                                                 : ONNX_KIND_NONE;
}

static struct onnx_attribute read_attribute(struct onnx_reading *r, const Onnx__AttributeProto *a)
{
    struct onnx_attribute to = { .name = onnx_text_or_empty(a->name), .kind = kind_of(a), .i = a->i, .f = a->f };

    if (to.kind == ONNX_KIND_TEXT)
        to.s = onnx_own_text(r, "%.*s", (int)a->s.len, a->s.data ? (const char *)a->s.data : "");
    to.n = to.kind == ONNX_KIND_INTS ? a->n_ints : to.kind == ONNX_KIND_FLOATS ? a->n_floats : 0;
    to.ints = a->ints;
    to.floats = a->floats;
    return to;
}

/* Adds a value for each output of a node. */
static void add_outputs(struct onnx_reading *r, const Onnx__NodeProto *proto, struct onnx_node *n, size_t number)
{
    size_t *out = onnx_own(r, proto->n_output, sizeof *out);

    for (size_t i = 0; i < proto->n_output; i++) {
        out[i] = ONNX_NONE;
        if (!*onnx_text_or_empty(proto->output[i]))
            continue;
        out[i] = r->graph.n_values;
        onnx_add_value(&r->graph, proto->output[i])->producer = number;
    }
    n->n_out = proto->n_output;
    n->out = out;
}

/*
 * A node without a name gets the name of its first output, with the operator in front if the output's name begins
 * without a letter.
 */
static const char *name_node(struct onnx_reading *r, const Onnx__NodeProto *proto, const struct onnx_node *n)
{
    const char *out = "";

    for (size_t i = 0; i < proto->n_output && !*out; i++)
        out = onnx_text_or_empty(proto->output[i]);
    if (*onnx_text_or_empty(proto->name))
        return proto->name;
    if (!*out)
        return onnx_own_text(r, "%s_%zu", n->op, n->number);
    return isalpha((unsigned char)*out) ? out : onnx_own_text(r, "%s_%s", n->op, out);
}

static int add_node(struct onnx_reading *r, size_t i, struct exp_why *why)
{
    const Onnx__NodeProto *proto = r->model->graph->node[i];
    struct onnx_node *n = &r->graph.node[i];
    struct onnx_attribute *attribute = onnx_own(r, proto->n_attribute, sizeof *attribute);

    n->number = i + 1;
    n->op = onnx_text_or_empty(proto->op_type);
    n->domain = onnx_text_or_empty(proto->domain);
    if (!strcmp(n->domain, "ai.onnx"))
        n->domain = "";
    n->name = name_node(r, proto, n);
    if (!*n->op)
        return exp_fail(why, -EINVAL, "%s: node %zu ('%.60s') has no operator", r->graph.path, n->number, n->name);
    for (size_t a = 0; a < proto->n_attribute; a++)
        attribute[a] = read_attribute(r, proto->attribute[a]);
    n->attribute = attribute;
    n->n_attributes = proto->n_attribute;
    add_outputs(r, proto, n, i);
    return 0;
}

static int find_inputs(struct onnx_reading *r, size_t i, const struct onnx_names *names, struct exp_why *why)
{
    const Onnx__NodeProto *proto = r->model->graph->node[i];
    struct onnx_node *n = &r->graph.node[i];
    size_t *in = onnx_own(r, proto->n_input, sizeof *in);

    n->n_in = proto->n_input;
    n->in = in;
    for (size_t k = 0; k < proto->n_input; k++) {
        const char *name = onnx_text_or_empty(proto->input[k]);

        in[k] = *name ? onnx_find_value(names, name) : ONNX_NONE;
        if (*name && in[k] == ONNX_NONE)
            return exp_fail(why, -EINVAL, "%s: node '%.60s' (%.40s): nothing makes its input '%.100s'", r->graph.path,
                            n->name, n->op, name);
    }
    return 0;
}

static int find_outputs(struct onnx_reading *r, const struct onnx_names *names, struct exp_why *why)
{
    const Onnx__GraphProto *proto = r->model->graph;
    struct onnx_graph *g = &r->graph;
    size_t *output = onnx_own(r, proto->n_output, sizeof *output);

    g->output = output;
    for (g->n_outputs = 0; g->n_outputs < proto->n_output; g->n_outputs++) {
        const char *name = onnx_text_or_empty(proto->output[g->n_outputs]->name);
        const size_t value = onnx_find_value(names, name);

        if (value == ONNX_NONE)
            return exp_fail(why, -EINVAL, "%s: nothing makes its output '%.100s'", g->path, name);
        output[g->n_outputs] = value;
        g->value[value].is_output = true;
    }
    return 0;
}

/* ---- order ---- */

/* A depth-first search from each node to its producers. */
struct search {
    struct onnx_graph *g;
    enum { NEW, OPENED, PLACED } * state;
    size_t *path, *next; /* nodes whose producers come first, and the next input of each node */
    size_t *order, n_placed;
};

/* Takes a step from the last node of a path of n. Returns the new length; 0 too at a cycle, with *cycle set. */
static size_t walk_on(struct search *w, size_t n, size_t *cycle)
{
    const size_t node = w->path[n - 1];
    const struct onnx_node *at = &w->g->node[node];

    while (w->next[n - 1] < at->n_in) {
        const size_t in = at->in[w->next[n - 1]++];
        const size_t producer = in == ONNX_NONE ? ONNX_NONE : w->g->value[in].producer;

        if (producer == ONNX_NONE || w->state[producer] == PLACED)
            continue;
        if (w->state[producer] == OPENED) {
            *cycle = producer;
            return 0;
        }
        w->state[producer] = OPENED;
        w->path[n] = producer;
        w->next[n] = 0;
        return n + 1;
    }
    w->state[node] = PLACED;
    w->order[w->n_placed++] = node;
    return n - 1;
}

/* Finds an order with each node behind its producers. Returns a node of a cycle, if any. */
static size_t find_order(struct search *w)
{
    size_t cycle = ONNX_NONE;

    for (size_t i = 0; i < w->g->n_nodes && cycle == ONNX_NONE; i++) {
        size_t n = 1;

        if (w->state[i] == PLACED)
            continue;
        w->state[i] = OPENED;
        w->path[0] = i;
        w->next[0] = 0;
        while (n)
            n = walk_on(w, n, &cycle);
    }
    return cycle;
}

/* Reorders the nodes. */
static void put_in_order(struct onnx_reading *r, const size_t *order)
{
    struct onnx_graph *g = &r->graph;
    struct onnx_node *node = onnx_own(r, g->n_nodes, sizeof *node);

    for (size_t i = 0; i < g->n_nodes; i++) {
        node[i] = g->node[order[i]];
        for (size_t o = 0; o < node[i].n_out; o++) {
            if (node[i].out[o] != ONNX_NONE)
                g->value[node[i].out[o]].producer = i;
        }
    }
    g->node = node;
}

static int sort_nodes(struct onnx_reading *r, struct exp_why *why)
{
    struct onnx_graph *g = &r->graph;
    struct search w = { .g = g };
    size_t cycle;

    w.state = exp_new(g->n_nodes, sizeof *w.state);
    w.path = exp_new(3 * g->n_nodes, sizeof *w.path);
    w.next = w.path + g->n_nodes;
    w.order = w.next + g->n_nodes;
    cycle = find_order(&w);
    if (cycle == ONNX_NONE)
        put_in_order(r, w.order);
    free(w.state);
    free(w.path);
    return cycle == ONNX_NONE ? 0
                              : exp_fail(why, -EINVAL, "%s: node '%.60s' (%.40s) needs its own output: a cycle",
                                         g->path, g->node[cycle].name, g->node[cycle].op);
}

/* ---- all together ---- */

static int add_nodes(struct onnx_reading *r, struct onnx_names *names, struct exp_why *why)
{
    struct onnx_graph *g = &r->graph;
    int err = 0;

    g->n_nodes = r->model->graph->n_node;
    g->node = onnx_own(r, g->n_nodes, sizeof *g->node);
    for (size_t i = 0; i < g->n_nodes && !err; i++)
        err = add_node(r, i, why);
    if (err)
        return err;
    sort_names(names, g);
    err = check_names(names, g, why);
    for (size_t i = 0; i < g->n_nodes && !err; i++)
        err = find_inputs(r, i, names, why);
    err = err ? err : find_outputs(r, names, why);
    return err ? err : sort_nodes(r, why);
}

/* ---- printable names ---- */

/* Returns the length in bytes of a printable UTF-8 character; 0: no UTF-8 character, or a control character. */
static size_t printable(const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    const size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    if (at[0] < ' ' || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0)) /* controls */
        return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] > 0x8f)) /* overlong, surrogates, beyond U+10FFFF */
        return 0;
    return n;
}

/* Names go to terminals and into tables: each unprintable byte becomes a question mark. */
static const char *clean(struct onnx_reading *r, const char *name)
{
    char *text = NULL;

    for (size_t i = 0, n; name[i]; i += n) {
        n = printable(name + i);
        if (n)
            continue;
        text = text ? text : onnx_own_text(r, "%s", name);
        text[i] = '?';
        n = 1;
    }
    return text ? text : name;
}

/* Cleans the names once no lookup by name follows. Names of values stay distinct. */
static void clean_names(struct onnx_reading *r)
{
    struct onnx_graph *g = &r->graph;

    for (size_t i = 0; i < g->n_nodes; i++) {
        g->node[i].name = clean(r, g->node[i].name);
        g->node[i].op = clean(r, g->node[i].op);
        g->node[i].domain = clean(r, g->node[i].domain);
    }
    for (size_t i = 0; i < g->n_values; i++) {
        const char *name = clean(r, g->value[i].name);

        if (name != g->value[i].name)
            g->value[i].name = onnx_own_text(r, "%s_%zu", name, i);
    }
}

/* Finds the file's statement about each value. From malloc; NULL: no statement. */
static const Onnx__ValueInfoProto **find_stated(const struct onnx_reading *r, const struct onnx_names *names)
{
    const Onnx__GraphProto *proto = r->model->graph;
    const Onnx__ValueInfoProto **stated = exp_new(r->graph.n_values, sizeof *stated);

    for (size_t i = 0; i < proto->n_value_info + proto->n_output; i++) {
        const Onnx__ValueInfoProto *info =
            i < proto->n_value_info ? proto->value_info[i] : proto->output[i - proto->n_value_info];
        const size_t value = onnx_find_value(names, onnx_text_or_empty(info->name));

        if (value != ONNX_NONE)
            stated[value] = info;
    }
    return stated;
}

/* Takes types and shapes of a node's outputs from the file. */
static void take_outputs(struct onnx_graph *g, struct onnx_node *n, const Onnx__ValueInfoProto *const *stated)
{
    bool all = true;

    for (size_t o = 0; o < n->n_out; o++) {
        if (n->out[o] == ONNX_NONE)
            continue;
        if (stated[n->out[o]])
            onnx_take_stated(&g->value[n->out[o]], stated[n->out[o]]);
        all = all && g->value[n->out[o]].has_shape;
    }
    if (all)
        n->why_no_shape = NULL;
}

/* Infers all nodes. Unknown shapes come from the file, unless BATCH or INPUT changed sizes. */
static int infer_all(struct onnx_reading *r, const struct onnx_names *names, bool takes_stated, struct exp_why *why)
{
    const Onnx__ValueInfoProto **stated = find_stated(r, names);
    int err = 0;

    for (size_t i = 0; i < r->graph.n_nodes && !err; i++) {
        struct onnx_node *n = &r->graph.node[i];

        err = onnx_infer(r, i, r->model->graph->node[n->number - 1], why);
        if (!err && n->why_no_shape && takes_stated)
            take_outputs(&r->graph, n, stated);
    }
    free(stated);
    return err;
}

/* ---- statements of the file about itself ---- */

static bool is_standard(const char *domain)
{
    return !*domain || !strcmp(domain, "ai.onnx");
}

static int read_opset(struct onnx_reading *r, struct exp_why *why)
{
    const Onnx__ModelProto *m = r->model;
    int64_t opset = ONNX_OLDEST_OPSET; /* for files older than this field */
    bool is_given = false;

    for (size_t i = 0; i < m->n_opset_import; i++) {
        const int64_t version = m->opset_import[i]->version;

        if (!is_standard(onnx_text_or_empty(m->opset_import[i]->domain)))
            continue;
        if (is_given && opset != version)
            return exp_fail(why, -EINVAL, "%s: it says opset %lld and opset %lld", r->graph.path, (long long)opset,
                            (long long)version);
        opset = version;
        is_given = true;
    }
    r->graph.ir_version = m->ir_version;
    r->graph.opset = opset;
    return 0;
}

static int check_opset(const struct onnx_reading *r, struct exp_why *why)
{
    const int64_t opset = r->graph.opset;

    if (!r->model->graph)
        return exp_fail(why, -EINVAL, "%s: there is no network in it%s", r->graph.path, r->kind);
    if (opset >= ONNX_OLDEST_OPSET && opset <= ONNX_NEWEST_OPSET)
        return 0;
    return exp_fail(why, -EINVAL, "%s: opset %lld, and %d to %d are read; onnx.version_converter converts",
                    r->graph.path, (long long)opset, ONNX_OLDEST_OPSET, ONNX_NEWEST_OPSET);
}

static int read_all(struct onnx_reading *r, const struct onnx_ask *ask, struct exp_why *why)
{
    struct onnx_names names = { 0 };
    int err = read_opset(r, why);

    err = err ? err : check_opset(r, why);
    onnx_sort_functions(r);
    err = err ? err : add_initializers(r, why);
    if (!err) {
        sort_names(&names, &r->graph);
        err = onnx_add_inputs(r, &names, ask, why);
    }
    err = err ? err : add_nodes(r, &names, why);
    err = err ? err : infer_all(r, &names, !ask->batch && !*onnx_text_or_empty(ask->input), why);
    free(names.name);
    if (!err)
        clean_names(r);
    return err;
}

static struct onnx_reading *begin(const char *path, size_t bytes)
{
    struct onnx_reading *r = exp_new(1, sizeof *r);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    const bool ends = n > 5 && !strcmp(name + n - 5, ".onnx");

    r->folder = slash ? exp_format("%.*s", (int)(slash - path) + (slash == path), path) : exp_copy_text(".");
    r->graph.path = onnx_own_text(r, "%s", path);
    r->graph.name = onnx_own_text(r, "%.*s", (int)(ends ? n - 5 : n), name);
    r->may_fold = ONNX_MAY_FOLD + sizeof(float) * bytes; /* bytes become floats (DequantizeLinear) */
    r->may_visit = ONNX_MAY_VISIT + bytes;
    return r;
}

int onnx_read(struct onnx_graph **g, const char *path, const struct onnx_ask *ask, struct exp_why *why)
{
    static const struct onnx_ask nothing = { 0 };
    struct onnx_mapping m;
    struct onnx_reading *r;
    ProtobufCMessage *model = NULL;
    int err = onnx_map(&m, path, why);

    assert(g && path);
    *g = NULL;
    if (err)
        return err;
    r = begin(path, m.bytes);
    err = onnx_parse(&model, &r->block, &onnx__model_proto__descriptor, &m, why);
    r->kind = onnx_other_kind(&m);
    onnx_unmap(&m);
    r->model = (Onnx__ModelProto *)model;
    ask = ask ? ask : &nothing;
    r->follows_links = ask->links;
    err = err ? err : read_all(r, ask, why);
    if (err)
        onnx_free(&r->graph);
    else
        *g = &r->graph;
    return err;
}

/* ---- tensors beside a network ---- */

/* Reads a tensor, with a copy of the elements: the message is freed here. */
static int read_beside(struct onnx_reading *r, const char *path, struct onnx_value *v, struct exp_why *why)
{
    struct onnx_mapping m;
    struct onnx_block block = { 0 };
    ProtobufCMessage *message = NULL;
    int err = onnx_map(&m, path, why);

    if (!err)
        err = onnx_parse(&message, &block, &onnx__tensor_proto__descriptor, &m, why);
    onnx_unmap(&m);
    if (!err)
        err = onnx_read_tensor(r, (const Onnx__TensorProto *)message, path, v, why);
    if (!err) {
        v->name = onnx_own_text(r, "%s", onnx_text_or_empty(((const Onnx__TensorProto *)message)->name));
        v->data = v->data ? memcpy(onnx_own(r, v->bytes + 1, 1), v->data, v->bytes) : NULL;
    }
    onnx_parsed_free(message, &block);
    return err;
}

/* Reads <folder>/<kind>_0.pb, <kind>_1.pb and so on. *list gets the values, *n the number. */
static int read_kind(struct onnx_reading *r, const char *kind, const size_t **list, size_t *n, struct exp_why *why)
{
    size_t *of = NULL;
    int err = 0;

    while (!err) {
        char *path = exp_format("%s/%s_%zu.pb", r->graph.path, kind, *n);
        const bool is_there = !access(path, F_OK);

        if (is_there) {
            *(size_t *)exp_append(&of, n, sizeof *of) = r->graph.n_values;
            err = read_beside(r, path, onnx_add_value(&r->graph, ""), why);
        }
        free(path);
        if (!is_there)
            break;
    }
    if (of)
        onnx_own_memory(r, of);
    *list = of;
    return err;
}

int onnx_read_tensors(struct onnx_graph **g, const char *folder, struct exp_why *why)
{
    struct onnx_reading *r = begin(folder, 0);
    int err = read_kind(r, "input", &r->graph.input, &r->graph.n_inputs, why);

    assert(g && folder);
    *g = NULL;
    if (!err)
        err = read_kind(r, "output", &r->graph.output, &r->graph.n_outputs, why);
    if (!err && !r->graph.n_values)
        err = exp_fail(why, -ENOENT, "%s: neither input_0.pb nor output_0.pb is there", folder);
    if (err)
        onnx_free(&r->graph);
    else
        *g = &r->graph;
    return err;
}
