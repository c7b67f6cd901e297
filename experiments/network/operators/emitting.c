#include "experiments/network/operators/emitting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/operators/inside.h"
#include "experiments/onnx/graph.h"
#include "kernels/shape/sizes.h"

enum { MOST_SCRATCH = 16, SCRATCH_BYTES = 1 << 20, PIECE_BYTES = 4096 };

/* Memory outside of tensors: the address of the first byte. */
struct scratch {
    uintptr_t begin;
    uint64_t addr;
};

struct tensor {
    uint64_t addr;
    size_t bytes;
    uint8_t tag;
    bool is_out, is_constant;
};

enum { MOST_TENSORS = 96 };

/* The state of op_emit on this thread. */
struct emitting {
    const struct op_emission *e; /* NULL: pointers are addresses */
    struct sim_sink *sink;
    size_t lanes, n_tensors, n_scratch;
    struct tensor tensor[MOST_TENSORS];
    struct scratch scratch[MOST_SCRATCH];
};

static _Thread_local struct emitting *now;

/* ---- addresses ---- */

static uint64_t address_of_scratch(struct emitting *m, uintptr_t p)
{
    size_t i = 0;

    while (i < m->n_scratch && p - m->scratch[i].begin >= SCRATCH_BYTES)
        i++;
    if (i == MOST_SCRATCH)
        i = 0;
    else if (i == m->n_scratch)
        m->scratch[m->n_scratch++] = (struct scratch){ p, OP_SCRATCH_BASE + 2 * i * SCRATCH_BYTES };
    return m->scratch[i].addr + (p - m->scratch[i].begin);
}

static uint64_t address_of(const void *pointer)
{
    const uintptr_t p = (uintptr_t)pointer;

    if (!now->e)
        return p;
    if (p - (uintptr_t)now->e->memory < now->e->bytes)
        return now->e->begin + (p - (uintptr_t)now->e->memory);
    return address_of_scratch(now, p);
}

/* Returns the tensor at an address, for a store only an output. NULL: none. */
static const struct tensor *tensor_at(uint64_t addr, bool is_store)
{
    const struct tensor *found = NULL;

    for (size_t i = 0; i < now->n_tensors; i++) {
        const struct tensor *t = &now->tensor[i];

        if (addr - t->addr < t->bytes && (!found || t->is_out == is_store))
            found = t;
    }
    return found;
}

static struct sim_run run_of(const void *pointer, enum sim_kind kind, size_t floats)
{
    const uint64_t addr = address_of(pointer);
    const struct tensor *t = tensor_at(addr, kind == SIM_STORE);

    return (struct sim_run){
        .addr = addr,
        .count = 1,
        .access_bytes = (uint32_t)(floats * sizeof(float)),
        .kind = (uint8_t)kind,
        .tag = t        ? t->tag
               : now->e ? now->e->scratch_tag
                        : 0,
        .phase = now->e ? now->e->at.phase : 0,
    };
}

/* ---- vectors over rows ---- */

/* A row that is accessed element by element, in step with more rows. */
struct row {
    const float *at;
    enum sim_kind kind;
    size_t stride; /* elements; more than 1: no vectors */
};

#define LOAD(pointer)                                                                                                  \
    {                                                                                                                  \
        pointer, SIM_LOAD, 1                                                                                           \
    }
#define STORE(pointer)                                                                                                 \
    {                                                                                                                  \
        pointer, SIM_STORE, 1                                                                                          \
    }

/* Emits rows from element `from` on: `width` elements of each at a time, n_times. */
static void emit_rows(const struct row *row, size_t n_rows, size_t from, size_t width, size_t n_times)
{
    struct sim_run run[SIM_MAX_BURST_RUNS];

    if (!n_times)
        return;
    for (size_t r = 0; r < n_rows; r++) {
        run[r] = run_of(row[r].at + from * row[r].stride, row[r].kind, row[r].stride == 1 ? width : 1);
        run[r].count = row[r].stride == 1 ? 1 : (uint32_t)width;
        run[r].stride_bytes = (int64_t)(row[r].stride * sizeof(float));
        run[r].step_bytes = (int64_t)(width * row[r].stride * sizeof(float));
    }
    sim_emit(now->sink, run, n_rows, n_times);
}

/* Emits n elements of rows: whole vectors, then the rest as single elements. */
static void touch(const struct row *row, size_t n_rows, size_t n)
{
    const size_t lanes = now->lanes;

    emit_rows(row, n_rows, 0, lanes, n / lanes);
    emit_rows(row, n_rows, n - n % lanes, 1, n % lanes);
}

