/* Gives tensors places: lifetimes, reuse of memory, offsets. */
#include "experiments/network/inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/arena.h"
#include "kernels/shape/sizes.h"

/* ---- lifetimes ---- */

static void live(struct net *net, size_t tensor, size_t step)
{
    struct net_tensor *t;
    size_t at;

    if (tensor == ONNX_NONE)
        return;
    for (size_t root = net_root(net, tensor, &at);; tensor = net->tensor[tensor].root) {
        t = &net->tensor[tensor];
        t->first = min_size(t->first, step);
        t->last = t->last == ONNX_NONE ? step : max_size(t->last, step);
        if (tensor == root)
            return;
    }
}

static void find_lives(struct net *net)
{
    for (size_t i = 0; i < net->n_tensors; i++)
        net->tensor[i].first = net->tensor[i].last = ONNX_NONE;
    for (size_t i = 0; i < net->n_steps; i++) {
        const struct net_step *s = &net->step[i];

        for (size_t k = 0; k < s->n_in; k++)
            live(net, s->in[k], i);
        for (size_t k = 0; k < s->n_out; k++)
            live(net, s->out[k], i);
        for (size_t k = 0; s->conv && k < 3; k++)
            live(net, (const size_t[]){ s->conv->filter, s->conv->bias, s->conv->workspace }[k], i);
    }
    for (size_t i = 0; i < net->graph->n_outputs; i++)
        live(net, net->graph->output[i], net->n_steps); /* the user reads outputs behind the last step */
}

/* ---- places ---- */

static enum net_place place_of(const struct net *net, size_t root)
{
    const struct net_tensor *t = &net->tensor[root];

    if (t->first == ONNX_NONE)
        return NET_NOWHERE;
    if (t->value == ONNX_NONE)
        return t->place;
    if (onnx_is_constant(&net->graph->value[t->value]))
        return NET_CONSTANTS;
    return net->graph->value[t->value].is_input ? NET_INPUTS : NET_ARENA;
}

static void find_places(struct net *net)
{
    for (size_t i = 0; i < net->n_tensors; i++) {
        size_t at, root = net_root(net, i, &at);

        net->tensor[i].place = net->tensor[i].first == ONNX_NONE ? NET_NOWHERE : place_of(net, root);
    }
    for (size_t i = 0; i < net->graph->n_inputs; i++)
        net->tensor[net->graph->input[i]].place = NET_INPUTS; /* a user fills unread inputs, too */
}

/* ---- in place ---- */

/* Tells whether a step's output may overlay an input: the shapes are equal, and the step is the last reader. */
static bool may_overwrite(const struct net *net, const struct net_step *s, size_t number, size_t in)
{
    const struct onnx_value *value = net->graph->value;
    const struct net_tensor *t = net->tensor;
    size_t at, root, out_at, out = s->out[0];

    if (in == ONNX_NONE || t[in].place != NET_ARENA || t[in].bytes != t[out].bytes ||
        value[in].n_dims != value[out].n_dims ||
        memcmp(value[in].dim, value[out].dim, value[in].n_dims * sizeof *value[in].dim))
        return false;
    root = net_root(net, in, &at);
    return !at && t[root].bytes == t[out].bytes && t[root].last == number && net_root(net, out, &out_at) != root;
}

/* Puts an input's whole memory where the output will lie. */
static void overwrite(struct net *net, struct net_step *s, size_t in)
{
    size_t at, root = net_root(net, in, &at), first = net->tensor[root].first;

    net->tensor[root].root = s->out[0];
    s->is_in_place = true;
    live(net, root, first);
}

static void overwrite_inputs(struct net *net)
{
    for (size_t i = 0; i < net->n_steps; i++) {
        struct net_step *s = &net->step[i];

        if (s->conv || !(s->call.op->traits & OP_IN_PLACE) || net->options.keeps_all || s->out[0] == ONNX_NONE)
            continue;
        for (size_t k = 0; k < s->n_in && !s->is_in_place; k++)
            if (may_overwrite(net, s, i, s->in[k]))
                overwrite(net, s, s->in[k]);
    }
}

/* ---- offsets ---- */

static bool is_root(const struct net *net, size_t i)
{
    return net->tensor[i].root == i;
}

/* Lays the tensors of a place in a row. Returns false if the tensors do not fit an address space. */
static bool lay_out(struct net *net, enum net_place place, size_t align)
{
    size_t end = 0;

    for (size_t i = 0; i < net->n_tensors; i++) {
        struct net_tensor *t = &net->tensor[i];

        if (t->place != place || !is_root(net, i))
            continue;
        t->offset = end;
        if (__builtin_add_overflow(end, t->bytes, &end) || end > PTRDIFF_MAX - align)
            return false;
        end = round_up(end, align);
    }
    net->place_bytes[place] = end;
    return true;
}

static int plan_arena(struct net *net)
{
    struct net_block *block = exp_new(net->n_tensors + 1, sizeof *block);
    size_t n = 0;
    struct net_arena a;
    int err;

    for (size_t i = 0; i < net->n_tensors; i++) {
        const struct net_tensor *t = &net->tensor[i];

        if (t->place == NET_ARENA && is_root(net, i))
            block[n++] = (struct net_block){ .bytes = t->bytes,
                                             .first = net->options.keeps_all ? 0 : t->first,
                                             .last = net->options.keeps_all ? net->n_steps : t->last };
    }
    err = net_arena_plan(&a, block, n);
    for (size_t i = net->n_tensors; i-- && !err;)
        if (net->tensor[i].place == NET_ARENA && is_root(net, i))
            net->tensor[i].offset = block[--n].offset;
    free(block);
    net->place_bytes[NET_ARENA] = a.bytes;
    net->alive_bytes = a.alive_bytes;
    net->heuristic = a.heuristic;
    return err;
}

/* Sets the places of all tensors, also of tensors inside of tensors. */
static void flatten(struct net *net)
{
    for (size_t i = 0; i < net->n_tensors; i++) {
        size_t at, root = net_root(net, i, &at);

        net->tensor[i].offset = net->tensor[root].offset + at;
        if (net->tensor[i].is_workspace)
            net->workspace_bytes = max_size(net->workspace_bytes, net->tensor[i].bytes);
    }
    for (size_t i = 0; i < net->n_tensors; i++) {
        size_t at, root = net_root(net, i, &at);

        net->tensor[i].at = at;
        net->tensor[i].root = root;
    }
}

int net_place_tensors(struct net *net, struct exp_why *why)
{
    int err;

    assert(net && !net->place[NET_ARENA]);
    find_lives(net);
    find_places(net);
    overwrite_inputs(net);
    err = lay_out(net, NET_INPUTS, NET_ARENA_ALIGN) && lay_out(net, NET_CONSTANTS, NET_PAGE) ? plan_arena(net)
                                                                                             : -EOVERFLOW;
    if (err)
        return exp_fail(why, err, "%s: its tensors do not fit an address space", net->graph->path);
    flatten(net);
    return 0;
}
