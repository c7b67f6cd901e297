/*
 * Gemm and MatMul. Products of matrices with few rows, as fully connected layers have at batch 1, are bound by reading
 * the right matrix once: dots of rows, or sums of rows. Larger products use packed panels of the right matrix, a piece
 * of k at a time, and tiles in registers.
 */
#include <math.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/network/operators/records.h"

enum { FEW_ROWS = 4, PIECE_OF_K = 256 };

/* A matrix: elements from a row to the next row, and from a column to the next column. */
struct matrix {
    size_t row, column;
};

struct product {
    size_t m, n, k;
    struct matrix a, b;
    struct op_walk batch; /* of MatMul; steps in elements */
    size_t n_batch;
    float alpha, beta; /* of Gemm */
    struct op_walk c;  /* ... and the walk of the third operand */
    bool has_c;
};

/* ---- preparing ---- */

static int prepare_gemm(struct op_call *call, struct exp_why *why)
{
    const struct onnx_node *node = call->ask.node;
    const struct onnx_value *a = op_in(call, 0), *b = op_in(call, 1), *c = op_in(call, 2);
    const bool turns_a = onnx_int(node, "transA", 0), turns_b = onnx_int(node, "transB", 0);
    struct product *p;
    int err = op_check_floats(call, 2, why);

    if (!err && (a->n_dims != 2 || b->n_dims != 2))
        err = op_refuse(call, why, "operands of %zu and %zu dimensions", a->n_dims, b->n_dims);
    if (!err && a->dim[!turns_a] != b->dim[turns_b])
        err = op_refuse(call, why, "%lld columns times %lld rows", (long long)a->dim[!turns_a],
                        (long long)b->dim[turns_b]);
    if (!err)
        err = op_check_out(call, 0, 2, (const int64_t[]){ a->dim[turns_a], b->dim[!turns_b] }, why);
    if (err)
        return err;
    p = op_own(call, sizeof *p);
    p->m = (size_t)a->dim[turns_a];
    p->n = (size_t)b->dim[!turns_b];
    p->k = (size_t)a->dim[!turns_a];
    p->a = turns_a ? (struct matrix){ 1, p->m } : (struct matrix){ p->k, 1 };
    p->b = turns_b ? (struct matrix){ 1, p->k } : (struct matrix){ p->n, 1 };
    p->n_batch = 1;
    p->batch = (struct op_walk){ .n_operands = 2, .n_dims = 1, .dim = { 1 }, .elements = 1 };
    p->alpha = onnx_float(node, "alpha", 1);
    p->beta = onnx_float(node, "beta", 1);
    p->has_c = c && p->beta != 0;
    if (p->has_c && !op_walk_init(&p->c, op_out(call, 0), 1, &c))
        return op_refuse(call, why, "'%s' cannot be broadcast to its output", c->name);
    return 0;
}

/* The batch dimensions of a value: all but the last two; none of a vector. */
static struct onnx_value batch_of(const struct onnx_value *v)
{
    struct onnx_value batch = *v;

    batch.n_dims = v->n_dims < 2 ? 0 : v->n_dims - 2;
    batch.elements = op_elements(v, 0, batch.n_dims);
    return batch;
}

/* Checks the output's shape: matrices; an axis is missing for each operand that is a vector. */
static int check_matmul(const struct op_call *call, const struct product *p, const struct onnx_value *batch,
                        struct exp_why *why)
{
    int64_t dim[ONNX_MAX_DIMS + 2];
    size_t n = batch->n_dims;

    memcpy(dim, batch->dim, sizeof batch->dim);
    if (op_in(call, 0)->n_dims > 1)
        dim[n++] = (int64_t)p->m;
    if (op_in(call, 1)->n_dims > 1)
        dim[n++] = (int64_t)p->n;
    return op_check_out(call, 0, n, dim, why);
}