#define TOUCH(n, ...)                                                                                                  \
    touch((const struct row[]){ __VA_ARGS__ }, sizeof((const struct row[]){ __VA_ARGS__ }) / sizeof(struct row), n)

static void load_one(const float *at)
{
    const struct sim_run run = run_of(at, SIM_LOAD, 1);

    sim_emit(now->sink, &run, 1, 1);
}

/* ---- the loops, in the order of loops.inc ---- */

static void map(float *out, const float *in, size_t n, const float *p)
{
    (void)p;
    TOUCH(n, LOAD(in), STORE(out));
}

static void pair(float *out, const float *a, const float *b, size_t n)
{
    TOUCH(n, LOAD(a), LOAD(b), STORE(out));
}

static void pair_left(float *out, const float *a, const float *b, size_t n)
{
    load_one(a);
    TOUCH(n, LOAD(b), STORE(out));
}

static void pair_right(float *out, const float *a, const float *b, size_t n)
{
    load_one(b);
    TOUCH(n, LOAD(a), STORE(out));
}

static float fold(const float *in, size_t n)
{
    TOUCH(n, LOAD(in));
    return 0;
}

static void fold_rows(float *out, const float *in, size_t n)
{
    TOUCH(n, LOAD(out), LOAD(in), STORE(out));
}

static bool has_nan(const float *in, size_t n)
{
    TOUCH(n, LOAD(in));
    return false;
}

static void join_rows(float *out, const float *const *row, size_t n_rows, size_t n)
{
    if (n_rows == 3)
        TOUCH(n, LOAD(row[0]), LOAD(row[1]), LOAD(row[2]), STORE(out));
    else if (n_rows > 1)
        TOUCH(n, LOAD(row[0]), LOAD(row[1]), STORE(out));
    else
        TOUCH(n, LOAD(row[0]), STORE(out));
    for (size_t r = 2; r < n_rows && n_rows != 3; r++)
        TOUCH(n, LOAD(out), LOAD(row[r]), STORE(out));
}

/* Two or three adjacent taps: neighbouring vectors of the row. */
static void join_steps(float *out, const float *in, size_t n, const struct op_row_window *w)
{
    const size_t lanes = now->lanes, s = w->stride, taps = w->taps;

    for (size_t i = 0; i + lanes <= n; i += lanes) {
        if (s == 1 && taps == 2)
            TOUCH(lanes, LOAD(in + i), LOAD(in + i + 1), STORE(out + i));
        else if (s == 1)
            TOUCH(lanes, LOAD(in + i), LOAD(in + i + 1), LOAD(in + i + 2), STORE(out + i));
        else if (taps == 2)
            TOUCH(lanes, LOAD(in + 2 * i), LOAD(in + 2 * i + lanes), STORE(out + i));
        else
            TOUCH(lanes, LOAD(in + 2 * i), LOAD(in + 2 * i + lanes), LOAD(in + 2 * i + lanes + 1), STORE(out + i));
    }
    for (size_t i = n - n % lanes; i < n; i++) {
        for (size_t t = 0; t < taps; t++)
            load_one(in + i * s + t);
        TOUCH(1, STORE(out + i));
    }
}

static void join_across(float *out, const float *in, size_t n, const struct op_row_window *w)
{
    if (w->dilation == 1 && w->stride <= 2 && (w->taps == 2 || w->taps == 3)) {
        join_steps(out, in, n, w);
        return;
    }
    TOUCH(n, { in, SIM_LOAD, w->stride }, STORE(out));
    for (size_t t = 1; t < w->taps; t++)
        TOUCH(n, LOAD(out), { in + t * w->dilation, SIM_LOAD, w->stride }, STORE(out));
}

/* As many of columns c.. of a row as a vector has and lie in the plane. */
static void load_columns(const float *row, ptrdiff_t columns, ptrdiff_t c)
{
    const ptrdiff_t from = c < 0 ? 0 : c, lanes = (ptrdiff_t)now->lanes, to = c + lanes < columns ? c + lanes : columns;

    if (from < to)
        TOUCH((size_t)(to - from), LOAD(row + from));
}

/* A row of the plane, for windows i.. */
static void load_along(const float *row, const struct op_pool_plane *p, size_t i)
{
    const size_t stride = p->across.stride, taps = p->across.taps;
    const size_t n_loads = stride == 2 && taps < 3 ? 2 : taps, apart = stride == 1 ? 1 : now->lanes;

    for (size_t l = 0; l < n_loads; l++)
        load_columns(row, (ptrdiff_t)p->columns, (ptrdiff_t)(i * stride + l * apart) - (ptrdiff_t)p->before);
}

