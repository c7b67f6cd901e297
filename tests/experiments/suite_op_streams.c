/*
 * The emitted accesses of the loops of a network's operators (operators/emitting.h) equal the accesses of the compiled
 * code: the loops' source, compiled with the compiler's access instrumentation (tests/kernels/logged_hooks.h). The
 * emitted elements of each tensor are read, and written, in the order of the compiled code.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/error.h"
#include "experiments/network/operators/emitting.h"
#include "sim/cpu.h"
#include "tests/kernels/logged_hooks.h"
#include "tests/rng.h"
#include "tests/suites.h"

extern const struct op_loops logged_op_loops__ref;
#ifdef __x86_64__
extern const struct op_loops logged_op_loops__avx2, logged_op_loops__avx512;
#endif

static const struct {
    const struct op_loops *loops;
    enum cpu_isa isa;
    unsigned lanes;
} sets[] = {
    { &logged_op_loops__ref, CPU_ISA_NONE, 4 },
#ifdef __x86_64__
    { &logged_op_loops__avx2, CPU_ISA_AVX2, 8 },
    { &logged_op_loops__avx512, CPU_ISA_AVX512, 16 },
#endif
};

enum { N_BUFFERS = 3, FLOATS = 1 << 14, MISALIGNED = 16, WATCHED = FLOATS - MISALIGNED, MOST_TOUCHES = 1 << 18 };

/* How alike two streams must be. For rows side by side in one buffer, the compiler chooses the order of reading. */
enum likeness { SAME_ORDER, SAME_COUNTS, SAME_ELEMENTS };

/* A call of a loop, and the loop's operands. */
struct call {
    void (*loop)(struct call *c, const struct op_loops *l);
    const char *name;
    float *x[N_BUFFERS]; /* WATCHED each: out, in, another in */
    size_t n, rows, stride, taps, which;
    enum likeness like;
};

/* Touched elements of a buffer, in order, by loads or stores. */
struct touched {
    uint32_t *element;
    size_t n;
};

struct touches {
    struct sim_sink sink;
    const struct call *c;
    struct touched of[N_BUFFERS][2];
};

static void add(struct touches *t, uint64_t addr, size_t bytes, enum sim_kind kind)
{
    for (size_t b = 0; b < N_BUFFERS; b++) {
        const uint64_t at = addr - (uintptr_t)t->c->x[b];
        struct touched *to = &t->of[b][kind == SIM_STORE];

        for (size_t i = 0; at < WATCHED * sizeof(float) && i < bytes / sizeof(float) && to->n < MOST_TOUCHES; i++)
            to->element[to->n++] = (uint32_t)(at / sizeof(float) + i);
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t r = 0; r < n_runs; r++) {
            for (uint32_t i = 0; i < run[r].count; i++)
                add((struct touches *)self,
                    run[r].addr + t * (uint64_t)run[r].step_bytes + i * (uint64_t)run[r].stride_bytes,
                    run[r].access_bytes, (enum sim_kind)run[r].kind);
        }
    }
}

static void open_touches(struct touches *t, const struct call *c)
{
    *t = (struct touches){ .sink = { accept }, .c = c };
    for (size_t i = 0; i < N_BUFFERS * 2; i++)
        t->of[i / 2][i % 2].element = exp_new(MOST_TOUCHES, sizeof(uint32_t));
}

static void close_touches(struct touches *t)
{
    for (size_t i = 0; i < N_BUFFERS * 2; i++)
        free(t->of[i / 2][i % 2].element);
}

static void run_loop(void *ctx, const struct op_loops *l)
{
    struct call *c = ctx;

    c->loop(c, l);
}

