#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/emitting.h"
#include "experiments/network/operators/inside.h"
#include "sim/cpu.h"

static const struct op_loops *for_this_cpu(void)
{
#ifdef __x86_64__
    if (sim_cpu_has(CPU_ISA_AVX512))
        return &op_loops__avx512;
    if (sim_cpu_has(CPU_ISA_AVX2))
        return &op_loops__avx2;
#endif
    return &op_loops__ref;
}

/* Each thread asks once: the answer costs as much as a short row of windows. */
const struct op_loops *op_loops(void)
{
    static _Thread_local const struct op_loops *found;
    const struct op_loops *emitting = op_emitting_loops();

    if (!found)
        found = for_this_cpu();
    return emitting ? emitting : found;
}

/* ---- nodes ---- */

int op_refuse(const struct op_call *call, struct exp_why *why, const char *line, ...)
{
    char text[sizeof(struct exp_why)];
    va_list args;

    va_start(args, line);
    vsnprintf(text, sizeof text, line, args);
    va_end(args);
    return exp_fail(why, -ENOTSUP, "%s: node '%.100s' (%.60s): %s", call->ask.graph->path, call->ask.node->name,
                    call->ask.node->op, text);
}

const struct onnx_value *op_in(const struct op_call *call, size_t i)
{
    return onnx_in(call->ask.graph, call->ask.node, i);
}

const struct onnx_value *op_out(const struct op_call *call, size_t i)
{
    return onnx_out(call->ask.graph, call->ask.node, i);
}

int op_check_shapes(const struct op_call *call, size_t needed, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;

    for (size_t i = 0; i < needed; i++) {
        if (!op_in(call, i))
            return op_refuse(call, why, "input %zu is left out", i);
    }
    if (!op_out(call, 0))
        return op_refuse(call, why, "it has no output");
    for (size_t i = 0; i < node->n_in; i++) {
        if (op_in(call, i) && !op_in(call, i)->has_shape)
            return op_refuse(call, why, "input '%s' has no shape", op_in(call, i)->name);
    }
    for (size_t i = 0; i < node->n_out; i++) {
        if (op_out(call, i) && !op_out(call, i)->has_shape)
            return op_refuse(call, why, "%s", node->why_no_shape ? node->why_no_shape : "an output has no shape");
    }
    return 0;
}

static int check_float(const struct op_call *call, const struct onnx_value *v, struct exp_why *why)
{
    if (!v || v->type == ONNX_FLOAT)
        return 0;
    return op_refuse(call, why, "'%s' is of type %s, not float", v->name, onnx_type_name(v->type));
}

int op_check_floats(const struct op_call *call, size_t needed, struct exp_why *why)
{
    int err = op_check_shapes(call, needed, why);

    for (size_t i = 0; !err && i < call->ask.node->n_in; i++)
        err = check_float(call, op_in(call, i), why);
    for (size_t i = 0; !err && i < call->ask.node->n_out; i++)
        err = check_float(call, op_out(call, i), why);
    return err;
}

int op_check_out(const struct op_call *call, size_t i, size_t n_dims, const int64_t *dim, struct exp_why *why)
{
    const struct onnx_value *v = op_out(call, i);

    assert(i < call->ask.node->n_out);
    if (v->n_dims != n_dims)
        return op_refuse(call, why, "'%s' has %zu dimensions where %zu follow", v->name, v->n_dims, n_dims);
    for (size_t d = 0; d < n_dims; d++) {
        if (v->dim[d] != dim[d])
            return op_refuse(call, why, "dimension %zu of '%s' is %lld where %lld follows", d, v->name,
                             (long long)v->dim[d], (long long)dim[d]);
    }
    return 0;
}

int op_axis(const struct op_call *call, int64_t axis, size_t n_dims, size_t *out, struct exp_why *why)
{
    const int64_t n = (int64_t)n_dims;

    if (axis < -n || axis >= n)
        return op_refuse(call, why, "axis %lld of %zu dimensions", (long long)axis, n_dims);
    *out = (size_t)(axis < 0 ? axis + n : axis);
    return 0;
}

size_t op_elements(const struct onnx_value *v, size_t from, size_t to)
{
    size_t n = 1;

    assert(from <= to && to <= ONNX_MAX_DIMS);
    for (size_t d = from; d < to; d++)
        n *= (size_t)v->dim[d];
    return n;
}

void *op_own(struct op_call *call, size_t bytes)
{
    assert(!call->own);
    return call->own = exp_new(1, bytes);
}

void op_activate(const struct op_call *call, float *out, size_t n)
{
    static const float six[2] = { 0, 6 };

    if (call->ask.activation == SCONV_RELU)
        op_loops()->map[OP_MAP_RELU](out, out, n, six);
    else if (call->ask.activation == SCONV_RELU6)
        op_loops()->map[OP_MAP_CLIP](out, out, n, six);
}

/* ---- threads ---- */

struct sharing {
    op_work_fn *work;
    void *ctx;
    size_t n, n_shares;
};

static void do_share(void *ctx, unsigned share)
{
    const struct sharing *s = ctx;
    const size_t each = s->n / s->n_shares, more = s->n % s->n_shares;
    const size_t from = share * each + (share < more ? share : more);

    s->work(s->ctx, from, from + each + (share < more), share);
}

