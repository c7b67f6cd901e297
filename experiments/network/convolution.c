/* Convolutions of a network: memory, filters, runs. */
#include "experiments/network/inside.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/resolve.h"
#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"

enum conv_tensor net_filter_tensor(const struct conv_plan *plan)
{
    const bool is_packed = plan->algorithm == CONV_SCONV || plan->algorithm == CONV_WINOGRAD;

    return is_packed && !conv_plan_packs_filters(plan) ? CONV_PACKED_FILTER : CONV_FILTER;
}

/* Threads share the nest of every other plan; run_base shares out OpenBLAS's product. */
bool net_conv_is_apart(const struct net_conv *conv)
{
    return conv->plan.algorithm == CONV_GEMM || conv->plan.algorithm == CONV_PLUGIN || conv->algo->is_generated;
}

/*
 * Tells whether a tensor of a plan lies in the workspace. A tensor of the network and filters in their loaded layout do
 * not. OpenBLAS packs into its own buffers.
 */
static bool is_in_workspace(const struct conv_plan *plan, enum conv_tensor t)
{
    if (t == CONV_INPUT || t == CONV_OUTPUT || t == CONV_FILTER || t == net_filter_tensor(plan))
        return false;
    return !conv_plan_is_base(plan) || t == CONV_IM2COL;
}

/* The parts of a workspace; each begins on a page. Threads that share a nest have their own copy of each part. */
struct workspace {
    size_t at[CONV_N_TENSORS]; /* of the first thread */
    size_t thread_bytes;       /* from one thread's parts to the next thread's */
    size_t bytes;
};

static struct workspace lay_out(const struct net_conv *conv)
{
    struct workspace w = { .bytes = 0 };

    for (enum conv_tensor t = 0; t < CONV_N_TENSORS; t++) {
        w.at[t] = w.thread_bytes;
        if (is_in_workspace(&conv->plan, t))
            w.thread_bytes += round_up(conv->plan.layout.bytes[t], NET_PAGE);
    }
    w.bytes = w.thread_bytes * (net_conv_is_apart(conv) ? 1 : conv->n_threads);
    return w;
}

size_t net_conv_workspace(const struct net_conv *conv)
{
    return lay_out(conv).bytes;
}

struct conv_binding net_conv_bind(const struct net *net, const uint64_t base[NET_N_PLACES], const struct net_step *s)
{
    const struct net_conv *conv = s->conv;
    const struct workspace w = lay_out(conv);
    const struct conv_plan *plan = &conv->plan;
    const uint64_t memory = net_address(net, base, conv->workspace);
    struct conv_binding b = { { 0 } };

    assert(s->conv);
    b.addr[CONV_INPUT] = net_address(net, base, s->in[0]);
    b.addr[CONV_OUTPUT] = net_address(net, base, s->out[0]);
    for (enum conv_tensor t = 0; t < CONV_N_TENSORS; t++)
        b.addr[t] = is_in_workspace(plan, t) ? memory + w.at[t] : b.addr[t];
    if (conv_plan_is_base(plan)) {
        b.addr[CONV_PACKED_INPUT] = base[NET_NOWHERE];
        b.addr[CONV_PACKED_FILTER] = base[NET_NOWHERE] + round_up(plan->layout.bytes[CONV_PACKED_INPUT], NET_PAGE);
    }
    b.addr[net_filter_tensor(plan)] = net_address(net, base, conv->filter);
    return b;
}

struct conv_after net_conv_after(const struct net *net, const uint64_t base[NET_N_PLACES], const struct net_step *s)
{
    assert(s->conv);
    return (struct conv_after){
        .out = net_address(net, base, s->out[0]),
        .bias = net_address(net, base, s->conv->bias),
        .residual = net_address(net, base, s->conv->residual),
        .activation = s->conv->activation,
    };
}

bool net_conv_has_after(const struct net_conv *conv)
{
    return conv->bias != ONNX_NONE || conv->residual != ONNX_NONE || conv->activation != CONV_ACTIVATION_NONE;
}

