/*
 * MaxPool, AveragePool, and both of whole planes. Windows on planes of floats are joined down the columns of the
 * window's rows into a row, and then along the row: each element is read once per row of windows and once per tap of a
 * row, and both loops are vectors. Volumes and indices are plain loops.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum { DEPTH, ROW, COLUMN, N_AXES };

enum { MAX_ROWS = 64 }; /* rows of a window, for vector loops */

enum kind { MAX, AVERAGE };

/* An axis of the windows; missing axes have length 1 and come first. */
struct axis {
    ptrdiff_t in, out, taps, stride, dilation, before;
    ptrdiff_t with_padding; /* the end of counted elements: of the input, or of the padding */
};

struct pool {
    enum kind kind;
    enum onnx_type type; /* floats; or, of MaxPool, bytes */
    size_t planes, in_plane, out_plane;
    struct axis axis[N_AXES];
    bool counts_padding, column_major;
    bool is_fast, is_close, is_whole; /* vectors; windows for op_loops.max_plane; a single window of the whole plane */
    struct op_pool_plane plane;
    size_t aside_elements;
    float *aside, *by_row,
        *by_column; /* aside: a row for each share; behind it, of bytes, an input and an output plane */
};

/* ---- preparing ---- */

static size_t windows_of(const struct pool *p)
{
    return (size_t)(p->axis[DEPTH].out * p->axis[ROW].out * p->axis[COLUMN].out);
}

static int set_axes(const struct op_call *call, struct pool *p, const struct onnx_window *w, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0), *out = op_out(call, 0);

    for (size_t d = 0; d < N_AXES; d++)
        p->axis[d] = (struct axis){ 1, 1, 1, 1, 1, 0, 1 };
    for (size_t i = 0; i < w->n; i++) {
        const ptrdiff_t n = in->dim[2 + i];

        p->axis[N_AXES - w->n + i] =
            (struct axis){ n, w->out[i], w->kernel[i], w->stride[i], w->dilation[i], w->begin[i], n + w->end[i] };
        if (out->dim[2 + i] != w->out[i])
            return op_refuse(call, why, "%lld windows where %lld follow", (long long)out->dim[2 + i],
                             (long long)w->out[i]);
        if (w->begin[i] < 0 || w->end[i] < 0)
            return op_refuse(call, why, "padding of %lld", (long long)(w->begin[i] < 0 ? w->begin[i] : w->end[i]));
    }
    p->planes = op_elements(in, 0, 2);
    p->in_plane = op_elements(in, 2, in->n_dims);
    p->out_plane = windows_of(p);
    return 0;
}

/* Counts the elements of the input in window i of an axis; with_padding: and counted padding. */
static ptrdiff_t reach(const struct axis *a, ptrdiff_t i, bool with_padding)
{
    ptrdiff_t n = 0;

    for (ptrdiff_t t = 0; t < a->taps; t++) {
        const ptrdiff_t at = i * a->stride - a->before + t * a->dilation;

        n += with_padding ? at < a->with_padding : at >= 0 && at < a->in;
    }
    return n;
}

static void set_plane(struct pool *p)
{
    const struct axis *r = &p->axis[ROW], *c = &p->axis[COLUMN];

    p->plane = (struct op_pool_plane){ .rows = (size_t)r->in,
                                       .columns = (size_t)c->in,
                                       .out_rows = (size_t)r->out,
                                       .out_columns = (size_t)c->out,
                                       .row_taps = (size_t)r->taps,
                                       .row_stride = (size_t)r->stride,
                                       .rows_before = (size_t)r->before,
                                       .across = { (size_t)c->taps, (size_t)c->stride, (size_t)c->dilation },
                                       .before = (size_t)c->before,
                                       .by_row = p->kind == MAX ? NULL : p->by_row,
                                       .by_column = p->kind == MAX ? NULL : p->by_column };
    p->is_close = r->taps <= 3 && c->taps <= 3 && c->stride <= 2 && (r->dilation == 1 || r->taps == 1) &&
                  (c->dilation == 1 || c->taps == 1);
}

/* Sets the factors of sums: the inverse of the number of elements of a window in each axis. */
static void set_scales(struct pool *p)
{
    for (size_t d = ROW; d <= COLUMN; d++) {
        float *by = d == ROW ? p->by_row : p->by_column;

        for (ptrdiff_t i = 0; i < p->axis[d].out; i++)
            by[i] = 1 / (float)reach(&p->axis[d], i, p->counts_padding);
    }
}

