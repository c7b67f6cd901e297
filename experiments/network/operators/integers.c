/*
 * ConvInteger, QLinearConv, MatMulInteger, QLinearMatMul: sums of (x - x_zero) * (w - w_zero) in s32.
 *
 * Convolutions of one and two dimensions run SConv of the element type, u8 or s8 by s8. SConv sums x * w, and
 *
 *   sum (x - x_zero)(w - w_zero) = sum x * w  -  x_zero * sum w  -  w_zero * sum x  +  terms * x_zero * w_zero
 *
 * holds modulo 2^32. Padding is x_zero: where x_zero may differ from 0, images are copied into padded images first.
 * Weights of u8, and zero points of u8 weights, are lowered by 128. All else runs by plain loops.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"
#include "kernels/backend/backend.h"
#include "kernels/csa/csa.h"
#include "kernels/nest/share.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"

/* A sum of MOST_TERMS products stays below 2^31: x - x_zero and w - w_zero are at most 255. */
enum { MOST_TERMS = INT32_MAX / (255 * 255), ALIGN = 64 };

struct integers {
    const struct onnx_integers *at;
    struct onnx_window window;      /* of a convolution */
    size_t images, groups, filters; /* filters: of all groups; of a product columns */
    size_t terms;                   /* of a sum */
    size_t in_plane, windows;       /* elements of a channel, and of its outputs */
    size_t rows;                    /* of a product's left matrix */
    struct op_walk batch;           /* the batches of a product: left, right; steps in matrices */
    /* SConv, if has_plan: */
    bool has_plan, pads, is_packed; /* pads: the plan's images are padded copies; is_packed: filters, by prepare */
    enum conv_share_axis axis;
    struct conv_problem shape; /* as the file has it */
    struct conv_plan plan;
    size_t panel_bytes; /* packed windows of a thread */
    unsigned char *padded, *flipped, *packed, *panels;
    int32_t *filter_sum, *window_sum, *sums; /* [filters], [images][groups][windows], [images][filters][windows] */
};

static int64_t number(const struct onnx_value *v, const void *data, size_t i)
{
    return v->type == ONNX_INT8 ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
}

static bool is_scaled(const struct integers *q)
{
    return q->at->y_scale != ONNX_NONE;
}

/* ---- outputs ---- */

static float scale_at(const struct op_call *call, const struct op_tensors *t, size_t in, size_t i)
{
    return ((const float *)t->in[in])[op_in(call, in)->elements == 1 ? 0 : i];
}

/* A row of n outputs from index `at` on: of row `row` of x, and of filters or columns f, f + f_step, ... */
struct outputs {
    size_t row, f, f_step, n, at;
};

/* Turns sums into outputs. */
static void set_outputs(const struct op_call *call, const struct op_tensors *t, const int32_t *sum,
                        const struct outputs *o)
{
    const struct integers *q = call->own;
    const struct onnx_integers *at = q->at;
    const struct op_range r =
        is_scaled(q) ? op_range_of(op_out(call, 0)->type, op_zero_point(call, t, at->y_zero, 0)) : op_range_of(0, 0);
    const int32_t *bias = op_in(call, at->bias) ? t->in[at->bias] : NULL;

    if (!is_scaled(q)) {
        memmove((int32_t *)t->out[0] + o->at, sum, o->n * sizeof *sum);
        return;
    }
    for (size_t i = 0, f = o->f, n; i < o->n; i += n, f += o->f_step) {
        const float scale = scale_at(call, t, at->x_scale, o->row) * scale_at(call, t, at->w_scale, f) /
                            scale_at(call, t, at->y_scale, 0);
        const int64_t more = bias ? bias[f] : 0;
        uint8_t *out = (uint8_t *)t->out[0] + o->at;

        n = o->f_step ? 1 : o->n;
        for (size_t k = i; k < i + n; k++)
            out[k] = (uint8_t)op_quantized((float)(sum[k] + more) * scale, r);
    }
}

/* ---- plain loops: convolutions ---- */

/* Finds a window's tap in a plane of the input; false: the tap is padding. */
static bool tap_at(const struct integers *q, const struct onnx_value *in, size_t window, size_t tap, size_t *at)
{
    const struct onnx_window *w = &q->window;
    size_t step = 1;

    *at = 0;
    for (size_t d = w->n; d-- > 0;) {
        const int64_t out = (int64_t)(window % (size_t)w->out[d]), k = (int64_t)(tap % (size_t)w->kernel[d]);
        const int64_t i = out * w->stride[d] - w->begin[d] + k * w->dilation[d];

        if (i < 0 || i >= in->dim[d + 2])
            return false;
        *at += (size_t)i * step;
        step *= (size_t)in->dim[d + 2];
        window /= (size_t)w->out[d];
        tap /= (size_t)w->kernel[d];
    }
    return true;
}