/* With masks, a vector of windows from the top to the bottom: masks.inc. */
static void pool_plane(float *out, const float *in, const struct op_pool_plane *p)
{
    for (size_t i = 0; i < p->out_columns; i += now->lanes) {
        const size_t n = min_size(now->lanes, p->out_columns - i);
        size_t done = 0;

        if (p->by_column)
            TOUCH(n, LOAD(p->by_column + i));
        for (size_t row = 0; row < p->out_rows; row++) {
            const size_t bottom = row * p->row_stride + p->row_taps, top = row * p->row_stride;
            const size_t to = min_size(p->rows, bottom < p->rows_before ? 0 : bottom - p->rows_before);

            done = max_size(done, top < p->rows_before ? 0 : top - p->rows_before);
            for (; done < to; done++)
                load_along(in + done * p->columns, p, i);
            if (p->by_row)
                load_one(p->by_row + row);
            TOUCH(n, STORE(out + row * p->out_columns + i));
        }
    }
}

static void pool_row(float *out, const struct op_pool_row *r)
{
    join_rows(r->aside + r->before, r->row, r->n_rows, r->columns);
    join_across(out, r->aside, r->n, &r->across);
    if (r->scale != 1)
        TOUCH(r->n, LOAD(out), STORE(out));
    if (r->by_column)
        TOUCH(r->n, LOAD(out), LOAD(r->by_column), STORE(out));
}

enum { LRN_VECTORS = 8 };

/* The sums of squares stay on the stack, which is not simulated. */
static void lrn(float *out, const float *in, size_t n, const struct op_lrn *l)
{
    const size_t before = (l->size - 1) / 2, after = l->size - 1 - before, last = l->channels - 1;
    const size_t most = LRN_VECTORS * now->lanes;

    for (size_t i = 0; i < n; i += most) {
        const size_t width = min_size(n - i, most);

        for (size_t c = 0; c < l->channels; c++) {
            const size_t from = c < before ? 0 : c - before, to = min_size(last, c + after);

            for (size_t k = from; k <= to; k++)
                TOUCH(width, LOAD(in + k * l->plane + i));
            TOUCH(width, LOAD(in + c * l->plane + i), STORE(out + c * l->plane + i));
        }
    }
}

static float exp_sum(float *out, const float *in, size_t n, float less)
{
    (void)less;
    TOUCH(n, LOAD(in), STORE(out));
    TOUCH(n, LOAD(out));
    return 1;
}

static float dot(const float *a, const float *b, size_t n)
{
    TOUCH(n, LOAD(a), LOAD(b));
    return 0;
}

static void add_rows(float *out, size_t n, const struct op_rows *r)
{
    size_t j = 0;

    for (; j + 4 <= r->n_rows; j += 4) {
        const float *b = r->b + j * r->row_b;

        for (size_t k = 0; k < 4; k++)
            load_one(r->x + (j + k) * r->step_x);
        TOUCH(n, LOAD(out), LOAD(b), LOAD(b + r->row_b), LOAD(b + 2 * r->row_b), LOAD(b + 3 * r->row_b), STORE(out));
    }
    for (; j < r->n_rows; j++) {
        load_one(r->x + j * r->step_x);
        TOUCH(n, LOAD(out), LOAD(r->b + j * r->row_b), STORE(out));
    }
}

/* Two vectors of the panel, then an element of each row, for every k; the sums are in registers. */
static void tile_rows(const struct op_tile *t, size_t row0, size_t m)
{
    const size_t lanes = now->lanes;
    const float *a = t->a + row0 * t->row_a;
    struct sim_run run[3] = { run_of(t->panel, SIM_LOAD, lanes), run_of(t->panel + lanes, SIM_LOAD, lanes),
                              run_of(a, SIM_LOAD, 1) };

    run[0].step_bytes = run[1].step_bytes = (int64_t)(2 * lanes * sizeof(float));
    run[2].count = (uint32_t)m;
    run[2].stride_bytes = (int64_t)(t->row_a * sizeof(float));
    run[2].step_bytes = (int64_t)(t->step_a * sizeof(float));
    if (t->k)
        sim_emit(now->sink, run, 3, t->k);
    for (size_t i = row0; i < row0 + m; i++) {
        float *out = t->out + i * t->row_out;

        TOUCH(lanes, LOAD(out), STORE(out));
        TOUCH(lanes, LOAD(out + lanes), STORE(out + lanes));
    }
}

