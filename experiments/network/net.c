#define _DEFAULT_SOURCE /* madvise */
#include "experiments/network/inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/shape/sizes.h"

/* ---- memory of a network ---- */

int net_plan(struct net **net, const struct onnx_graph *graph, const struct net_options *o, struct exp_why *why)
{
    struct net *n = exp_new(1, sizeof *n);
    int err;

    assert(net && graph && o && o->setup && o->algo);
    *net = NULL;
    n->graph = graph;
    n->options = *o;
    n->options.n_threads = o->n_threads ? o->n_threads : 1;
    n->own = exp_new(1, sizeof(struct net_own));
    err = net_compile(n, why);
    if (!err)
        err = net_place_tensors(n, why);
    if (err)
        net_free(n);
    else
        *net = n;
    return err;
}

void net_free(struct net *net)
{
    struct net_own *own;

    if (!net)
        return;
    for (size_t i = 0; i < net->n_steps; i++)
        op_release(&net->step[i].call);
    for (size_t i = 0; i < NET_N_PLACES && !net->is_lent; i++)
        free(net->place[i]);
    if (net->is_lent)
        exp_plugin_take_back(net->options.algo->plugin);
    own = net->own;
    for (size_t i = 0; i < own->n_pieces; i++)
        free(own->piece[i]);
    free(own->piece);
    free(own);
    sconv_team_free(net->team);
    free(net->step);
    free(net->tensor);
    free(net);
}

/* ---- memory ---- */

bool net_fits_memory(size_t bytes)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages <= 0 || page <= 0 || bytes / (size_t)page < (size_t)pages;
}

/* Says how many bytes all places take; SIZE_MAX: more than can be said. */
static size_t all_bytes(const struct net *net)
{
    size_t sum = 0;

    for (int i = NET_ARENA; i < NET_N_PLACES; i++)
        if (__builtin_add_overflow(sum, net->place_bytes[i], &sum))
            return SIZE_MAX;
    return sum;
}

/* Allocates a place on large pages, and touches each page once, before any run. */
static int allocate(unsigned char **place, size_t bytes)
{
    void *memory;
    int err = posix_memalign(&memory, CONV_ARENA_ALIGN, round_up(bytes, NET_PAGE) + NET_PAGE);

    if (err)
        return -err;
    madvise(memory, bytes, MADV_HUGEPAGE); /* a wish: the kernel may give small pages */
    memset(memory, 0, bytes);
    *place = memory;
    return 0;
}

/* Takes memory shared with the plug-in's process. The places follow each other, each on a page. */
static int borrow(struct net *net)
{
    size_t bytes = NET_PAGE; /* kernels may read behind a tensor */
    unsigned char *memory;

    for (int i = NET_ARENA; i < NET_N_PLACES; i++)
        bytes += round_up(net->place_bytes[i], NET_PAGE) + NET_PAGE;
    memory = exp_plugin_lend(net->options.algo->plugin, bytes);
    net->is_lent = memory;
    for (int i = NET_ARENA; i < NET_N_PLACES && memory; i++) {
        net->place[i] = memset(memory, 0, net->place_bytes[i]);
        memory += round_up(net->place_bytes[i], NET_PAGE) + NET_PAGE;
    }
    return net->is_lent ? 0 : -ENOMEM;
}

static int allocate_all(struct net *net)
{
    int err = 0;

    if (net->options.algo->plugin)
        return borrow(net);
    for (int i = NET_ARENA; i < NET_N_PLACES && !err; i++)
        err = allocate(&net->place[i], net->place_bytes[i]);
    return err;
}

/* Copies a constant of the graph to its place. */
static void copy_constant(const struct net *net, size_t tensor)
{
    const struct net_tensor *t = &net->tensor[tensor];
    const struct onnx_value *v = t->value == ONNX_NONE ? NULL : &net->graph->value[t->value];
    float *to = net_at(net, tensor);

    if (!v || t->place != NET_CONSTANTS || !onnx_is_constant(v))
        return;
    if (v->data)
        memcpy(to, v->data, t->bytes);
    for (size_t i = 0; i < v->elements && v->is_filled; i++)
        to[i] = v->fill;
}