static int32_t convolved(const struct op_call *call, const struct op_tensors *t, size_t image, size_t f, size_t window)
{
    const struct integers *q = call->own;
    const struct onnx_value *x = op_in(call, q->at->x), *w = op_in(call, q->at->w);
    const size_t channels = (size_t)w->dim[1], taps = q->terms / channels, group = f / (q->filters / q->groups);
    const int64_t x_zero = op_zero_point(call, t, q->at->x_zero, 0), w_zero = op_zero_point(call, t, q->at->w_zero, f);
    const size_t plane = (image * q->groups + group) * channels;
    int64_t sum = 0;

    for (size_t tap = 0; tap < taps; tap++) {
        size_t at;

        for (size_t c = 0; tap_at(q, x, window, tap, &at) && c < channels; c++)
            sum += (number(x, t->in[q->at->x], (plane + c) * q->in_plane + at) - x_zero) *
                   (number(w, t->in[q->at->w], f * q->terms + c * taps + tap) - w_zero);
    }
    return (int32_t)sum;
}

static void reference_conv(const struct op_call *call, const struct op_tensors *t)
{
    const struct integers *q = call->own;

    for (size_t i = 0; i < q->images * q->filters * q->windows; i++) {
        const size_t plane = i / q->windows, f = plane % q->filters;
        const int32_t sum = convolved(call, t, plane / q->filters, f, i % q->windows);

        set_outputs(call, t, &sum, &(struct outputs){ 0, f, 0, 1, i });
    }
}

/* ---- SConv ---- */

static void *carve(uintptr_t *at, size_t bytes)
{
    void *piece = (void *)*at;

    *at += round_up(bytes, ALIGN);
    return piece;
}

/* Sets the pieces of memory behind the structure, from `at` on. Returns the end. */
static uintptr_t set_pieces(struct integers *q, uintptr_t at, unsigned n_threads)
{
    const size_t *bytes = q->plan.layout.bytes, n = q->images * q->windows;

    q->panel_bytes = round_up(bytes[CONV_PACKED_INPUT], ALIGN);
    q->padded = carve(&at, q->pads ? bytes[CONV_INPUT] : 0);
    q->flipped = carve(&at, bytes[CONV_FILTER]);
    q->packed = carve(&at, bytes[CONV_PACKED_FILTER]);
    q->panels = carve(&at, q->panel_bytes * n_threads);
    q->filter_sum = carve(&at, q->filters * sizeof *q->filter_sum);
    q->window_sum = carve(&at, n * q->groups * sizeof *q->window_sum);
    q->sums = carve(&at, is_scaled(q) ? n * q->filters * sizeof *q->sums : 0);
    return at + ALIGN; /* kernels may read behind a tensor */
}

static void pack(const struct op_call *call, const void *filters)
{
    const struct integers *q = call->own;
    const struct onnx_value *w = op_in(call, q->at->w);
    const size_t bytes = q->plan.layout.bytes[CONV_FILTER];
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;

    memcpy(q->flipped, filters, bytes);
    for (size_t i = 0; i < bytes && w->type == ONNX_UINT8; i++)
        q->flipped[i] ^= 0x80;
    for (size_t f = 0; f < q->filters; f++) {
        q->filter_sum[f] = 0;
        for (size_t i = f * q->terms; i < (f + 1) * q->terms; i++)
            q->filter_sum[f] += (int8_t)q->flipped[i];
    }
    bind.addr[CONV_FILTER] = (uintptr_t)q->flipped;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)q->packed;
    conv_exec_init(&exec, &q->plan, &bind);
    conv_nest_pack_filters(&q->plan, &exec.base);
}

struct run {
    const struct op_call *call;
    const struct op_tensors *t;
    const unsigned char *in;
    int32_t *sums;
    int64_t x_zero;
    bool has_w_zero;
};