/* How many rows of a tile stay in registers: loops_ref.c and its sisters. */
static size_t rows_of_tile(size_t lanes)
{
    return lanes == 16 ? 8 : lanes == 8 ? 6 : 4;
}

static void tile(const struct op_tile *t)
{
    if (t->m == rows_of_tile(now->lanes))
        tile_rows(t, 0, t->m);
    for (size_t i = 0; i < t->m && t->m != rows_of_tile(now->lanes); i++)
        tile_rows(t, i, 1);
}

/* clang-format off */
#define PAIR { [OP_BOTH_ARRAYS] = pair, [OP_LEFT_IS_ONE] = pair_left, [OP_RIGHT_IS_ONE] = pair_right }
#define LOOPS(lanes_, rows)                                                                                            \
    {                                                                                                                  \
        .map = { map, map, map, map, map, map, map, map, map, map, map, map, map, map },                               \
        .pair = { PAIR, PAIR, PAIR, PAIR, PAIR, PAIR, PAIR },                                                          \
        .fold = { fold, fold, fold, fold },                                                                            \
        .fold_rows = { fold_rows, fold_rows, fold_rows, fold_rows },                                                   \
        .has_nan = has_nan, .max_row = pool_row, .sum_row = pool_row, .lrn = lrn,                                      \
        .max_plane = (lanes_) == 16 ? pool_plane : NULL, .sum_plane = (lanes_) == 16 ? pool_plane : NULL,              \
        .exp_sum = exp_sum, .dot = dot, .add_rows = add_rows, .tile = tile,                                            \
        .tile_rows = (rows), .tile_columns = 2 * (lanes_),                                                             \
    }
/* clang-format on */

static const struct op_loops loops_4 = LOOPS(4, 4), loops_8 = LOOPS(8, 6), loops_16 = LOOPS(16, 8);

_Static_assert(OP_N_MAPS == 14 && OP_N_PAIRS == 7 && OP_N_FOLDS == 4, "a loop is missing in LOOPS");

static const struct op_loops *loops_of(size_t lanes)
{
    return lanes == 16 ? &loops_16 : lanes == 8 ? &loops_8 : &loops_4;
}

const struct op_loops *op_emitting_loops(void)
{
    return now ? loops_of(now->lanes) : NULL;
}

void op_emit_loops(void (*f)(void *ctx, const struct op_loops *l), void *ctx, unsigned lanes, struct sim_sink *sink)
{
    struct emitting m = { .sink = sink, .lanes = lanes };

    now = &m;
    f(ctx, loops_of(lanes));
    now = NULL;
}

/* ---- accesses outside of loops ---- */

bool op_is_emitted(void)
{
    return now;
}

void op_note(const float *at, size_t n, size_t stride, enum sim_kind kind)
{
    if (now && n)
        TOUCH(n, { at, kind, stride });
}

void op_note_map(float *out, const float *in, size_t n)
{
    if (now)
        TOUCH(n, LOAD(in), STORE(out));
}

void op_copy(void *to, const void *from, size_t bytes)
{
    if (now && bytes)
        TOUCH(bytes / sizeof(float), LOAD((const float *)from), STORE((const float *)to));
    else if (bytes)
        memcpy(to, from, bytes);
}

/* ---- operators ---- */

static void add_tensor(struct emitting *m, const struct onnx_value *v, uint64_t addr, uint8_t tag, bool is_out)
{
    if (v && addr && m->n_tensors < MOST_TENSORS)
        m->tensor[m->n_tensors++] =
            (struct tensor){ addr, v->elements * onnx_type_bytes(v->type), tag, is_out, onnx_is_constant(v) };
}

static void begin(struct emitting *m, const struct op_call *call, const struct op_emission *e, struct sim_sink *sink)
{
    const struct onnx_graph *g = call->ask.graph;
    const struct onnx_node *node = call->ask.node;

    *m = (struct emitting){ .e = e, .sink = sink, .lanes = e->lanes };
    for (size_t i = 0; i < node->n_in; i++)
        add_tensor(m, onnx_in(g, node, i), e->at.in[i], e->at.in_tag[i], false);
    for (size_t i = 0; i < node->n_out; i++)
        add_tensor(m, onnx_out(g, node, i), e->at.out[i], e->at.out_tag[i], true);
}