void op_share(const struct op_call *call, struct sconv_team *team, size_t n, size_t bytes_of_item, op_work_fn *work,
              void *ctx)
{
    const size_t enough_bytes = 64 << 10; /* a core moves these bytes in less time than a thread takes to wake */
    struct sharing s = { work, ctx, n, call->ask.n_threads };

    assert(work && call->ask.n_threads);
    if (bytes_of_item && n / 2 < enough_bytes / bytes_of_item)
        s.n_shares = 1;
    if (s.n_shares > n)
        s.n_shares = n;
    if (s.n_shares > 1)
        conv_team_run(team, (unsigned)s.n_shares, &(struct conv_team_job){ do_share, &s });
    else if (n)
        work(ctx, 0, n, 0);
}

/* ---- broadcasting ---- */

/* Sets the steps of an operand in dimensions of `over`. */
static bool set_steps(struct op_walk *w, size_t which, const struct onnx_value *over, const struct onnx_value *v)
{
    size_t step = 1;

    if (v->n_dims > over->n_dims)
        return false;
    for (size_t i = 1; i <= over->n_dims; i++) {
        const size_t d = over->n_dims - i;
        const int64_t n = i <= v->n_dims ? v->dim[v->n_dims - i] : 1;

        if (n != over->dim[d] && n != 1)
            return false;
        w->step[which][d] = n == 1 ? 0 : step;
        step *= (size_t)n;
    }
    return true;
}

/* Tells whether dimensions d and d + 1 can be merged for all operands. */
static bool can_merge(const struct op_walk *w, size_t d)
{
    for (size_t o = 0; o < w->n_operands; o++) {
        if (w->step[o][d] != w->step[o][d + 1] * w->dim[d + 1])
            return false;
    }
    return true;
}

static void remove_dimension(struct op_walk *w, size_t d)
{
    w->n_dims--;
    memmove(w->dim + d, w->dim + d + 1, (w->n_dims - d) * sizeof *w->dim);
    for (size_t o = 0; o < w->n_operands; o++)
        memmove(w->step[o] + d, w->step[o] + d + 1, (w->n_dims - d) * sizeof *w->step[o]);
}

static void merge(struct op_walk *w)
{
    for (size_t d = w->n_dims; d-- > 0;) {
        if (w->dim[d] == 1 && w->n_dims > 1) {
            remove_dimension(w, d);
        } else if (d + 1 < w->n_dims && can_merge(w, d)) {
            w->dim[d + 1] *= w->dim[d];
            remove_dimension(w, d);
        }
    }
}

bool op_walk_init(struct op_walk *w, const struct onnx_value *over, size_t n_operands,
                  const struct onnx_value *const *operand)
{
    assert(n_operands && n_operands <= OP_MAX_OPERANDS);
    *w = (struct op_walk){ .n_operands = n_operands, .n_dims = over->n_dims, .elements = over->elements };
    for (size_t d = 0; d < over->n_dims; d++)
        w->dim[d] = (size_t)over->dim[d];
    for (size_t o = 0; o < n_operands; o++) {
        if (!set_steps(w, o, over, operand[o]))
            return false;
    }
    if (!w->n_dims)
        w->dim[w->n_dims++] = 1;
    merge(w);
    return true;
}

/* Sets index[] and at[] to where element number `from` is. */
static void walk_to(const struct op_walk *w, size_t from, size_t *index, size_t *at)
{
    for (size_t o = 0; o < w->n_operands; o++)
        at[o] = 0;
    for (size_t d = w->n_dims; d-- > 0;) {
        index[d] = from % w->dim[d];
        from /= w->dim[d];
        for (size_t o = 0; o < w->n_operands; o++)
            at[o] += index[d] * w->step[o][d];
    }
}

/* Goes n elements on, at most to the end of the last dimension. */
static void walk_on(const struct op_walk *w, size_t n, size_t *index, size_t *at)
{
    size_t by = n;

    for (size_t d = w->n_dims; d-- > 0; by = 1) {
        index[d] += by;
        for (size_t o = 0; o < w->n_operands; o++)
            at[o] += by * w->step[o][d];
        if (index[d] < w->dim[d])
            return;
        for (size_t o = 0; o < w->n_operands; o++)
            at[o] -= index[d] * w->step[o][d];
        index[d] = 0;
    }
}

void op_walk_run(const struct op_walk *w, size_t from, size_t to, op_row_fn *row, void *ctx)
{
    size_t index[ONNX_MAX_DIMS], at[OP_MAX_OPERANDS] = { 0 };

    assert(to <= w->elements);
    if (from >= to)
        return;
    walk_to(w, from, index, at);
    while (from < to) {
        const size_t left = w->dim[w->n_dims - 1] - index[w->n_dims - 1], n = left < to - from ? left : to - from;

        row(ctx, at, n);
        from += n;
        walk_on(w, n, index, at);
    }
}

/* ---- magnitudes ---- */

double op_largest(const float *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = isfinite(x[i]) && fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
    return most;
}

static float *absolute(const float *x, size_t n)
{
    float *to = exp_new(n + 1, sizeof *to);

    for (size_t i = 0; i < n; i++)
        to[i] = fabsf(x[i]);
    return to;
}

void op_magnitudes_of_sums(const struct op_call *call, const struct op_tensors *t)
{
    const size_t n = call->ask.node->n_in;
    const void **in = exp_new(n + 1, sizeof *in);
    void **owned = exp_new(n + 1, sizeof *owned);

    for (size_t i = 0; i < n; i++) {
        const struct onnx_value *v = op_in(call, i);

        if (v && t->in[i] && v->type == ONNX_FLOAT)
            owned[i] = absolute(t->in[i], v->elements);
        in[i] = owned[i] ? owned[i] : t->in[i];
    }
    call->op->reference(call, &(struct op_tensors){ in, t->out });
    for (size_t i = 0; i < n; i++)
        free(owned[i]);
    free(owned);
    free(in);
}