/* Copies planes into padded planes. */
static void pad_planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct run *r = ctx;
    const struct integers *q = r->call->own;
    const struct conv_problem *p = &q->shape;
    const size_t h = q->plan.problem.h, w = q->plan.problem.w;

    (void)share;
    memset(q->padded + from * h * w, (int)r->x_zero, (to - from) * h * w);
    for (size_t row = from * p->h; row < to * p->h; row++)
        memcpy(q->padded + (row / p->h * h + p->pad_top + row % p->h) * w + p->pad_left,
               (const unsigned char *)r->t->in[q->at->x] + row * p->w, p->w);
}

static void run_part(void *ctx, unsigned number)
{
    const struct run *r = ctx;
    const struct integers *q = r->call->own;
    struct conv_binding bind = { { 0 } };
    struct conv_exec exec;
    struct conv_share share;

    bind.addr[CONV_INPUT] = (uintptr_t)r->in;
    bind.addr[CONV_OUTPUT] = (uintptr_t)r->sums;
    bind.addr[CONV_PACKED_FILTER] = (uintptr_t)q->packed;
    bind.addr[CONV_PACKED_INPUT] = (uintptr_t)q->panels + number * q->panel_bytes;
    conv_exec_init(&exec, &q->plan, &bind);
    conv_share_init(&share, &exec.base, &q->plan, q->axis, number, r->call->ask.n_threads);
    conv_nest_run(&q->plan, r->call->ask.n_threads > 1 ? &share.base : &exec.base);
}

/* Adds up the windows of images' groups. */
static void sum_windows(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct run *r = ctx;
    const struct integers *q = r->call->own;
    const struct onnx_value *x = op_in(r->call, q->at->x);
    const struct conv_problem *p = &q->plan.problem;
    const size_t channels = p->c / p->groups;

    (void)share;
    for (size_t i = from * q->windows; i < to * q->windows; i++) {
        const size_t plane = i / q->windows * channels, window = i % q->windows;
        int32_t sum = 0;

        for (size_t tap = 0; tap < p->r * p->s; tap++) {
            const size_t row = window / p->q * p->stride_h + tap / p->s * p->dilation_h - p->pad_top;
            const size_t column = window % p->q * p->stride_w + tap % p->s * p->dilation_w - p->pad_left;

            for (size_t c = 0; row < p->h && column < p->w && c < channels; c++)
                sum += (int32_t)number(x, r->in, ((plane + c) * p->h + row) * p->w + column);
        }
        q->window_sum[i] = sum;
    }
}

/* Applies zero points to planes of sums, and makes outputs of the sums. */
static void finish_planes(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct run *r = ctx;
    const struct integers *q = r->call->own;
    const int64_t lowered = op_in(r->call, q->at->w)->type == ONNX_UINT8 ? 128 : 0;

    (void)share;
    for (size_t plane = from; plane < to; plane++) {
        const size_t f = plane % q->filters, group = plane / (q->filters / q->groups);
        const int64_t w_zero = op_zero_point(r->call, r->t, q->at->w_zero, f) - lowered;
        const int64_t all = r->x_zero * ((int64_t)q->terms * w_zero - q->filter_sum[f]);
        const int32_t *in = q->window_sum + group * q->windows;
        int32_t *sum = r->sums + plane * q->windows;

        for (size_t i = 0; i < q->windows && r->has_w_zero; i++)
            sum[i] = (int32_t)(sum[i] + all - w_zero * in[i]);
        for (size_t i = 0; i < q->windows && !r->has_w_zero && all; i++)
            sum[i] = (int32_t)(sum[i] + all);
        set_outputs(r->call, r->t, sum, &(struct outputs){ 0, f, 0, q->windows, plane * q->windows });
    }
}

static bool has_w_zero(const struct op_call *call, const struct op_tensors *t)
{
    const struct integers *q = call->own;
    const int32_t lowered = op_in(call, q->at->w)->type == ONNX_UINT8 ? 128 : 0;

    for (size_t f = 0; f < q->filters; f++) {
        if (op_zero_point(call, t, q->at->w_zero, f) != lowered)
            return true;
    }
    return false;
}

static void run_conv(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct integers *q = call->own;
    struct run r = { call, t, q->pads ? q->padded : t->in[q->at->x], is_scaled(q) ? q->sums : t->out[0], 0, false };

    if (op_is_emitted()) /* a model stands in */
        return;
    if (!q->has_plan) {
        reference_conv(call, t);
        return;
    }
    r.x_zero = op_zero_point(call, t, q->at->x_zero, 0);
    r.has_w_zero = has_w_zero(call, t);
    if (!q->is_packed)
        pack(call, t->in[q->at->w]);
    if (q->pads)
        op_share(call, team, q->images * q->shape.c, q->in_plane, pad_planes, &r);
    conv_team_run(team, call->ask.n_threads, &(struct conv_team_job){ run_part, &r });
    if (r.has_w_zero)
        op_share(call, team, q->images * q->groups, 0, sum_windows, &r);
    op_share(call, team, q->images * q->filters, q->windows * sizeof(int32_t), finish_planes, &r);
}