/* Sets batch to the broadcast shape of both operands, and the operands' steps. Returns 0 or -ENOTSUP. */
static int set_batch(const struct op_call *call, struct product *p, struct onnx_value *batch, struct exp_why *why)
{
    const struct onnx_value left = batch_of(op_in(call, 0)), right = batch_of(op_in(call, 1));
    const struct onnx_value *of[2] = { &left, &right };

    *batch = left.n_dims >= right.n_dims ? left : right;
    for (size_t i = 1; i <= batch->n_dims; i++) {
        int64_t *dim = &batch->dim[batch->n_dims - i];

        for (size_t o = 0; o < 2; o++) {
            if (i <= of[o]->n_dims && of[o]->dim[of[o]->n_dims - i] != 1)
                *dim = of[o]->dim[of[o]->n_dims - i];
        }
    }
    batch->elements = op_elements(batch, 0, batch->n_dims);
    if (!op_walk_init(&p->batch, batch, 2, of))
        return op_refuse(call, why, "'%s' and '%s' cannot be broadcast", left.name, right.name);
    p->n_batch = batch->elements;
    for (size_t d = 0; d < p->batch.n_dims; d++) {
        p->batch.step[0][d] *= p->m * p->k;
        p->batch.step[1][d] *= p->k * p->n;
    }
    return 0;
}

static int prepare_matmul(struct op_call *call, struct exp_why *why)
{
    const struct onnx_value *a = op_in(call, 0), *b = op_in(call, 1);
    struct onnx_value batch;
    struct product *p;
    int err = op_check_floats(call, 2, why);

    if (!err && (!a->n_dims || !b->n_dims))
        err = op_refuse(call, why, "an operand without dimensions");
    if (err)
        return err;
    p = op_own(call, sizeof *p);
    p->m = a->n_dims > 1 ? (size_t)a->dim[a->n_dims - 2] : 1;
    p->k = (size_t)a->dim[a->n_dims - 1];
    p->n = b->n_dims > 1 ? (size_t)b->dim[b->n_dims - 1] : 1;
    p->a = (struct matrix){ p->k, 1 };
    p->b = (struct matrix){ p->n, 1 };
    p->alpha = 1;
    if (p->k != (size_t)(b->n_dims > 1 ? b->dim[b->n_dims - 2] : b->dim[0]))
        return op_refuse(call, why, "%zu columns times another number of rows", p->k);
    err = set_batch(call, p, &batch, why);
    return err ? err : check_matmul(call, p, &batch, why);
}

/* ---- columns from..to - 1 of a product ---- */

struct operands {
    const struct product *p;
    const float *a, *b;
    float *out;
};

static void clear(const struct operands *o, size_t from, size_t to)
{
    for (size_t i = 0; i < o->p->m && from < to; i++)
        memset(o->out + i * o->p->n + from, 0, (to - from) * sizeof *o->out);
    for (size_t i = 0; i < o->p->m && from < to; i++)
        op_note(o->out + i * o->p->n + from, to - from, 1, SIM_STORE);
}

/* Tells whether both matrices are dense along k. */
static bool has_dots(const struct product *p)
{
    return p->a.column == 1 && p->b.row == 1;
}

static bool has_few_rows(const struct product *p)
{
    return (p->m < FEW_ROWS || p->n == 1) && (has_dots(p) || p->b.column == 1);
}

/* Row by row of the left matrix: dots if the right matrix is transposed, else sums of the right matrix's rows. */
static void few_rows(const struct operands *o, size_t from, size_t to)
{
    const struct product *p = o->p;
    const struct op_loops *l = op_loops();

    for (size_t i = 0; i < p->m; i++) {
        const struct op_rows r = { o->a + i * p->a.row, o->b + from, p->k, p->a.column, p->b.row };
        float *out = o->out + i * p->n;

        if (!has_dots(p))
            l->add_rows(out + from, to - from, &r);
        for (size_t j = from; has_dots(p) && j < to; j++) {
            out[j] = l->dot(r.x, o->b + j * p->b.column, p->k);
            op_note(out + j, 1, 1, SIM_STORE);
        }
    }
}

