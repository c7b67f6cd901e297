#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "experiments/network/stream.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "experiments/bench/replay/replay.h"
#include "experiments/network/operators/emitting.h"
#include "kernels/shape/sizes.h"

/* An operator's step, ready to emit: addresses and tags of the tensors, and the source of the accesses. */
struct emitter {
    pthread_mutex_t lock; /* an operator's memory serves a single run at a time */
    struct op_emission e;
    enum op_emitted what;
};

struct net_emitters {
    struct emitter *of; /* [n_steps]; of convolutions unused */
    size_t n;
    const char *_Atomic refusal; /* why a plug-in's accesses cannot be recorded; NULL: none was refused */
};

/* ---- convolutions ---- */

/* Tells the residual from the convolution's input: an epilogue calls the residual input. */
struct other_input {
    struct sim_sink sink; /* first: accept() finds the object around it */
    struct sim_sink *to;
};

static void accept_other(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    const struct other_input *o = (const struct other_input *)self;
    struct sim_run copy[SIM_MAX_BURST_RUNS];

    memcpy(copy, run, n_runs * sizeof *copy);
    for (size_t r = 0; r < n_runs; r++)
        copy[r].tag = copy[r].tag == CONV_INPUT ? EXP_TAG_OTHER : copy[r].tag;
    sim_emit(o->to, copy, n_runs, n_times);
}

/* Base's epilogue follows the product of the whole output, image by image. */
static void emit_whole_after(const struct conv_plan *plan, enum cpu_isa isa, const struct conv_after *a,
                             struct sim_sink *sink)
{
    const struct conv_problem *p = &plan->problem;
    const enum cpu_isa own = plan->algorithm == CONV_PLUGIN ? isa : conv_plan_isa(plan);
    const size_t image_bytes = p->k * conv_windows(p) * sizeof(float);

    for (size_t n = 0; n < p->n; n++) {
        const struct conv_epilogue_args args = { .out = a->out + n * image_bytes,
                                                 .scale = a->scale,
                                                 .bias = a->bias,
                                                 .residual = a->residual ? a->residual + n * image_bytes : 0,
                                                 .ld_out = conv_windows(p),
                                                 .n_f = p->k,
                                                 .n_win = conv_windows(p),
                                                 .activation = a->activation };

        conv_epilogue_emit(conv_epilogue_of(own), &args, sink);
    }
}

static int emit_convolution(const struct net_stream_view *view, const struct net_step *step,
                            const struct exp_pool *pool, struct sim_sink *sink, uint64_t *mac_instructions)
{
    const struct net_stream *s = view->stream;
    const struct exp_setup *setup = s->net->options.setup;
    const struct net_conv *conv = step->conv;
    const struct conv_binding bind = net_conv_bind(s->net, s->base, step);
    const struct conv_after after = net_conv_after(s->net, s->base, step);
    const bool is_fused = net_conv_has_after(conv);
    const bool is_apart = net_conv_is_apart(conv);
    const char *refusal = NULL;
    struct other_input other = { { accept_other }, sink };
    const struct exp_replay_plan r = {
        .plan = &conv->plan,
        .issue = &setup->machine.issue,
        .stack = view->has_stack ? exp_stacks_find(&setup->stacks, conv->algo->name, &conv->plan) : NULL,
        .bind = &bind,
        .after = is_fused && !is_apart ? &after : NULL,
        .after_sink = &other.sink,
        .pool = pool,
        .why = &refusal,
    };
    int err = exp_replay_plan(&r, sink, mac_instructions);

    if (err == -ENOTSUP && refusal)
        atomic_store(&s->emitters->refusal, refusal);
    if (!err && is_fused && is_apart)
        emit_whole_after(&conv->plan, setup->ukr->isa, &after, &other.sink);
    return err;
}

/* ---- operators ---- */

/* Multiply-adds of the machine's shape, as if all were full. */
static uint64_t product_instructions(const struct net_stream *s, const struct net_step *step)
{
    const struct sim_issue *i = &s->net->options.setup->machine.issue;

    return i->mac_rows && i->mac_columns
               ? (uint64_t)(net_step_macs(s->net, step) / ((double)i->mac_rows * i->mac_columns))
               : 0;
}