/* ---- preparing convolutions ---- */

/* Tells whether padding is certainly 0 in the elements' type. */
static bool pads_zeros(const struct op_call *call, size_t in)
{
    const struct onnx_value *zero = op_in(call, in);

    return !zero || (onnx_is_constant(zero) && onnx_element_int(zero, 0) == 0);
}

/* Plans SConv, unless the shape or the kernels have no plan. */
static void plan(const struct op_call *call, struct integers *q)
{
    const struct csa_caches *caches = call->ask.caches;
    struct csa_tiling tiling[CSA_N_SCHEDULES];
    const struct conv_ukr *ukr;
    struct conv_problem p;

    if (!caches || onnx_integer_problem(call->ask.graph, call->ask.node, &q->shape, NULL))
        return;
    p = q->shape;
    q->pads = conv_has_padding(&p) && !pads_zeros(call, q->at->x_zero);
    if (q->pads) {
        p.h += p.pad_top + p.pad_bottom;
        p.w += p.pad_left + p.pad_right;
        p.pad_top = p.pad_bottom = p.pad_left = p.pad_right = 0;
    }
    if (conv_problem_finish(&p, SIM_NO_WHY))
        return;
    ukr = conv_ukr_best_of(p.type);
    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        tiling[i] = csa_analyse_deep(&p, caches, ukr->n_win, ukr->n_f, (enum csa_schedule)i);
    q->has_plan = !conv_plan_sconv(&q->plan, &p, ukr, &tiling[csa_choose(tiling)], false);
}

static int prepare_conv(struct op_call *call, struct exp_why *why)
{
    const struct onnx_integers *at = onnx_integers(call->ask.node);
    const struct onnx_value *x = op_in(call, 0), *w = op_in(call, at->w), *out = op_out(call, 0);
    struct integers q = { .at = at }, *kept;
    int err = op_check_shapes(call, at->y_zero == ONNX_NONE ? 2 : at->y_zero + 1, why);

    if (err)
        return err;
    if (onnx_window(call->ask.graph, call->ask.node, &q.window, why))
        return -ENOTSUP;
    q.images = (size_t)x->dim[0];
    q.groups = (size_t)onnx_int(call->ask.node, "group", 1);
    q.filters = (size_t)w->dim[0];
    q.terms = op_elements(w, 1, w->n_dims);
    q.in_plane = op_elements(x, 2, x->n_dims);
    q.windows = op_elements(out, 2, out->n_dims);
    if (q.terms > MOST_TERMS)
        return op_refuse(call, why, "sums of %zu products may exceed 32 bits", q.terms);
    plan(call, &q);
    kept = op_own(call, sizeof q + (q.has_plan ? set_pieces(&q, 0, call->ask.n_threads) + ALIGN : 0));
    *kept = q;
    if (!q.has_plan)
        return 0;
    set_pieces(kept, round_up((uintptr_t)(kept + 1), ALIGN), call->ask.n_threads);
    kept->axis = conv_share_choose(&kept->plan, call->ask.n_threads);
    kept->is_packed = w->data != NULL;
    if (kept->is_packed)
        pack(call, w->data);
    return 0;
}

#define CONVOLUTION(name_)                                                                                             \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_conv, .run = run_conv, .reference = reference_conv                          \
    };

CONVOLUTION(ConvInteger)
CONVOLUTION(QLinearConv)

/* ---- products: of each batch [rows][terms] by [terms][filters] ---- */

static struct onnx_value batch_of(const struct onnx_value *v)
{
    struct onnx_value batch = *v;

    batch.n_dims = v->n_dims < 2 ? 0 : v->n_dims - 2;
    batch.elements = op_elements(v, 0, batch.n_dims);
    return batch;
}

