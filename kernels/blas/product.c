#include "kernels/blas/product.h"

#include <assert.h>

#include "kernels/shape/sizes.h"

enum { LANES = 16, LINE = LANES * sizeof(float), COPY_STEPS = 8, MOST_COPIED = 8, LEAST_COPIED_STEPS = 32 };

/* Operations, counted in the listing of Debian's 0.3.21; a comparison and the branch behind the comparison are one. */
enum {
    OPERATIONS_OF_CALL = 170, /* cblas_sgemm and the kernel, outside of loops */
    OPERATIONS_OF_BLOCK = 30, /* around a loop */
    OPERATIONS_OF_RESULT = 2, /* scale and store a vector */
    OPERATIONS_OF_SUM = 8,    /* add up a vector's lanes, scale and store */
    OPERATIONS_OF_COPY = 48,  /* eight steps of up to eight windows */
    OPERATIONS_OF_ALLOCATION = 150,
};

/* A loop: vectors of windows, or windows of dot products; filters; operations of a pass. */
struct loop {
    uint8_t windows, filters, operations;
};

/* A block of windows: the width, and the loops in the order of the filters. */
struct block {
    size_t n_win;
    struct loop loop[3];
};

static const struct block blocks[] = {
    { 64, { { 4, 4, 27 }, { 4, 2, 17 }, { 4, 1, 8 } } },
    { 32, { { 2, 6, 23 }, { 2, 2, 11 }, { 2, 1, 6 } } },
    { 16, { { 1, 6, 10 }, { 1, 2, 6 }, { 1, 1, 5 } } },
    { 1, { { 1, 6, 10 }, { 1, 2, 6 }, { 1, 1, 5 } } }, /* all further windows, under a mask */
};

static const struct block dots[] = {
    { 4, { { 4, 4, 26 }, { 4, 2, 16 }, { 4, 1, 7 } } },
    { 2, { { 2, 4, 16 }, { 2, 2, 10 }, { 2, 1, 5 } } },
    { 1, { { 1, 4, 7 }, { 1, 2, 5 }, { 1, 1, 4 } } },
};

/* A loop at a place: n_win windows from win0 on, the first copy of the windows, and the loop's filters from f0 on. */
struct place {
    const struct loop *loop;
    size_t win0, n_win, f0, copy0;
    bool is_dot;
};

typedef void (*visit_fn)(const struct conv_product_args *a, const struct place *p, void *ctx);

static void visit_filters(const struct conv_product_args *a, const struct block *b, struct place p, visit_fn visit,
                          void *ctx)
{
    p.f0 = 0;
    for (size_t i = 0; i < 3; i++) {
        p.loop = &b->loop[i];
        for (; p.f0 + p.loop->filters <= a->n_f; p.f0 += p.loop->filters)
            visit(a, &p, ctx);
    }
}

/* Visits the loops in the kernel's order. */
static void visit_all(const struct conv_product_args *a, visit_fn visit, void *ctx)
{
    const size_t copied = conv_product_copied(a->n_win, a->n_k) / a->n_k;
    struct place p = { .n_win = 0 };

    for (size_t i = 0; i < 4; i++) {
        for (; a->n_win - copied - p.win0 >= blocks[i].n_win; p.win0 += p.n_win) {
            p.n_win = i < 3 ? blocks[i].n_win : a->n_win - p.win0;
            visit_filters(a, &blocks[i], p, visit, ctx);
        }
    }
    p.is_dot = true;
    for (size_t i = 0; i < 3; i++) {
        for (; a->n_win - p.win0 >= dots[i].n_win; p.win0 += p.n_win, p.copy0 += p.n_win) {
            p.n_win = dots[i].n_win;
            visit_filters(a, &dots[i], p, visit, ctx);
        }
    }
}

size_t conv_product_copied(size_t n_win, size_t n_k)
{
    const size_t left = n_win % LANES;

    return left <= MOST_COPIED && n_k >= LEAST_COPIED_STEPS ? left * n_k : 0;
}

/* ---- accesses ---- */

static struct sim_run run_of(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t bytes)
{
    return (struct sim_run){ .addr = addr,
                             .count = 1,
                             .access_bytes = (uint32_t)bytes,
                             .kind = (uint8_t)kind,
                             .tag = (uint8_t)tag,
                             .phase = CONV_PHASE_UKR };
}

static void emit_windows(const struct conv_product_args *a, const struct place *p, struct sim_sink *sink)
{
    const size_t ld = a->n_win * sizeof(float), bytes = min_size(p->n_win, LANES) * sizeof(float);
    struct sim_run run[] = {
        run_of(SIM_LOAD, a->tag, a->matrix + p->win0 * sizeof(float), bytes),
        run_of(SIM_LOAD, CONV_FILTER, a->filter + p->f0 * a->n_k * sizeof(float), sizeof(float)),
    };
    struct sim_run store = run_of(SIM_STORE, CONV_OUTPUT, a->out + p->f0 * ld + p->win0 * sizeof(float), bytes);

    run[0].count = store.count = p->loop->windows;
    run[0].stride_bytes = store.stride_bytes = LINE;
    run[0].step_bytes = store.step_bytes = (int64_t)ld;
    run[1].count = p->loop->filters;
    run[1].stride_bytes = (int64_t)(a->n_k * sizeof(float));
    run[1].step_bytes = sizeof(float);
    sim_emit(sink, run, 2, a->n_k);
    sim_emit(sink, &store, 1, p->loop->filters);
}