static void watch(struct call *c, const struct op_loops *l, struct touches *t)
{
    const struct sim_access *access;
    struct logged_buffer buffer[N_BUFFERS];
    size_t n;

    for (size_t b = 0; b < N_BUFFERS; b++)
        buffer[b] = (struct logged_buffer){ (uintptr_t)c->x[b], WATCHED * sizeof(float) };
    logged_start(buffer, N_BUFFERS);
    c->loop(c, l);
    n = logged_stop(&access);
    for (size_t i = 0; i < n; i++)
        add(t, access[i].addr, access[i].bytes, (enum sim_kind)access[i].kind);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Sorts the elements; without keeps_counts, leaves each element once. */
static void forget_order(struct touched *t, bool keeps_counts)
{
    size_t n = 0;

    qsort(t->element, t->n, sizeof *t->element, by_number);
    for (size_t i = 0; i < t->n; i++) {
        if (keeps_counts || !n || t->element[n - 1] != t->element[i])
            t->element[n++] = t->element[i];
    }
    t->n = n;
}

static void compare(const struct call *c, struct touches *said, struct touches *seen, unsigned lanes)
{
    static const char *const buffers[] = { "out", "in", "other" }, *const kinds[] = { "loads", "stores" };

    for (size_t i = 0; i < N_BUFFERS * 2; i++) {
        struct touched *a = &said->of[i / 2][i % 2], *b = &seen->of[i / 2][i % 2];
        size_t first = 0;

        if (c->like != SAME_ORDER) {
            forget_order(a, c->like == SAME_COUNTS);
            forget_order(b, c->like == SAME_COUNTS);
        }
        while (first < a->n && first < b->n && a->element[first] == b->element[first])
            first++;
        test_check(
            a->n == b->n && first == a->n,
            "%s of %zu, %zu rows, stride %zu, %zu taps, %u lanes: %s of %s: said %zu, seen %zu, from the %zu. on",
            c->name, c->n, c->rows, c->stride, c->taps, lanes, kinds[i % 2], buffers[i / 2], a->n, b->n, first);
    }
}

static void check_call(struct call *c)
{
    for (size_t s = 0; s < COUNT(sets); s++) {
        struct touches said, seen;

        if (sets[s].isa != CPU_ISA_NONE && !sim_cpu_has(sets[s].isa))
            continue;
        open_touches(&said, c);
        open_touches(&seen, c);
        op_emit_loops(run_loop, c, sets[s].lanes, &said.sink);
        watch(c, sets[s].loops, &seen);
        compare(c, &said, &seen, sets[s].lanes);
        close_touches(&said);
        close_touches(&seen);
    }
}

/* ---- the loops ---- */

/* Copies are the C library's, compiled without instrumentation. */
static void map(struct call *c, const struct op_loops *l)
{
    const float p[2] = { 0.5F, 2 };

    l->map[1 + c->which % (OP_N_MAPS - 1)](c->x[0], c->x[1], c->n, p);
}

static void pair(struct call *c, const struct op_loops *l)
{
    l->pair[c->which % OP_N_PAIRS][c->which / OP_N_PAIRS % OP_N_ENDS](c->x[0], c->x[1], c->x[2], c->n);
}

static volatile float unused;

static void fold(struct call *c, const struct op_loops *l)
{
    unused = l->fold[c->which % OP_N_FOLDS](c->x[1], c->n + 1);
}

static void fold_rows(struct call *c, const struct op_loops *l)
{
    l->fold_rows[c->which % OP_N_FOLDS](c->x[0], c->x[1], c->n);
}

static void has_nan(struct call *c, const struct op_loops *l)
{
    unused = l->has_nan(c->x[1], c->n);
}

/* The C library copies a single row. */
static void pool_row(struct call *c, const struct op_loops *l)
{
    const float *row[8];
    const struct op_pool_row r = { .row = row,
                                   .n_rows = 2 + c->rows % 6,
                                   .columns = c->n,
                                   .before = c->which % 3,
                                   .n = c->n / (1 + c->stride),
                                   .across = { 1 + c->taps, 1 + c->stride, 1 + c->which / 2 % 2 },
                                   .aside = c->x[2],
                                   .scale = c->which % 5 ? 0.5F : 1,
                                   .by_column = c->which % 7 ? c->x[2] + 8000 : NULL };

    for (size_t i = 0; i < 8; i++)
        row[i] = c->x[1] + i * 1000;
    (c->which % 2 ? l->max_row : l->sum_row)(c->x[0], &r);
}

static void pool_plane(struct call *c, const struct op_loops *l)
{
    const size_t rows = 1 + c->rows % 20, columns = 1 + c->n % 50, taps = 1 + c->taps % 3;
    const struct op_pool_plane p = { .rows = rows,
                                     .columns = columns,
                                     .out_rows = 1 + rows / (1 + c->stride),
                                     .out_columns = 1 + columns / (1 + c->which % 2),
                                     .row_taps = 1 + c->which / 2 % 3,
                                     .row_stride = 1 + c->stride,
                                     .rows_before = c->which % 3,
                                     .across = { taps, 1 + c->which % 2, 1 },
                                     .before = c->which % 2,
                                     .by_row = c->which % 5 ? c->x[2] : NULL,
                                     .by_column = c->which % 7 ? c->x[2] + 8000 : NULL };

    if (l->max_plane)
        (c->which % 2 ? l->max_plane : l->sum_plane)(c->x[0], c->x[1], &p);
}

static void lrn(struct call *c, const struct op_loops *l)
{
    static const float betas[] = { 0.75F, 0.5F, 0.6F };
    const struct op_lrn how = { .channels = 1 + c->rows % 8,
                                .plane = 1500,
                                .size = 1 + c->taps % 6,
                                .alpha = 1e-4F,
                                .beta = betas[c->which % 2],
                                .bias = 1 };

    l->lrn(c->x[0], c->x[1], c->n, &how);
}

static void exp_sum(struct call *c, const struct op_loops *l)
{
    unused = l->exp_sum(c->x[0], c->x[1], c->n + 1, 0.5F);
}

static void dot(struct call *c, const struct op_loops *l)
{
    unused = l->dot(c->x[1], c->x[2], c->n);
}

static void add_rows(struct call *c, const struct op_loops *l)
{
    const struct op_rows r = { c->x[2], c->x[1], c->rows % 12, 1 + c->stride, 1000 };

    l->add_rows(c->x[0], c->n, &r);
}

static void tile(struct call *c, const struct op_loops *l)
{
    const struct op_tile t = { .m = 1 + c->rows % l->tile_rows,
                               .k = c->n % 100,
                               .a = c->x[1],
                               .panel = c->x[2],
                               .row_a = c->which % 2 ? 1 : 100,
                               .step_a = c->which % 2 ? l->tile_rows : 1,
                               .out = c->x[0],
                               .row_out = 200 };

    l->tile(&t);
}

static const struct {
    void (*loop)(struct call *c, const struct op_loops *l);
    const char *name;
    enum likeness like; /* vectors of strided elements are loaded in whatever pieces */
} loops[] = {
    { map, "map", SAME_ORDER },
    { pair, "pair", SAME_ORDER },
    { fold, "fold", SAME_ORDER },
    { fold_rows, "fold_rows", SAME_ORDER },
    { has_nan, "has_nan", SAME_ORDER },
    { pool_row, "pool_row", SAME_ELEMENTS },
    { pool_plane, "pool_plane", SAME_ORDER },
    { lrn, "lrn", SAME_ORDER },
    { exp_sum, "exp_sum", SAME_ORDER },
    { dot, "dot", SAME_ORDER },
    { add_rows, "add_rows", SAME_COUNTS },
    { tile, "tile", SAME_COUNTS },
};

static void test_loops(void)
{
    float *memory = exp_new(N_BUFFERS * FLOATS, sizeof *memory);

    for (unsigned round = 0; round < test_rounds_all(10); round++) {
        for (size_t i = 0; i < COUNT(loops); i++) {
            struct call c = { .loop = loops[i].loop,
                              .name = loops[i].name,
                              .n = rng_below(300),
                              .rows = rng_below(100),
                              .stride = rng_below(3),
                              .taps = rng_below(5),
                              .which = rng_below(1000),
                              .like = loops[i].like };

            for (size_t b = 0; b < N_BUFFERS; b++)
                c.x[b] = memory + b * FLOATS + rng_below(MISALIGNED);
            check_call(&c);
        }
    }
    free(memory);
}

static const struct test_case cases[] = {
    { "loops touch what they say, element by element", test_loops },
    { NULL, NULL },
};

const struct test_suite suite_op_streams = { "op_streams", cases };