int net_load(struct net *net, struct exp_why *why)
{
    int err = net_fits_memory(all_bytes(net)) ? 0 : -ENOMEM;

    assert(net->tensor || !net->n_tensors);
    if (net->options.algo->plugin && exp_algo_why_not_run(net->options.algo, net->options.setup))
        return exp_fail(why, -ECANCELED, "%s", exp_algo_why_not_run(net->options.algo, net->options.setup));
    if (!err)
        err = allocate_all(net);
    if (!err)
        err = sconv_team_create(&net->team, net->options.n_threads);
    if (err)
        return exp_fail(why, err, "%s: no memory for %zu bytes of tensors and %zu of weights", net->graph->path,
                        net->place_bytes[NET_ARENA], net->place_bytes[NET_CONSTANTS]);
    for (size_t i = 0; i < net->n_tensors; i++)
        copy_constant(net, i);
    for (size_t i = 0; i < net->n_steps && !err; i++)
        err = net->step[i].conv ? net_conv_load(net, &net->step[i]) : 0;
    if (err)
        return exp_fail(why, err, "%s: filters cannot be packed: %s", net->graph->path, strerror(-err));
    for (size_t i = 0; i < net->n_steps && !err; i++)
        err = net->step[i].conv ? net_conv_open(net, &net->step[i], why) : 0;
    return err;
}

/* ---- addresses ---- */

void *net_input(const struct net *net, size_t i)
{
    assert(i < net->graph->n_inputs);
    return net_at(net, net->graph->input[i]);
}

const void *net_output(const struct net *net, size_t i)
{
    assert(i < net->graph->n_outputs);
    return net_at(net, net->graph->output[i]);
}

/* ---- runs ---- */

enum { MAX_ENDS = 64 }; /* inputs and outputs of an operator on the stack */

static void run_operator(const struct net *net, const struct net_step *s)
{
    const void *in_few[MAX_ENDS];
    void *out_few[MAX_ENDS];
    const void **in = s->n_in > MAX_ENDS ? exp_new(s->n_in, sizeof *in) : in_few;
    void **out = s->n_out > MAX_ENDS ? exp_new(s->n_out, sizeof *out) : out_few;

    for (size_t i = 0; i < s->n_in; i++)
        in[i] = net_at(net, s->in[i]);
    for (size_t i = 0; i < s->n_out; i++)
        out[i] = net_at(net, s->out[i]);
    op_run(&s->call, &(struct op_tensors){ in, out }, net->team);
    if (in != in_few)
        free(in);
    if (out != out_few)
        free(out);
}

int net_run_step(const struct net *net, size_t step, struct exp_why *why)
{
    const struct net_step *s = &net->step[step];
    int err = 0;

    assert(step < net->n_steps);
    if (s->conv)
        err = net_conv_run(net, s, why);
    else
        run_operator(net, s);
    if (err == -ECANCELED) /* why has the reason */
        return err;
    return err ? exp_fail(why, err, "%s: node '%s': %s", net->graph->path, s->name, strerror(-err)) : 0;
}

int net_run(const struct net *net, uint64_t *step_ns, struct exp_why *why)
{
    uint64_t before = step_ns ? ctr_now_ns() : 0;
    int err = 0;

    for (size_t i = 0; i < net->n_steps && !err; i++) {
        uint64_t after;

        err = net_run_step(net, i, why);
        if (!step_ns)
            continue;
        after = ctr_now_ns();
        step_ns[i] = (uint64_t)((int64_t)(after - before) + net_step_elsewhere_ns(&net->step[i]));
        before = after;
    }
    return err;
}

/* ---- texts ---- */

void net_step_describe(const struct net *net, const struct net_step *s, char *text, size_t bytes)
{
    *text = '\0';
    for (size_t i = 0; i < s->n_nodes; i++)
        exp_say_more(text, bytes, "%s%s", i ? " + " : "", net->graph->node[s->node[i]].op);
}