/* Sums of four windows are stored as a vector; of four filters, by a scatter; all further sums, one by one. */
static void emit_sums(const struct conv_product_args *a, const struct place *p, struct sim_sink *sink)
{
    const size_t ld = a->n_win * sizeof(float);
    const bool is_vector = p->loop->windows == 4;
    struct sim_run store = run_of(SIM_STORE, CONV_OUTPUT, a->out + p->f0 * ld + p->win0 * sizeof(float),
                                  is_vector ? 4 * sizeof(float) : sizeof(float));

    store.count = p->loop->filters;
    store.stride_bytes = (int64_t)ld;
    store.step_bytes = sizeof(float);
    sim_emit(sink, &store, 1, is_vector ? 1 : p->loop->windows);
}

static void emit_dots(const struct conv_product_args *a, const struct place *p, struct sim_sink *sink)
{
    const size_t row = a->n_k * sizeof(float), whole = a->n_k / LANES, left = row - whole * LINE;
    struct sim_run run[] = {
        run_of(SIM_LOAD, CONV_PACKED_INPUT, a->copies + p->copy0 * row, LINE),
        run_of(SIM_LOAD, CONV_FILTER, a->filter + p->f0 * row, LINE),
    };

    run[0].count = p->loop->windows;
    run[1].count = p->loop->filters;
    run[0].stride_bytes = run[1].stride_bytes = (int64_t)row;
    run[0].step_bytes = run[1].step_bytes = LINE;
    sim_emit(sink, run, 2, whole);
    for (size_t i = 0; i < 2 && left; i++) {
        run[i].addr += whole * LINE;
        run[i].access_bytes = (uint32_t)left;
    }
    if (left)
        sim_emit(sink, run, 2, 1);
    emit_sums(a, p, sink);
}

static void emit_place(const struct conv_product_args *a, const struct place *p, void *sink)
{
    (p->is_dot ? emit_dots : emit_windows)(a, p, sink);
}

/* Copies the last windows: eight steps at a time are transposed; further steps go element by element. */
static void emit_copies(const struct conv_product_args *a, size_t n_win, struct sim_sink *sink)
{
    const size_t ld = a->n_win * sizeof(float), row = a->n_k * sizeof(float), whole = a->n_k / COPY_STEPS;
    const uint64_t from = a->matrix + (a->n_win - n_win) * sizeof(float), last = a->copies + (n_win - 1) * row;
    struct sim_run run[] = {
        run_of(SIM_LOAD, a->tag, from, n_win * sizeof(float)),
        run_of(SIM_STORE, CONV_PACKED_INPUT, last, COPY_STEPS * sizeof(float)),
    };

    run[0].count = COPY_STEPS;
    run[0].stride_bytes = (int64_t)ld;
    run[0].step_bytes = COPY_STEPS * (int64_t)ld;
    run[1].count = (uint32_t)n_win;
    run[1].stride_bytes = -(int64_t)row;
    run[1].step_bytes = COPY_STEPS * sizeof(float);
    sim_emit(sink, run, 2, whole);
    for (size_t k = whole * COPY_STEPS; k < a->n_k; k++) {
        run[0] = run_of(SIM_LOAD, a->tag, from + k * ld, sizeof(float));
        run[1] = run_of(SIM_STORE, CONV_PACKED_INPUT, a->copies + k * sizeof(float), sizeof(float));
        run[0].step_bytes = sizeof(float);
        run[1].step_bytes = (int64_t)row;
        sim_emit(sink, run, 2, n_win);
    }
}

void conv_product_emit(const struct conv_product_args *a, struct sim_sink *sink)
{
    const size_t copied = conv_product_copied(a->n_win, a->n_k) / a->n_k;

    assert(a->n_win && a->n_f && a->n_k);
    if (copied)
        emit_copies(a, copied, sink);
    visit_all(a, emit_place, sink);
}

/* ---- work ---- */

static void add_work(const struct conv_product_args *a, const struct place *p, void *work)
{
    struct sim_work *w = work;
    const double passes = (double)(p->is_dot ? ceil_div(a->n_k, LANES) : a->n_k);
    const double sums = p->loop->windows * p->loop->filters;

    w->operations += passes * p->loop->operations;
    w->macs += passes * sums;
    w->chained_macs += passes;
    w->loops++;
    w->serial_operations += OPERATIONS_OF_BLOCK + sums * (p->is_dot ? OPERATIONS_OF_SUM : OPERATIONS_OF_RESULT);
}

struct sim_work conv_product_work(const struct conv_product_args *a)
{
    const size_t copied = conv_product_copied(a->n_win, a->n_k);
    struct sim_work w = { .serial_operations = OPERATIONS_OF_CALL };

    visit_all(a, add_work, &w);
    if (copied) {
        w.operations += (double)ceil_div(a->n_k, COPY_STEPS) * OPERATIONS_OF_COPY;
        w.serial_operations += OPERATIONS_OF_ALLOCATION;
    }
    return w;
}