/* ---- filters ---- */

static const struct onnx_value *weights(const struct net *net, const struct net_step *s)
{
    for (size_t i = 0;; i++) {
        assert(i < s->n_nodes);
        if (onnx_is(&net->graph->node[s->node[i]], "Conv"))
            return onnx_in(net->graph, &net->graph->node[s->node[i]], 1);
    }
}

/* Returns the filters, each multiplied by its scale; to be freed. */
static float *scaled(const struct onnx_value *v, const double *scale, size_t n_filters)
{
    const size_t each = v->elements / n_filters;
    const float *from = v->data;
    float *to = exp_new(v->elements, sizeof *to);

    for (size_t f = 0; f < n_filters; f++)
        for (size_t i = f * each; i < (f + 1) * each; i++)
            to[i] = (float)(scale[f] * (double)(from ? from[i] : v->fill));
    return to;
}

static int pack(const struct net_conv *conv, const float *filter, void *to)
{
    const struct conv_plan *plan = &conv->plan;
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;

    if (net_filter_tensor(plan) == CONV_FILTER) {
        memcpy(to, filter, plan->layout.bytes[CONV_FILTER]);
        return 0;
    }
    bind.addr[CONV_FILTER] = (uintptr_t)filter;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)to;
    conv_exec_init(&exec, plan, &bind);
    return conv_nest_pack_filters(plan, &exec.base);
}

static bool changes(const double *scale, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (scale[i] != 1)
            return true;
    return false;
}

int net_conv_load(const struct net *net, const struct net_step *s)
{
    const struct net_conv *conv = s->conv;
    const size_t k = conv->plan.problem.k;
    const struct onnx_value *v = weights(net, s);
    double *scale = exp_new(k, sizeof *scale), *shift = exp_new(k, sizeof *shift);
    float *bias = conv->bias == ONNX_NONE ? NULL : net_at(net, conv->bias), *own;
    int err;

    assert(s->conv);
    net_fold(net->graph, s->node, s->n_nodes, scale, shift, k);
    own = v->data && !changes(scale, k) ? NULL : scaled(v, scale, k);
    err = pack(conv, own ? own : v->data, net_at(net, conv->filter));
    for (size_t i = 0; i < k && bias; i++)
        bias[i] = (float)shift[i];
    free(own);
    free(scale);
    free(shift);
    return err;
}

/* ---- runs ---- */

/* A run's common data, and the result of each part. */
struct shared_run {
    const struct net_step *step;
    const struct net_conv *conv;
    struct conv_binding bind;
    struct conv_after after;
    size_t thread_bytes;
    int err[SCONV_MAX_THREADS];
};

/* A thread's part of the nest: as libsconv runs its plans. */
static void run_part(void *ctx, unsigned number)
{
    struct shared_run *r = ctx;
    const struct conv_plan *plan = &r->conv->plan;
    struct conv_binding bind = r->bind;
    struct conv_exec exec;
    struct conv_fused fused;
    struct conv_share share;
    struct conv_backend *backend = &exec.base;

    for (enum conv_tensor t = 0; t < CONV_N_TENSORS; t++)
        bind.addr[t] += is_in_workspace(plan, t) ? number * r->thread_bytes : 0;
    conv_exec_init(&exec, plan, &bind);
    conv_fused_init(&fused, backend, plan, &r->after, NULL);
    conv_fused_gather(&fused);
    if (net_conv_has_after(r->conv))
        backend = &fused.base;
    if (r->conv->n_threads > 1) {
        conv_share_init(&share, backend, plan, r->conv->axis, number, r->conv->n_threads);
        backend = &share.base;
    }
    r->err[number] = conv_nest_run(plan, backend);
    conv_fused_end(&fused);
}

