#include "experiments/network/reference.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/workdir.h"
#include "experiments/network/peer.h"

/* ---- distances ---- */

/* ---- tensors that are given ---- */

static size_t find_named(const struct onnx_graph *g, const size_t *of, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (*name && !strcmp(g->value[of[i]].name, name))
            return i;
    }
    return ONNX_NONE;
}

/* Finds the given tensor for input or output i of a graph: by name, else by position. NULL: none. */
static const struct onnx_value *find_given(const struct onnx_graph *given, const struct onnx_graph *g, bool is_input,
                                           size_t i)
{
    const size_t *list = is_input ? given->input : given->output, *own = is_input ? g->input : g->output;
    const size_t n = is_input ? given->n_inputs : given->n_outputs, n_own = is_input ? g->n_inputs : g->n_outputs;
    const size_t at = find_named(given, list, n, g->value[own[i]].name);

    if (at != ONNX_NONE)
        return &given->value[list[at]];
    return i < n && find_named(g, own, n_own, given->value[list[i]].name) == ONNX_NONE ? &given->value[list[i]] : NULL;
}

static void say_shape(char *text, size_t bytes, const struct onnx_value *v)
{
    exp_say(text, bytes, "%s of %s", onnx_type_name(v->type), v->n_dims ? "" : "a scalar");
    for (size_t i = 0; i < v->n_dims; i++)
        exp_say_more(text, bytes, "%s%lld", i ? "x" : "", (long long)v->dim[i]);
}

static bool has_shape_of(const struct onnx_value *a, const struct onnx_value *b)
{
    return a->type == b->type && a->n_dims == b->n_dims && !memcmp(a->dim, b->dim, a->n_dims * sizeof *a->dim);
}

/* Checks that a given tensor fits the network's tensor. */
static int check_given(const struct onnx_graph *given, const struct onnx_value *v, const struct onnx_value *own,
                       struct exp_why *why)
{
    char theirs[200], ours[200];

    if (has_shape_of(v, own) && (v->data || !v->elements))
        return 0;
    say_shape(theirs, sizeof theirs, v);
    say_shape(ours, sizeof ours, own);
    return exp_fail(why, -EINVAL, "%s: what stands there for '%.100s' is %s, and the network has %s", given->path,
                    own->name, theirs, ours);
}

int net_take_inputs(const struct net *net, const struct onnx_graph *given, struct exp_why *why)
{
    const struct onnx_graph *g = net->graph;

    assert(given && (net->place[NET_INPUTS] || !g->n_inputs));
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct onnx_value *v = find_given(given, g, true, i);
        int err = v ? check_given(given, v, &g->value[g->input[i]], why) : 0;

        if (err)
            return err;
        if (v && v->bytes)
            memcpy(net_input(net, i), v->data, v->bytes);
    }
    return 0;
}

/* Returns the allowed distance of an output, relative to its largest value. */
static double allowed(const struct onnx_value *v)
{
    return v->stored == ONNX_FLOAT16 || v->stored == ONNX_BFLOAT16 ? 1e-2 : 1e-3;
}

int net_compare_given(const struct net *net, const struct onnx_graph *given, struct net_distance *d,
                      struct exp_why *why)
{
    const struct onnx_graph *g = net->graph;

    *d = (struct net_distance){ .worst_value = ONNX_NONE };
    for (size_t i = 0; i < g->n_outputs; i++) {
        const struct onnx_value *v = find_given(given, g, false, i), *own = &g->value[g->output[i]];
        struct net_distance of = { 0 };
        int err = v ? check_given(given, v, own, why) : 0;

        if (err)
            return err;
        if (!v || !net_output(net, i))
            continue;
        net_distance_add(&of, g, g->output[i], net_output(net, i), v->data);
        net_distance_add(d, g, g->output[i], net_output(net, i), v->data);
        if (of.has_nan || !(of.worst <= allowed(v)))
            return exp_fail(why, -EILSEQ, "%s: output '%.100s' is %s%.3g of its largest value away from '%s'", g->path,
                            own->name, of.has_nan ? "infinite where the other is not, and " : "", of.worst,
                            given->path);
    }
    return 0;
}

char *net_ask_of_given(const struct onnx_graph *given, const struct onnx_graph *graph)
{
    char *ask = NULL;
    size_t bytes;
    FILE *text = exp_memory_open(&ask, &bytes);
    bool differs = false;

    assert(given);
    for (size_t i = 0; i < (graph ? graph->n_inputs : given->n_inputs); i++) {
        const struct onnx_value *v = graph ? find_given(given, graph, true, i) : &given->value[given->input[i]];
        const char *name = graph ? graph->value[graph->input[i]].name : v->name;

        if (!v || !v->n_dims)
            continue;
        differs |= !graph || !has_shape_of(v, &graph->value[graph->input[i]]);
        fprintf(text, "%s%s%s", ftell(text) ? "," : "", name, *name ? "=" : "");
        for (size_t k = 0; k < v->n_dims; k++)
            fprintf(text, "%s%lld", k ? "x" : "", (long long)v->dim[k]);
    }
    fclose(text);
    if (differs && *ask)
        return ask;
    free(ask);
    return NULL;
}