static int emit_operator(const struct net_stream *s, size_t step, struct sim_sink *sink, uint64_t *mac_instructions)
{
    struct emitter *e = &s->emitters->of[step];

    pthread_mutex_lock(&e->lock);
    op_emit(&s->net->step[step].call, &e->e, e->what, sink);
    pthread_mutex_unlock(&e->lock);
    *mac_instructions = product_instructions(s, &s->net->step[step]);
    return 0;
}

static int emit(const void *ctx, size_t step, const struct exp_pool *pool, struct sim_sink *sink,
                uint64_t *mac_instructions)
{
    const struct net_stream_view *view = ctx;
    const struct net_step *s = &view->stream->net->step[step];

    return s->conv ? emit_convolution(view, s, pool, sink, mac_instructions)
                   : emit_operator(view->stream, step, sink, mac_instructions);
}

static enum exp_touched touched(const void *ctx, size_t step, unsigned tag)
{
    const struct net_conv *conv = ((const struct net_stream_view *)ctx)->stream->net->step[step].conv;

    switch (tag) {
    case CONV_INPUT:
        return EXP_TOUCHED_INPUT;
    case CONV_FILTER:
        return EXP_TOUCHED_WEIGHTS;
    case CONV_OUTPUT:
        return EXP_TOUCHED_OUTPUT;
    case CONV_PACKED_FILTER:
        return conv && !conv_plan_packs_filters(&conv->plan) ? EXP_TOUCHED_WEIGHTS : EXP_TOUCHED_WORKSPACE;
    case CONV_STACK:
        return EXP_TOUCHED_STACK;
    case EXP_TAG_OTHER:
        return EXP_TOUCHED_OTHER;
    default:
        return EXP_TOUCHED_WORKSPACE;
    }
}

/* ---- sizes ---- */

static const struct onnx_value *in_of(const struct net *net, const struct net_step *s, size_t i)
{
    return onnx_in(net->graph, s->call.ask.node, i);
}

bool net_step_is_quantized(const struct net_step *s)
{
    return !s->conv && onnx_integers(s->call.ask.node);
}

double net_step_macs(const struct net *net, const struct net_step *s)
{
    const struct onnx_integers *q = s->conv ? NULL : onnx_integers(s->call.ask.node);
    const bool is_gemm = !strcmp(s->op, "Gemm");
    const struct onnx_value *a, *out;

    if (s->conv)
        return conv_macs(&s->conv->plan.problem);
    if (!q && !is_gemm && strcmp(s->op, "MatMul") != 0)
        return 0;
    a = in_of(net, s, q && q->convolves ? q->w : 0);
    out = onnx_out(net->graph, s->call.ask.node, 0);
    if (!a || !out || !a->n_dims)
        return 0;
    if (q && q->convolves)
        return (double)out->elements * (double)a->elements / (double)a->dim[0];
    return (double)out->elements *
           (double)a->dim[is_gemm && onnx_int(s->call.ask.node, "transA", 0) ? 0 : a->n_dims - 1];
}

double net_macs(const struct net *net)
{
    double sum = 0;

    for (size_t i = 0; i < net->n_steps; i++)
        sum += net_step_macs(net, &net->step[i]);
    return sum;
}

static size_t bytes_of(const struct net *net, const size_t *tensor, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += tensor[i] == ONNX_NONE ? 0 : net->tensor[tensor[i]].bytes;
    return sum;
}

static double seconds(const void *ctx, size_t step)
{
    static const double mac_seconds = 0.16e-9, byte_seconds = 0.1e-9;
    const struct net *net = ((const struct net_stream_view *)ctx)->stream->net;
    const struct net_step *s = &net->step[step];

    return mac_seconds * net_step_macs(net, s) +
           byte_seconds * (double)(bytes_of(net, s->in, s->n_in) + bytes_of(net, s->out, s->n_out));
}

const char *net_stream_refusal(const struct net_stream *s)
{
    return s->emitters ? atomic_load(&s->emitters->refusal) : NULL;
}

const char *net_stream_source(const struct net_stream *s, size_t step)
{
    const struct net_conv *conv = s->net->step[step].conv;

    assert(step < s->net->n_steps);
    return conv && conv->plan.algorithm == CONV_PLUGIN     ? "recorded of its own code"
           : conv                                          ? "replay of its plan"
           : s->emitters->of[step].what == OP_EMITTED_CODE ? "its own code"
                                                           : "a model: inputs once, outputs once";
}