static int prepare_product(struct op_call *call, struct exp_why *why)
{
    const struct onnx_integers *at = onnx_integers(call->ask.node);
    const struct onnx_value *a = op_in(call, at->x), *b = op_in(call, at->w);
    struct onnx_value left, right, all;
    struct integers q = { .at = at };
    int err = op_check_shapes(call, at->y_zero == ONNX_NONE ? 2 : at->y_zero + 1, why);

    if (err)
        return err;
    q.rows = a->n_dims < 2 ? 1 : (size_t)a->dim[a->n_dims - 2];
    q.filters = b->n_dims < 2 ? 1 : (size_t)b->dim[b->n_dims - 1];
    q.terms = (size_t)a->dim[a->n_dims - 1];
    if (q.terms > MOST_TERMS)
        return op_refuse(call, why, "sums of %zu products may exceed 32 bits", q.terms);
    left = batch_of(a);
    right = batch_of(b);
    all = *op_out(call, 0);
    all.n_dims -= (size_t)(a->n_dims > 1) + (b->n_dims > 1);
    all.elements = op_elements(&all, 0, all.n_dims);
    if (!op_walk_init(&q.batch, &all, 2, (const struct onnx_value *const[]){ &left, &right }))
        return op_refuse(call, why, "its batches do not fit");
    memcpy(op_own(call, sizeof q), &q, sizeof q);
    return 0;
}

static void find_batch(void *ctx, const size_t *at, size_t n)
{
    (void)n;
    memcpy(ctx, at, 2 * sizeof *at);
}

/* Computes rows of all batches, each row of a by all columns. */
static void product_rows(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct run *r = ctx;
    const struct integers *q = r->call->own;
    const struct onnx_value *a = op_in(r->call, q->at->x), *b = op_in(r->call, q->at->w);
    int64_t *w_zero = exp_new(q->filters + 1, sizeof *w_zero);
    int32_t *sum = exp_new(q->filters + 1, sizeof *sum);

    (void)share;
    for (size_t f = 0; f < q->filters; f++)
        w_zero[f] = op_zero_point(r->call, r->t, q->at->w_zero, f);
    for (size_t i = from; i < to; i++) {
        const size_t row = i % q->rows;
        const int64_t x_zero = op_zero_point(r->call, r->t, q->at->x_zero, row);
        size_t at[2];

        op_walk_run(&q->batch, i / q->rows, i / q->rows + 1, find_batch, at);
        memset(sum, 0, q->filters * sizeof *sum);
        for (size_t k = 0; k < q->terms; k++) {
            const int64_t x = number(a, r->t->in[q->at->x], (at[0] * q->rows + row) * q->terms + k) - x_zero;

            for (size_t f = 0; f < q->filters; f++)
                sum[f] +=
                    (int32_t)(x * (number(b, r->t->in[q->at->w], (at[1] * q->terms + k) * q->filters + f) - w_zero[f]));
        }
        set_outputs(r->call, r->t, sum, &(struct outputs){ row, 0, 1, q->filters, i * q->filters });
    }
    free(w_zero);
    free(sum);
}

static void run_product(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct integers *q = call->own;
    struct run r = { .call = call, .t = t };

    if (!op_is_emitted()) /* a model stands in */
        op_share(call, team, q->batch.elements * q->rows, q->terms * q->filters, product_rows, &r);
}

static void reference_product(const struct op_call *call, const struct op_tensors *t)
{
    const struct integers *q = call->own;
    const struct onnx_value *a = op_in(call, q->at->x), *b = op_in(call, q->at->w);

    for (size_t i = 0; i < op_out(call, 0)->elements; i++) {
        const size_t row = i / q->filters % q->rows, f = i % q->filters;
        size_t at[2];
        int64_t sum = 0;
        int32_t narrow;

        op_walk_run(&q->batch, i / q->filters / q->rows, i / q->filters / q->rows + 1, find_batch, at);
        for (size_t k = 0; k < q->terms; k++)
            sum += (number(a, t->in[q->at->x], (at[0] * q->rows + row) * q->terms + k) -
                    op_zero_point(call, t, q->at->x_zero, row)) *
                   (number(b, t->in[q->at->w], (at[1] * q->terms + k) * q->filters + f) -
                    op_zero_point(call, t, q->at->w_zero, f));
        narrow = (int32_t)sum;
        set_outputs(call, t, &narrow, &(struct outputs){ row, f, 0, 1, i });
    }
}

#define PRODUCT(name_)                                                                                                 \
    const struct op op_##name_ = {                                                                                     \
        .name = #name_, .prepare = prepare_product, .run = run_product, .reference = reference_product                 \
    };

PRODUCT(MatMulInteger)
PRODUCT(QLinearMatMul)