/* Copies columns j.. and rows k.. of the right matrix, as many as fit; columns past the last are 0. */
static size_t pack(const struct operands *o, size_t j, size_t k, float *panel)
{
    const struct product *p = o->p;
    const size_t width = op_loops()->tile_columns, n = p->n - j < width ? p->n - j : width;
    const size_t depth = p->k - k < PIECE_OF_K ? p->k - k : PIECE_OF_K;

    for (size_t i = 0; i < depth; i++, panel += width) {
        const float *from = o->b + (k + i) * p->b.row + j * p->b.column;

        if (p->b.column == 1)
            memcpy(panel, from, n * sizeof *panel);
        for (size_t c = 0; p->b.column != 1 && c < n; c++)
            panel[c] = from[c * p->b.column];
        memset(panel + n, 0, (width - n) * sizeof *panel);
        op_note(from, n, p->b.column, SIM_LOAD);
        op_note(panel, width, 1, SIM_STORE);
    }
    return depth;
}

/* Adds a tile narrower than vectors. */
static void narrow_tile(const struct op_tile *t, size_t n)
{
    float aside[OP_MAX_TILE_ROWS * OP_MAX_TILE_COLUMNS] = { 0 };
    struct op_tile whole = *t;

    whole.out = aside;
    whole.row_out = OP_MAX_TILE_COLUMNS;
    op_loops()->tile(&whole);
    for (size_t i = 0; i < t->m; i++) {
        for (size_t j = 0; j < n; j++)
            t->out[i * t->row_out + j] += aside[i * OP_MAX_TILE_COLUMNS + j];
        op_note(t->out + i * t->row_out, n, 1, SIM_LOAD);
        op_note(t->out + i * t->row_out, n, 1, SIM_STORE);
    }
}

static void tiles(const struct operands *o, size_t j, size_t k, const float *panel, size_t depth)
{
    const struct product *p = o->p;
    const size_t rows = op_loops()->tile_rows, width = op_loops()->tile_columns;

    for (size_t i = 0; i < p->m; i += rows) {
        const struct op_tile t = { p->m - i < rows ? p->m - i : rows,
                                   depth,
                                   o->a + i * p->a.row + k * p->a.column,
                                   panel,
                                   p->a.row,
                                   p->a.column,
                                   o->out + i * p->n + j,
                                   p->n };

        if (p->n - j < width)
            narrow_tile(&t, p->n - j);
        else
            op_loops()->tile(&t);
    }
}

static void many_rows(const struct operands *o, size_t from, size_t to)
{
    float panel[PIECE_OF_K * OP_MAX_TILE_COLUMNS];

    for (size_t j = from; j < to; j += op_loops()->tile_columns) {
        for (size_t k = 0; k < o->p->k; k += PIECE_OF_K)
            tiles(o, j, k, panel, pack(o, j, k, panel));
    }
}

/* ---- running ---- */

struct work {
    const struct op_call *call;
    const struct product *p;
    const struct op_tensors *t;
};

struct finishing {
    const struct product *p;
    const float *c;
    float *out; /* where the next row goes */
    float scale;
};

/* A row of Gemm's third operand: out = alpha * out + beta * c. */
static void add_c(void *ctx, const size_t *at, size_t n)
{
    struct finishing *f = ctx;
    const size_t step = n > 1 ? f->p->c.step[0][f->p->c.n_dims - 1] : 1;

    for (size_t i = 0; i < n; i++)
        f->out[i] = f->scale * f->out[i] + f->p->beta * f->c[at[0] + i * step];
    op_note(f->out, n, 1, SIM_LOAD);
    op_note(f->c + at[0], n, step, SIM_LOAD);
    op_note(f->out, n, 1, SIM_STORE);
    f->out += n;
}