/* Prepares the vector loops; a row for each share, and scales, are kept behind the structure. */
static void prepare_fast(struct op_call *call, const struct pool *plain)
{
    const struct axis *c = &plain->axis[COLUMN];
    const size_t reached = (size_t)((c->out - 1) * c->stride + (c->taps - 1) * c->dilation + 1);
    const size_t width = reached > (size_t)(c->before + c->in) ? reached : (size_t)(c->before + c->in);
    const size_t planes = plain->type == ONNX_FLOAT ? 0 : plain->in_plane + plain->out_plane;
    const size_t row = (width + 31) / 16 * 16 + planes, n_aside = row * call->ask.n_threads;
    struct pool *p = op_own(call, sizeof *p + (n_aside + (size_t)(c->out + plain->axis[ROW].out)) * sizeof *p->aside);

    *p = *plain;
    p->is_fast = true;
    p->aside_elements = row;
    p->aside = (float *)(p + 1);
    p->by_row = p->aside + n_aside;
    p->by_column = p->by_row + p->axis[ROW].out;
    for (size_t i = 0; i < n_aside; i++)
        p->aside[i] = p->kind == MAX ? -INFINITY : 0;
    set_scales(p);
    set_plane(p);
}

/* Tells whether there is a single window, of the whole plane. */
static bool is_whole(const struct pool *p)
{
    for (size_t d = 0; d < N_AXES; d++) {
        const struct axis *a = &p->axis[d];

        if (a->out != 1 || a->before || a->taps != a->in || (a->dilation != 1 && a->taps > 1))
            return false;
    }
    return true;
}

static bool takes(const struct pool *p)
{
    return p->type == ONNX_FLOAT || (p->kind == MAX && (p->type == ONNX_UINT8 || p->type == ONNX_INT8));
}

static int prepare(struct op_call *call, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;
    struct pool p = { .kind = onnx_is(node, "MaxPool") ? MAX : AVERAGE,
                      .type = op_in(call, 0) ? op_in(call, 0)->type : ONNX_UNKNOWN_TYPE,
                      .column_major = onnx_int(node, "storage_order", 0),
                      .counts_padding = onnx_int(node, "count_include_pad", 0) };
    const struct onnx_value *in = op_in(call, 0);
    struct onnx_window w;
    int err = op_check_shapes(call, 1, why);

    if (!err && (op_out(call, 0)->type != in->type || !takes(&p)))
        err = op_refuse(call, why, "elements of type %s", onnx_type_name(in->type));
    if (!err && (in->n_dims < 3 || in->n_dims > 2 + N_AXES))
        err = op_refuse(call, why, "an input of %zu dimensions", in->n_dims);
    if (!err && onnx_window(call->ask.graph, call->ask.node, &w, why))
        err = -ENOTSUP;
    if (!err)
        err = set_axes(call, &p, &w, why);
    if (err)
        return err;
    p.is_whole = p.type == ONNX_FLOAT && !op_out(call, 1) && p.in_plane && is_whole(&p);
    if (!p.is_whole && p.axis[DEPTH].in == 1 && p.axis[DEPTH].taps == 1 && p.axis[ROW].taps <= MAX_ROWS &&
        !op_out(call, 1) && p.out_plane)
        prepare_fast(call, &p);
    else
        memcpy(op_own(call, sizeof p), &p, sizeof p);
    return 0;
}

/* ---- plain loops ---- */

struct window {
    double value;
    ptrdiff_t n, best; /* counted elements; index of the largest */
};

static void take(const struct pool *p, struct window *w, double x, ptrdiff_t at)
{
    if (p->kind == AVERAGE)
        w->value += x;
    else if (w->best < 0 || x > w->value || (x != x && w->value == w->value)) {
        w->value = x;
        w->best = at;
    }
}

/* Takes the elements of a window; at: the first tap in each axis. */
static struct window look(const struct pool *p, const void *in, const ptrdiff_t at[N_AXES])
{
    const struct axis *a = p->axis;
    struct window w = { p->kind == MAX ? -HUGE_VAL : 0, 0, -1 };

    for (ptrdiff_t t = 0; t < a[DEPTH].taps * a[ROW].taps * a[COLUMN].taps; t++) {
        const ptrdiff_t d = at[DEPTH] + t / (a[ROW].taps * a[COLUMN].taps) * a[DEPTH].dilation;
        const ptrdiff_t h = at[ROW] + t / a[COLUMN].taps % a[ROW].taps * a[ROW].dilation;
        const ptrdiff_t c = at[COLUMN] + t % a[COLUMN].taps * a[COLUMN].dilation;
        const ptrdiff_t i = (d * a[ROW].in + h) * a[COLUMN].in + c;
        const bool is_inside = d >= 0 && d < a[DEPTH].in && h >= 0 && h < a[ROW].in && c >= 0 && c < a[COLUMN].in;

        w.n += is_inside || (p->counts_padding && d < a[DEPTH].with_padding && h < a[ROW].with_padding &&
                             c < a[COLUMN].with_padding);
        if (is_inside)
            take(p, &w, op_number(p->type, in, (size_t)i), i);
    }
    return w;
}