/* Runs the epilogue, behind the whole convolution. */
static void finish(const struct shared_run *r)
{
    const struct conv_problem *p = &r->conv->plan.problem;
    const struct conv_epilogue_kernel *kernel = conv_epilogue_best();
    const size_t bytes = p->k * conv_windows(p) * NET_FLOAT;

    for (size_t i = 0; i < p->n; i++) {
        const struct conv_epilogue_args a = {
            .out = r->after.out + i * bytes,
            .bias = r->after.bias,
            .residual = r->after.residual ? r->after.residual + i * bytes : 0,
            .ld_out = conv_windows(p),
            .n_f = p->k,
            .n_win = conv_windows(p),
            .activation = r->after.activation,
        };

        kernel->fn(&a);
    }
}

/* ---- im2col + OpenBLAS, shared out ---- */

/* A group of an image, in parts of the group's matrix, or of the product along the longer side. */
struct product {
    const struct conv_plan *plan;
    const struct conv_binding *bind;
    const struct conv_blas *blas;
    struct conv_step step; /* all windows and filters */
    unsigned n_parts;
    bool by_filters;
};

static size_t part_begin(size_t n, unsigned part, unsigned n_parts)
{
    return n * part / n_parts;
}

/* Lowers a part of the channels: the rows of the matrix of these channels. */
static void lower_part(void *ctx, unsigned part)
{
    const struct product *t = ctx;
    const struct conv_problem *p = &t->plan->problem;
    const size_t channels = conv_group_channels(p), begin = part_begin(channels, part, t->n_parts);
    struct conv_problem some = *p;
    struct conv_im2col_args a = conv_resolve_im2col(t->plan, t->bind, &t->step);

    some.groups = 1;
    some.c = part_begin(channels, part + 1, t->n_parts) - begin;
    a.p = &some;
    a.in += begin * p->h * p->w * NET_FLOAT;
    a.col += begin * p->r * p->s * conv_windows(p) * NET_FLOAT;
    if (some.c)
        conv_im2col(&a);
}

static void multiply_part(void *ctx, unsigned part)
{
    enum { ROW_MAJOR = 101, NO_TRANS = 111 }; /* cblas.h */
    const struct product *t = ctx;
    struct conv_step s = t->step;
    size_t *first = t->by_filters ? &s.f0 : &s.win0, *n = t->by_filters ? &s.n_f : &s.n_win, all = *n;
    struct conv_pack_matrix_args in;
    struct conv_pack_filters_args f;
    struct conv_zero_args out;

    *first = part_begin(all, part, t->n_parts);
    *n = part_begin(all, part + 1, t->n_parts) - *first;
    if (!*n)
        return;
    in = conv_resolve_pack_matrix(t->plan, t->bind, &s);
    f = conv_resolve_pack_filters(t->plan, t->bind, &s);
    out = conv_resolve_zero(t->plan, t->bind, &s);
    t->blas->sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, (int)s.n_f, (int)s.n_win, (int)s.n_k, 1, conv_in_ptr(f.filter),
                   (int)f.ld, conv_in_ptr(in.matrix), (int)in.ld, 0, conv_out_ptr(out.out), (int)out.ld_out);
}

/* Runs as conv_base_run, on several threads; conv_base_run has checked that dimensions fit BLAS's int. */
static void run_base(const struct net *net, const struct shared_run *r)
{
    const struct conv_plan *plan = &r->conv->plan;
    const struct conv_problem *p = &plan->problem;
    struct product t = { plan, &r->bind, &net->options.setup->blas, { 0 }, r->conv->n_threads, false };

    t.step.n_win = conv_windows(p);
    t.step.n_f = conv_group_filters(p);
    t.step.n_k = conv_reduction(p);
    t.by_filters = t.step.n_f > t.step.n_win;
    for (t.step.image = 0; t.step.image < p->n; t.step.image++) {
        for (t.step.group = 0; t.step.group < p->groups; t.step.group++) {
            if (plan->gemm.needs_im2col)
                conv_team_run(net->team, t.n_parts, &(struct conv_team_job){ lower_part, &t });
            conv_team_run(net->team, t.n_parts, &(struct conv_team_job){ multiply_part, &t });
        }
    }
}