/* ---- preparing ---- */

/* Places follow each other. OpenBLAS's packing buffers are far away, because OpenBLAS gets memory from the system. */
static void lay_out(struct net_stream *s)
{
    uint64_t at = CONV_REPLAY_BASE;

    s->base[NET_NOWHERE] = CONV_REPLAY_BASE + ((uint64_t)1 << 42);
    for (int p = NET_ARENA; p < NET_N_PLACES; p++) {
        s->base[p] = at;
        at += round_up(s->net->place_bytes[p], CONV_ARENA_ALIGN);
    }
    s->bytes = at - CONV_REPLAY_BASE + CONV_PAGE_BYTES;
}

/* Numbers an operator's tensors: constants are weights; the first input that is not constant is the input. */
static void name_tensors(const struct net_stream *s, const struct net_step *step, struct op_addresses *at)
{
    uint64_t *addr = exp_new(step->n_in + step->n_out + 1, sizeof *addr);
    uint8_t *tag = exp_new(step->n_in + step->n_out + 1, sizeof *tag);
    uint8_t input = CONV_INPUT;

    for (size_t i = 0; i < step->n_in; i++) {
        const struct onnx_value *v = in_of(s->net, step, i);

        addr[i] = net_address(s->net, s->base, step->in[i]);
        tag[i] = v && onnx_is_constant(v) ? CONV_FILTER : input;
        input = tag[i] == CONV_INPUT ? EXP_TAG_OTHER : input;
    }
    for (size_t i = 0; i < step->n_out; i++) {
        addr[step->n_in + i] = net_address(s->net, s->base, step->out[i]);
        tag[step->n_in + i] = CONV_OUTPUT;
    }
    *at = (struct op_addresses){ addr, addr + step->n_in, tag, tag + step->n_in, CONV_PHASE_UKR };
}

static void prepare_emitter(struct net_stream *s, size_t step)
{
    struct emitter *e = &s->emitters->of[step];

    pthread_mutex_init(&e->lock, NULL);
    if (s->net->step[step].conv)
        return;
    name_tensors(s, &s->net->step[step], &e->e.at);
    e->e.memory = s->memory;
    e->e.begin = CONV_REPLAY_BASE;
    e->e.bytes = s->bytes;
    e->e.lanes = (unsigned)conv_epilogue_of(s->net->options.setup->ukr->isa)->lanes;
    e->e.scratch_tag = CONV_PACKED_INPUT;
    e->what = op_emitted_of(&s->net->step[step].call, &e->e);
}

int net_stream_init(struct net_stream *s, const struct net *net, struct exp_why *why)
{
    assert(s && net);
    *s = (struct net_stream){ .net = net, .view = { { s, false }, { s, true } } };
    lay_out(s);
    s->memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->memory == MAP_FAILED) {
        s->memory = NULL;
        return exp_fail(why, -ENOMEM, "no %zu bytes of addresses for the network's tensors", s->bytes);
    }
    s->emitters = exp_new(1, sizeof *s->emitters);
    s->emitters->of = exp_new(net->n_steps, sizeof *s->emitters->of);
    s->emitters->n = net->n_steps;
    for (size_t i = 0; i < net->n_steps; i++)
        prepare_emitter(s, i);
    return 0;
}

void net_stream_release(struct net_stream *s)
{
    for (size_t i = 0; s->emitters && i < s->emitters->n; i++) {
        pthread_mutex_destroy(&s->emitters->of[i].lock);
        free((uint64_t *)s->emitters->of[i].e.at.in);
        free((uint8_t *)s->emitters->of[i].e.at.in_tag);
    }
    if (s->emitters)
        free(s->emitters->of);
    free(s->emitters);
    if (s->memory)
        munmap(s->memory, s->bytes);
    *s = (struct net_stream){ 0 };
}

struct exp_steps net_stream_steps(const struct net_stream *s, bool has_stack)
{
    return (struct exp_steps){ s->net->n_steps, emit, touched, seconds, &s->view[has_stack] };
}