static double result_of(const struct pool *p, const struct window *w)
{
    if (p->type != ONNX_FLOAT && w->best < 0) /* padding alone */
        return p->type == ONNX_INT8 ? -128 : 0;
    return p->kind == AVERAGE ? w->value / (double)w->n : w->value;
}

/* Returns the index of the largest element, for the second output. */
static int64_t index_of(const struct pool *p, ptrdiff_t best)
{
    const ptrdiff_t rows = p->axis[ROW].in, columns = p->axis[COLUMN].in;
    const ptrdiff_t d = best / (rows * columns), h = best / columns % rows, c = best % columns;

    if (best < 0)
        return -1;
    return p->column_major ? (c * rows + h) * p->axis[DEPTH].in + d : best;
}

static void pool_plane(const struct pool *p, const struct op_tensors *t, size_t plane, int64_t *indices)
{
    const struct axis *a = p->axis;
    const size_t bytes = onnx_type_bytes(p->type);
    const unsigned char *in = (const unsigned char *)t->in[0] + plane * p->in_plane * bytes;
    unsigned char *out = (unsigned char *)t->out[0] + plane * p->out_plane * bytes;

    for (size_t i = 0; i < p->out_plane; i++) {
        const ptrdiff_t o = (ptrdiff_t)i, c = o % a[COLUMN].out, h = o / a[COLUMN].out % a[ROW].out;
        const ptrdiff_t d = o / a[COLUMN].out / a[ROW].out;
        const struct window w =
            look(p, in,
                 (const ptrdiff_t[]){ d * a[DEPTH].stride - a[DEPTH].before, h * a[ROW].stride - a[ROW].before,
                                      c * a[COLUMN].stride - a[COLUMN].before });

        if (p->type == ONNX_FLOAT)
            ((float *)(void *)out)[i] = (float)result_of(p, &w);
        else
            out[i] = (unsigned char)(int)result_of(p, &w);
        if (indices)
            indices[plane * p->out_plane + i] = index_of(p, w.best) + (int64_t)(plane * p->in_plane);
    }
}

struct work {
    const struct op_call *call;
    const struct pool *p;
    const struct op_tensors *t;
};

static void plainly(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;

    (void)share;
    for (size_t i = from; i < to; i++)
        pool_plane(w->p, w->t, i, op_out(w->call, 1) ? w->t->out[1] : NULL);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct pool *p = call->own;
    struct work w = { call, p, t };

    plainly(&w, 0, p->planes, 0);
}

/* ---- vectors ---- */

/* Finds the input rows of a row of windows. Returns their number. */
static size_t find_rows(const struct pool *p, const float *in, ptrdiff_t i, const float *row[MAX_ROWS])
{
    const struct axis *a = &p->axis[ROW];
    size_t n = 0;

    for (ptrdiff_t t = 0; t < a->taps; t++) {
        const ptrdiff_t h = i * a->stride - a->before + t * a->dilation;

        if (h >= 0 && h < a->in)
            row[n++] = in + h * p->axis[COLUMN].in;
    }
    return n;
}

static void pool_rows(const struct pool *p, const float *in, float *out, float *aside)
{
    const struct axis *c = &p->axis[COLUMN];
    const float *row[MAX_ROWS];
    struct op_pool_row r = { .row = row,
                             .columns = (size_t)c->in,
                             .n = (size_t)c->out,
                             .before = (size_t)c->before,
                             .across = p->plane.across,
                             .aside = aside,
                             .by_column = p->plane.by_column };

    for (ptrdiff_t i = 0; i < p->axis[ROW].out; i++, out += c->out) {
        r.n_rows = find_rows(p, in, i, row);
        r.scale = p->kind == MAX ? 1 : p->by_row[i];
        if (r.n_rows)
            (p->kind == MAX ? op_loops()->max_row : op_loops()->sum_row)(out, &r);
        for (ptrdiff_t j = 0; !r.n_rows && j < c->out; j++)
            out[j] = p->kind == MAX ? -INFINITY : 0 * r.scale;
    }
}

static void pool_fast(const struct pool *p, const float *in, float *out, float *aside)
{
    const struct op_loops *l = op_loops();

    if (p->is_close && l->max_plane)
        (p->kind == MAX ? l->max_plane : l->sum_plane)(out, in, &p->plane);
    else
        pool_rows(p, in, out, aside);
}