/* ---- ONNX Runtime ---- */

/* The inputs of a loaded network, to be freed. */
static const void **inputs_of(const struct net *net)
{
    const void **in = exp_new(net->graph->n_inputs + 1, sizeof *in);

    for (size_t i = 0; i < net->graph->n_inputs; i++)
        in[i] = net_input(net, i);
    return in;
}

/* Plans and runs the graph of a network again, not fused, each tensor in memory of its own. */
static int run_apart(struct net **net, const struct net *like, struct exp_why *why)
{
    struct net_options o = like->options;
    int err;

    o.fuses = false;
    o.keeps_all = true;
    o.algo = o.algo->plugin ? exp_algo_chosen() : o.algo; /* the plug-in's process has room for one network */
    err = net_plan(net, like->graph, &o, why);
    if (!err)
        err = net_load(*net, why);
    for (size_t i = 0; i < like->graph->n_inputs && !err; i++)
        memcpy(net_input(*net, i), net_input(like, i), like->tensor[like->graph->input[i]].bytes);
    return err ? err : net_run(*net, NULL, why);
}

int net_compare_peer(const struct net *like, const struct net_peer *peer, struct net_distance *d, struct exp_why *why)
{
    const struct net_session_ask ask = { .n_threads = like->options.n_threads, .keeps_all = true };
    const void **in = inputs_of(like);
    struct net_session *session = NULL;
    struct net *net = NULL;
    int err = run_apart(&net, like, why);

    if (!err)
        err = net_session_open(&session, peer, like->graph, &ask, why);
    if (!err)
        err = net_session_run(session, in, NULL, why);
    if (!err)
        *d = net_session_compare(session, net);
    net_session_close(session, NULL);
    net_free(net);
    free(in);
    return err;
}

/* ---- the profile ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* Adds up the times of all nodes, and of convolutions, whatever layout and fusion their names tell. */
static double share_of_conv(const json_t *events)
{
    double all = 0, conv = 0;
    const json_t *event;
    size_t i;

    json_array_foreach(events, i, event)
    {
        const double time = json_number_value(json_object_get(event, "dur"));
        const char *name = text_of(event, "name"), *op = text_of(json_object_get(event, "args"), "op_name");

        if (strcmp(text_of(event, "cat"), "Node") != 0 || !strstr(name, "_kernel_time"))
            continue;
        all += time;
        conv += strstr(op, "Conv") ? time : 0;
    }
    return all > 0 ? conv / all : (double)NAN;
}

enum { PROFILED_RUNS = 5 };

/* Runs with a profile in a folder. Returns the profile's path, to be freed; NULL with a line in why. */
static char *profile(const struct net *like, const struct net_peer *peer, const struct net_session_ask *ask,
                     struct exp_why *why)
{
    const void **in = inputs_of(like);
    struct net_session *session;
    char *path = NULL;
    int err = net_session_open(&session, peer, like->graph, ask, why);

    for (int i = 0; i < PROFILED_RUNS && !err; i++)
        err = net_session_run(session, in, NULL, why);
    net_session_close(session, &path);
    free(in);
    if (!err && !path)
        err = exp_fail(why, -EIO, "ONNX Runtime wrote no profile");
    if (err)
        free(path);
    return err ? NULL : path;
}

double net_peer_conv_share(const struct net *like, const struct net_peer *peer, bool optimises, unsigned n_threads,
                           struct exp_why *why)
{
    struct exp_workdir folder;
    double share = (double)NAN;
    char *prefix, *path;
    json_t *events;

    if (exp_workdir_open(&folder, exp_workdir_temporary(), why))
        return share;
    prefix = exp_format("%s/profile", folder.path);
    path = profile(like, peer,
                   &(struct net_session_ask){ .n_threads = n_threads, .optimises = optimises, .profile = prefix }, why);
    events = path ? json_load_file(path, 0, NULL) : NULL;
    if (events)
        share = share_of_conv(events);
    if (path && isnan(share))
        exp_fail(why, -EIO, "ONNX Runtime's profile has no times of nodes");
    json_decref(events);
    free(path);
    free(prefix);
    exp_workdir_close(&folder);
    return share;
}