/* Finishes the sums of columns from..to - 1. */
static void finish(const struct work *w, float *out, size_t from, size_t to)
{
    const struct product *p = w->p;

    for (size_t i = 0; i < p->m; i++) {
        float *row = out + i * p->n + from;
        struct finishing f = { p, p->has_c ? w->t->in[2] : NULL, row, p->alpha };

        if (p->has_c)
            op_walk_run(&p->c, i * p->n + from, i * p->n + to, add_c, &f);
        else if (p->alpha != 1)
            op_loops()->map[OP_MAP_SCALE](row, row, to - from, (const float[]){ p->alpha, 0 });
        op_activate(w->call, row, to - from);
    }
}

/* Tells where the two operands of a single element are. */
static void find(void *ctx, const size_t *at, size_t n)
{
    (void)n;
    memcpy(ctx, at, 2 * sizeof *at);
}

enum { UNIT = OP_MAX_TILE_COLUMNS }; /* columns of a unit of work; a multiple of every tile's */

/* Units from..to - 1 of all products; a product has `each` units. */
static void multiply(void *ctx, size_t from, size_t to, unsigned share)
{
    const struct work *w = ctx;
    const struct product *p = w->p;
    const size_t each = (p->n + UNIT - 1) / UNIT;

    (void)share;
    for (size_t i = from, end; i < to; i = end) {
        const size_t batch = i / each, first = i % each * UNIT;
        size_t at[2], last;

        end = (batch + 1) * each < to ? (batch + 1) * each : to;
        last = (end - batch * each) * UNIT < p->n ? (end - batch * each) * UNIT : p->n;
        op_walk_run(&p->batch, batch, batch + 1, find, at);
        const struct operands o = { p, (const float *)w->t->in[0] + at[0], (const float *)w->t->in[1] + at[1],
                                    (float *)w->t->out[0] + batch * p->m * p->n };

        clear(&o, first, last);
        (has_few_rows(p) ? few_rows : many_rows)(&o, first, last);
        finish(w, o.out, first, last);
    }
}

static void run(const struct op_call *call, const struct op_tensors *t, struct sconv_team *team)
{
    const struct product *p = call->own;
    struct work w = { call, p, t };

    if (p->m && p->n)
        op_share(call, team, p->n_batch * ((p->n + UNIT - 1) / UNIT), 4 * p->k * UNIT * (1 + p->m / 8), multiply, &w);
}

static void reference(const struct op_call *call, const struct op_tensors *t)
{
    const struct product *p = call->own;

    for (size_t i = 0; i < p->n_batch * p->m * p->n; i++) {
        const size_t batch = i / (p->m * p->n), row = i / p->n % p->m, column = i % p->n;
        double sum = 0;
        size_t at[2];

        op_walk_run(&p->batch, batch, batch + 1, find, at);
        for (size_t k = 0; k < p->k; k++)
            sum += (double)((const float *)t->in[0])[at[0] + row * p->a.row + k * p->a.column] *
                   (double)((const float *)t->in[1])[at[1] + k * p->b.row + column * p->b.column];
        sum *= (double)p->alpha;
        if (p->has_c) {
            op_walk_run(&p->c, i, i + 1, find, at);
            sum += (double)p->beta * (double)((const float *)t->in[2])[at[0]];
        }
        ((float *)t->out[0])[i] = (float)sum;
    }
    op_activate(call, t->out[0], p->n_batch * p->m * p->n);
}

static void magnitudes(const struct op_call *call, const struct op_tensors *t)
{
    struct product p = *(const struct product *)call->own;
    struct op_call positive = *call;

    p.alpha = fabsf(p.alpha);
    p.beta = fabsf(p.beta);
    positive.own = &p;
    op_magnitudes_of_sums(&positive, t);
}

#define RECORD(name_, prepare_)                                                                                        \
    const struct op op_##name_ = { .name = #name_,                                                                     \
                                   .traits = OP_ACTIVATES,                                                             \
                                   .prepare = prepare_,                                                                \
                                   .run = run,                                                                         \
                                   .reference = reference,                                                             \
                                   .magnitudes = magnitudes };

RECORD(Gemm, prepare_gemm)
RECORD(MatMul, prepare_matmul)