/* Pools planes of bytes as planes of floats: a maximum is exact. */
static void pool_bytes(const struct pool *p, const struct op_tensors *t, size_t plane, float *aside)
{
    const bool is_signed = p->type == ONNX_INT8;
    const uint8_t *in = (const uint8_t *)t->in[0] + plane * p->in_plane;
    uint8_t *out = (uint8_t *)t->out[0] + plane * p->out_plane;
    float *x = aside + p->aside_elements - p->in_plane - p->out_plane, *y = x + p->in_plane;
    const float least = is_signed ? -128 : 0;

    for (size_t i = 0; i < p->in_plane; i++)
        x[i] = is_signed ? (float)(int8_t)in[i] : (float)in[i];
    pool_fast(p, x, y, aside);
    for (size_t i = 0; i < p->out_plane; i++)
        out[i] = (uint8_t)(int)(y[i] > least ? y[i] : least); /* of padding alone the maximum is -infinity */
}

/*
 * Planes with a NaN are left to plain loops: a maximum with a test for NaN costs twice as much. The search for NaN
 * takes as many planes at once as fit the nearest cache.
 */
static void quickly(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct pool *p = w->p;
    const size_t near_elements = 4096, each = p->in_plane < near_elements ? near_elements / (p->in_plane + 1) + 1 : 1;

    if (p->type != ONNX_FLOAT) {
        for (size_t i = from; i < to && !op_is_emitted(); i++) /* a model stands in */
            pool_bytes(p, w->t, i, p->aside + share * p->aside_elements);
        return;
    }
    for (size_t i = from; i < to; i += each) {
        const size_t end = to - i < each ? to : i + each;
        const float *in = (const float *)w->t->in[0] + i * p->in_plane;
        const bool is_plain = p->kind == MAX && op_loops()->has_nan(in, (end - i) * p->in_plane);

        for (size_t j = i; j < end; j++, in += p->in_plane) {
            if (is_plain)
                pool_plane(p, w->t, j, NULL);
            else
                pool_fast(p, in, (float *)w->t->out[0] + j * p->out_plane, p->aside + share * p->aside_elements);
        }
    }
}

/* ---- whole planes ---- */

static int prepare_global(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *in = op_in(call, 0);
    int64_t dim[ONNX_MAX_DIMS];
    struct pool *p;
    int err = op_check_floats(call, 1, why);

    if (!err && in->n_dims < 3)
        err = op_refuse(call, why, "an input of %zu dimensions", in->n_dims);
    for (size_t d = 0; !err && d < in->n_dims; d++)
        dim[d] = d < 2 ? in->dim[d] : 1;
    if (!err)
        err = op_check_out(call, 0, in->n_dims, dim, why);
    if (err)
        return err;
    p = op_own(call, sizeof *p);
    p->type = in->type;
    p->kind = onnx_is(call->ask.node, "GlobalMaxPool") ? MAX : AVERAGE;
    p->planes = op_elements(in, 0, 2);
    p->in_plane = op_elements(in, 2, in->n_dims);
    return 0;
}

static void reference_global(const struct op_call *call, const struct op_tensors *t)
{
    const struct pool *p = call->own;

    for (size_t i = 0; i < p->planes; i++) {
        struct window w = { p->kind == MAX ? -HUGE_VAL : 0, (ptrdiff_t)p->in_plane, -1 };

        for (size_t j = 0; j < p->in_plane; j++)
            take(p, &w, (double)((const float *)t->in[0])[i * p->in_plane + j], (ptrdiff_t)j);
        ((float *)t->out[0])[i] = (float)result_of(p, &w);
    }
}

static void global_planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct pool *p = w->p;

    (void)share;
    for (size_t i = from; i < to; i++) {
        const float *in = (const float *)w->t->in[0] + i * p->in_plane;
        const float all = op_loops()->fold[p->kind == MAX ? OP_FOLD_MAX : OP_FOLD_SUM](in, p->in_plane);

        ((float *)w->t->out[0])[i] = p->kind == MAX ? all : all / (float)p->in_plane;
        op_note((float *)w->t->out[0] + i, 1, 1, SIM_STORE);
    }
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct pool *p = call->own;
    struct work w = { call, p, t };

    op_share(call, team, p->planes, 4 * (p->in_plane + p->out_plane),
             p->is_whole  ? global_planes
             : p->is_fast ? quickly
                          : plainly,
             &w);
}

static void run_global(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct pool *p = call->own;
    struct work w = { call, p, t };

    if (!p->in_plane)
        reference_global(call, t);
    else
        op_share(call, team, p->planes, 4 * p->in_plane, global_planes, &w);
}

#define RECORD(name_, prepare_, run_, reference_, magnitudes_)                                                         \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_, .run = run_, .reference = reference_, .magnitudes = magnitudes_           \
    };

RECORD(MaxPool, prepare, run, reference, NULL)
RECORD(AveragePool, prepare, run, reference, op_magnitudes_of_sums)
RECORD(GlobalMaxPool, prepare_global, run_global, reference_global, NULL)
RECORD(GlobalAveragePool, prepare_global, run_global, reference_global, op_magnitudes_of_sums)