/* ---- plug-ins ---- */

static uint64_t (*clock_of(const struct net *net))(void)
{
    return net->options.now_ns ? net->options.now_ns : ctr_now_ns;
}

static int run_plugin(const struct net *net, const struct shared_run *r, struct exp_why *why)
{
    struct net_conv *conv = r->step->conv;
    const uint64_t start = clock_of(net)();
    const char *refusal = exp_plugin_run_lent(conv->plan.plugin.code, conv->number, &conv->plan, &conv->took_ns);

    conv->waited_ns = clock_of(net)() - start;
    return refusal ? exp_fail(why, -ECANCELED, "node '%.100s': %s", r->step->name, refusal) : 0;
}

int64_t net_step_elsewhere_ns(const struct net_step *s)
{
    return s->conv ? (int64_t)s->conv->took_ns - (int64_t)s->conv->waited_ns : 0;
}

void net_spoil(const struct net *net)
{
    enum { SPOILT = 64 };

    for (size_t i = 0; i < net->n_steps; i++) {
        const struct net_step *s = &net->step[i];
        const size_t n = net->tensor[s->out[0]].bytes / NET_FLOAT;
        float *out = net_at(net, s->out[0]);

        for (size_t k = 0; s->conv && s->conv->plan.algorithm == CONV_PLUGIN && k < n; k += 1 + n / SPOILT)
            out[k] = NAN;
    }
}

/* ---- convolutions without a nest ---- */

/* Runs a convolution without a shared nest: OpenBLAS, our GEMM, generated code, a plug-in. */
static int run_whole(const struct net *net, const struct shared_run *r, struct exp_why *why)
{
    int err = 0;

    if (r->conv->plan.algorithm == CONV_PLUGIN)
        err = run_plugin(net, r, why);
    else if (conv_plan_is_base(&r->conv->plan) && r->conv->n_threads > 1)
        run_base(net, r);
    else
        err = r->conv->algo->run(net->options.setup, &r->conv->plan, &r->bind);
    if (!err && net_conv_has_after(r->conv))
        finish(r);
    return err;
}

/* The addresses of a loaded network's places. */
struct bases {
    uint64_t of[NET_N_PLACES];
};

static struct bases bases_of(const struct net *net)
{
    struct bases b = { { 0 } };

    for (int i = NET_ARENA; i < NET_N_PLACES; i++)
        b.of[i] = (uintptr_t)net->place[i];
    return b;
}

int net_conv_open(const struct net *net, const struct net_step *s, struct exp_why *why)
{
    const struct net_conv *conv = s->conv;
    const struct bases base = bases_of(net);
    const struct conv_binding bind = net_conv_bind(net, base.of, s);
    const char *refusal;

    assert(s->conv);
    if (conv->plan.algorithm != CONV_PLUGIN)
        return 0;
    refusal = exp_plugin_open_lent(conv->plan.plugin.code, conv->number, &conv->plan, &bind, clock_of(net));
    return refusal ? exp_fail(why, -ECANCELED, "node '%.100s': %s", s->name, refusal) : 0;
}

int net_conv_run(const struct net *net, const struct net_step *s, struct exp_why *why)
{
    const struct net_conv *conv = s->conv;
    const struct bases base = bases_of(net);
    struct shared_run r = {
        .step = s,
        .conv = conv,
        .bind = net_conv_bind(net, base.of, s),
        .after = net_conv_after(net, base.of, s),
        .thread_bytes = lay_out(conv).thread_bytes,
    };
    int err = 0;

    assert(s->conv);
    if (net_conv_is_apart(conv))
        return run_whole(net, &r, why);
    conv_team_run(net->team, conv->n_threads, &(struct conv_team_job){ run_part, &r });
    for (unsigned i = 0; i < conv->n_threads && !err; i++)
        err = r.err[i];
    return err;
}