static void *pointer_to(const struct op_emission *e, uint64_t addr)
{
    return addr ? e->memory + (addr - e->begin) : NULL;
}

/* Runs the operator with emitting loops. Constants outside of the places stay in the graph's memory. */
static void emit_code(const struct op_call *call, const struct op_emission *e, struct sim_sink *sink)
{
    const struct onnx_node *node = call->ask.node;
    const void **in = exp_new(node->n_in + 1, sizeof *in);
    void **out = exp_new(node->n_out + 1, sizeof *out);
    struct emitting m;

    for (size_t i = 0; i < node->n_in; i++) {
        const struct onnx_value *v = onnx_in(call->ask.graph, node, i);

        in[i] = e->at.in[i] ? pointer_to(e, e->at.in[i]) : v ? v->data : NULL;
    }
    for (size_t i = 0; i < node->n_out; i++)
        out[i] = pointer_to(e, e->at.out[i]);
    begin(&m, call, e, sink);
    now = &m;
    call->op->run(call, &(struct op_tensors){ in, out }, NULL);
    now = NULL;
    free(in);
    free(out);
}

/* Emits a piece of a tensor: its share of each PIECE_BYTES of the largest. */
static void emit_piece(const struct emitting *m, const struct tensor *t, size_t piece, size_t n_pieces)
{
    const size_t floats = t->bytes / sizeof(float), width = m->lanes * sizeof(float);
    const size_t from = floats * piece / n_pieces, n = floats * (piece + 1) / n_pieces - from;
    struct sim_run run = { .addr = t->addr + from * sizeof(float),
                           .step_bytes = (int64_t)width,
                           .count = 1,
                           .access_bytes = (uint32_t)width,
                           .kind = t->is_out ? SIM_STORE : SIM_LOAD,
                           .tag = t->tag,
                           .phase = m->e->at.phase };

    if (n / m->lanes)
        sim_emit(m->sink, &run, 1, n / m->lanes);
    run.addr += n / m->lanes * width;
    run.step_bytes = run.access_bytes = sizeof(float);
    if (n % m->lanes)
        sim_emit(m->sink, &run, 1, n % m->lanes);
}

static void emit_model(const struct op_call *call, const struct op_emission *e, struct sim_sink *sink)
{
    struct emitting m;
    size_t most = 0, n_pieces;

    begin(&m, call, e, sink);
    for (size_t i = 0; i < m.n_tensors; i++)
        most = max_size(most, m.tensor[i].bytes);
    n_pieces = ceil_div(most, PIECE_BYTES);
    for (size_t p = 0; p < n_pieces; p++) {
        for (size_t i = 0; i < m.n_tensors; i++)
            emit_piece(&m, &m.tensor[i], p, n_pieces);
    }
}

void op_emit(const struct op_call *call, const struct op_emission *e, enum op_emitted what, struct sim_sink *sink)
{
    assert(call->ask.n_threads == 1);
    if (what == OP_EMITTED_MODEL)
        emit_model(call, e, sink);
    else if (call->op->emit)
        call->op->emit(call, &e->at, sink);
    else
        emit_code(call, e, sink);
}

/* ---- code or model ---- */

/* Adds up the bytes read and written of each tensor. */
struct counting {
    struct sim_sink sink;
    const struct emitting *m;
    uint64_t bytes[MOST_TENSORS]; /* loaded of an input, stored to an output */
};

static void count(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct counting *c = (struct counting *)self;

    for (size_t r = 0; r < n_runs; r++) {
        for (size_t i = 0; i < c->m->n_tensors; i++) {
            const struct tensor *t = &c->m->tensor[i];

            if (run[r].addr - t->addr < t->bytes && t->is_out == (run[r].kind == SIM_STORE))
                c->bytes[i] += (uint64_t)run[r].count * run[r].access_bytes * n_times;
        }
    }
}

enum op_emitted op_emitted_of(const struct op_call *call, const struct op_emission *e)
{
    struct emitting m;
    struct counting c = { .sink = { count }, .m = &m };

    begin(&m, call, e, &c.sink);
    op_emit(call, e, OP_EMITTED_CODE, &c.sink);
    for (size_t i = 0; i < m.n_tensors; i++) {
        const struct tensor *t = &m.tensor[i];

        if (t->is_out ? c.bytes[i] < t->bytes : t->bytes && !t->is_constant && !c.bytes[i])
            return OP_EMITTED_MODEL;
    }
    return OP_EMITTED_CODE;
}
