/* Compares the accesses that each routine emits with the accesses of the compiled code (see logged_hooks.h). */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/backend/fused.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/direct.h"
#include "kernels/ukr/direct_forms.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/small.h"
#include "kernels/ukr/winograd.h"
#include "tests/kernels/emission.h"
#include "tests/kernels/kcheck.h"
#include "tests/kernels/logged_hooks.h"
#include "tests/rng.h"
#include "tests/suites.h"

/*
 * The instrumented twins: the twins of the tables, compiled once more with the kernels (listed by
 * kernels/ukr/registry.h), and the twins of routines that are called by name.
 */
#define TWIN(name) __typeof__(name) logged_##name
TWIN(conv_ukr_count);
TWIN(conv_ukr_at);
TWIN(conv_direct_count);
TWIN(conv_direct_at);
TWIN(conv_winograd_count);
TWIN(conv_winograd_at);
TWIN(conv_winograd_filters);
TWIN(conv_small_count);
TWIN(conv_small_at);
TWIN(conv_pack_windows_count);
TWIN(conv_pack_windows_at);
TWIN(conv_pack_matrix);
TWIN(conv_pack_filters);
TWIN(conv_im2col);
TWIN(conv_epilogue_count);
TWIN(conv_epilogue_at);

enum { MOST_TENSORS = 5 };

/* Tensors of a case: their memory, and their places, to be watched. */
struct tensors {
    size_t n;
    struct kbuffer memory[MOST_TENSORS];
    struct logged_buffer at[MOST_TENSORS];
};

static struct tensors open_tensors(size_t n, const size_t *floats)
{
    struct tensors t = { .n = n };

    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_FATAL(kbuffer_init(&t.memory[i], floats[i]) == 0);
        t.at[i] = (struct logged_buffer){ (uintptr_t)t.memory[i].data, floats[i] * sizeof(float) };
    }
    return t;
}

static void close_tensors(struct tensors *t)
{
    for (size_t i = 0; i < t->n; i++)
        kbuffer_release(&t->memory[i]);
}

/* A kernel and arguments: run_<name> runs the compiled code, emit_<name> emits the accesses. */
#define RECORD(name, record)                                                                                           \
    struct name##_case {                                                                                               \
        const struct record *of;                                                                                       \
        struct record##_args a;                                                                                        \
    };                                                                                                                 \
                                                                                                                       \
    static void run_##name(void *args)                                                                                 \
    {                                                                                                                  \
        struct name##_case *c = args;                                                                                  \
                                                                                                                       \
        c->of->fn(c->of, &c->a);                                                                                       \
    }                                                                                                                  \
                                                                                                                       \
    static void emit_##name(void *args, struct sim_sink *sink)                                                         \
    {                                                                                                                  \
        struct name##_case *c = args;                                                                                  \
                                                                                                                       \
        c->of->emit(c->of, &c->a, sink);                                                                               \
    }

/* A function of arguments. */
#define FUNCTION(name)                                                                                                 \
    static void run_##name(void *args)                                                                                 \
    {                                                                                                                  \
        logged_conv_##name(args);                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    static void emit_##name(void *args, struct sim_sink *sink)                                                         \
    {                                                                                                                  \
        conv_##name##_emit(args, sink);                                                                                \
    }

RECORD(small, conv_small)
RECORD(direct, conv_direct)
RECORD(windows, conv_pack_windows)
FUNCTION(im2col)
FUNCTION(pack_matrix)
FUNCTION(pack_filters)

struct ukr_case {
    const struct conv_ukr *u;
    struct conv_ukr_args a;
};

static void run_ukr(void *args)
{
    struct ukr_case *c = args;
    struct conv_ahead_lists ahead;
    struct conv_ukr_args a = c->a;

    if (a.ahead)
        ahead = *a.ahead; /* moves on */
    a.ahead = a.ahead ? &ahead : NULL;
    c->u->fn(c->u, &a);
}

/* Tile by tile. */
static void emit_ukr(void *args, struct sim_sink *sink)
{
    struct ukr_case *c = args;

    for (size_t n = max_size(c->a.n_tiles, 1); n; n--, conv_ukr_next_tile(&c->a))
        c->u->emit(c->u, &c->a, sink);
}

enum { MAX_TILES = 3, MOST_MOVED = 8 };

/* Several tiles in a call: windows by an element or none, filters and outputs side by side. */
static void random_tiles(struct ukr_case *c)
{
    c->a.n_tiles = 1 + rng_below(c->u->chains ? MAX_TILES : 1);
    c->a.in_tile = c->a.ld_in ? (int64_t)(rng_below(2) * sizeof(float)) : 0;
    c->a.filter_tile = (int64_t)(c->a.k * c->a.n_f * sizeof(float));
    c->a.out_tile = (int64_t)(c->a.n_f * c->a.ld_out * sizeof(float));
}

/* Lists of random lengths, some empty, into the three tensors. */
static void random_ahead(const struct ukr_case *c, const struct logged_buffer *watched, struct conv_ahead_lists *ahead)
{
    ahead->n = CONV_N_AHEAD;
    for (size_t l = 0; l < CONV_N_AHEAD; l++) {
        const struct logged_buffer *b = &watched[rng_below(3)];
        size_t moved = b->bytes > MAX_TILES * MOST_MOVED ? rng_below(MOST_MOVED) : 0,
               room = b->bytes - MAX_TILES * moved;
        size_t first = rng_below(room), step = 1 + rng_below(70);
        size_t n = rng_below(c->a.k + 1), n_inside = (room - 1 - first) / step + 1; /* outside: not recorded */

        n = n < n_inside ? n : n_inside;
        ahead->list[l] = (struct conv_ahead){
            .addr = b->addr + first,
            .step_bytes = (int64_t)step,
            .tile_bytes = (int64_t)moved,
            .n = n,
            .tag = CONV_OUTPUT,
        };
    }
    conv_ahead_share(ahead, c->a.k);
}

/* Packed windows, or rows of an input that ends with the last row's end. */
static void check_ukr(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    struct ukr_case c = {
        .u = u,
        .a = { .k = (size_t)rng_range(1, 30),
               .n_win = n_win,
               .n_f = n_f,
               .ld_in = u->reads_in_place && rng_below(2) ? n_win + rng_below(20) : 0,
               .ld_out = n_win + 3,
               .accumulate = rng_below(2) },
    };
    size_t n_in = c.a.ld_in ? (c.a.k - 1) * c.a.ld_in + n_win : c.a.k * conv_ukr_in_width(u, n_win);
    size_t n[3] = { 0, c.a.k * n_f, n_f * c.a.ld_out };
    struct conv_ahead_lists ahead;
    struct tensors t;

    if (u->win_panel && !c.a.ld_in && rng_below(2)) {
        c.a.in_step = (c.a.k + rng_below(4)) * u->win_panel;
        n_in = (conv_ukr_in_width(u, n_win) / u->win_panel - 1) * c.a.in_step + c.a.k * u->win_panel;
    }
    random_tiles(&c);
    n[0] = n_in + c.a.n_tiles;
    n[1] *= c.a.n_tiles;
    n[2] *= c.a.n_tiles;
    t = open_tensors(3, n);
    c.a.in = t.at[0].addr;
    c.a.filter = t.at[1].addr;
    c.a.out = t.at[2].addr;
    random_ahead(&c, t.at, &ahead);
    if (u->prefetches && rng_below(2))
        c.a.ahead = &ahead;
    check_emission(u->name, run_ukr, emit_ukr, &c, t.at, t.n);
    close_tensors(&t);
}

/*
 * The windows of a random convolution, read tap by tap: n_win windows in rows, dead windows among them. Taps reach from
 * the element of a window to the element of the next, so that live elements just fit into a plane.
 */
static void random_taps(const struct conv_ukr *u, size_t n_win, struct conv_taps *t, size_t *n_in)
{
    bool is_same = u->walk == CONV_WALK_SAME;
    size_t n_columns = is_same        ? n_win
                       : rng_below(3) ? n_win / (1 + rng_below(2))
                                      : (size_t)rng_range(1, (int64_t)n_win);
    size_t stride = is_same ? 1 : (size_t)rng_range(1, 3);
    size_t width, height;

    n_columns = n_columns ? n_columns : 1;
    width = (n_columns - 1) * stride + 1 + CONV_MAX_TAPS;
    height = ceil_div(n_win, n_columns) + CONV_MAX_TAPS;
    *t = (struct conv_taps){ .n_c = (size_t)rng_range(1, 4),
                             .row_windows = n_columns,
                             .apart_bytes = (int64_t)(stride * sizeof(float)) };
    t->r = (size_t)rng_range(1, rng_below(4) ? 4 : CONV_MAX_TAPS);
    t->s = (size_t)rng_range(1, rng_below(4) ? 4 : CONV_MAX_TAPS);
    t->channel_bytes = (int64_t)(width * height * sizeof(float));
    t->row_bytes = (int64_t)(width * sizeof(float));
    t->column_bytes = (int64_t)sizeof(float);
    for (size_t i = 0; i < n_win; i++)
        t->window_bytes[i] = (int64_t)((i / n_columns * width + i % n_columns * stride) * sizeof(float));
    for (size_t i = 0; i < CONV_MAX_TAPS; i++) {
        t->row_live[i] = rng_below(3) ? (1u << n_win) - 1 : (uint32_t)rng_below((uint64_t)1 << n_win);
        t->column_live[i] = rng_below(3) ? (1u << n_win) - 1 : (uint32_t)rng_below((uint64_t)1 << n_win);
    }
    *n_in = t->n_c * width * height;
}

static void check_taps(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    struct ukr_case c = { .u = u, .a = { .n_win = n_win, .n_f = n_f, .ld_out = n_win + 3 } };
    struct conv_ahead_lists ahead;
    struct tensors t;
    struct conv_taps taps;
    size_t n[3];

    random_taps(u, n_win, &taps, &n[0]);
    c.a.taps = &taps;
    c.a.k = taps.n_c * taps.r * taps.s;
    c.a.accumulate = rng_below(2);
    n[1] = c.a.k * n_f;
    n[2] = n_f * c.a.ld_out;
    t = open_tensors(3, n);
    c.a.in = t.at[0].addr;
    c.a.filter = t.at[1].addr;
    c.a.out = t.at[2].addr;
    random_ahead(&c, t.at, &ahead);
    if (rng_below(2))
        c.a.ahead = &ahead;
    check_emission(u->name, run_ukr, emit_ukr, &c, t.at, t.n);
    close_tensors(&t);
}

/* Calls check for every size of tile, up to the full tile. */
static void for_every_edge(const struct conv_ukr *u, void (*check)(const struct conv_ukr *u, size_t n_win, size_t n_f))
{
    for (size_t n_win = 1; n_win <= u->n_win; n_win++)
        for (size_t n_f = 1; n_f <= u->n_f; n_f++)
            check(u, n_win, n_f);
}

static void walked_taps_are_touched_as_emitted(void)
{
    size_t n_walkers = 0;

    for (size_t i = 0; i < logged_conv_ukr_count(); i++) {
        const struct conv_ukr *u = logged_conv_ukr_at(i);

        if (!u->walk || !conv_ukr_runs(u))
            continue;
        n_walkers++;
        for_every_edge(u, check_taps);
    }
    if (!n_walkers)
        test_skip("no micro-kernel that walks taps runs here");
}

static void micro_kernels_touch_what_they_emit(void)
{
    for (size_t i = 0; i < logged_conv_ukr_count(); i++) {
        if (conv_ukr_runs(logged_conv_ukr_at(i)))
            for_every_edge(logged_conv_ukr_at(i), check_ukr);
    }
}

static void check_small(const struct conv_small *s)
{
    struct small_case c = { .of = s };
    struct conv_small_args *a = &c.a;
    struct tensors t;

    a->m = (size_t)rng_range(1, 9) * s->tile[s->n_tiles - 1].n_vectors * s->lanes;
    a->n = (size_t)rng_range(1, 60);
    a->k = (size_t)rng_range(1, 20);
    a->lda = a->m + rng_below(20);
    a->ldb = a->k + rng_below(20);
    a->ldc = a->m + rng_below(20);
    t = open_tensors(3, (const size_t[]){ a->k * a->lda, a->n * a->ldb, a->n * a->ldc });
    a->a = t.at[0].addr;
    a->b = t.at[1].addr;
    a->c = t.at[2].addr;
    check_emission(s->name, run_small, emit_small, &c, t.at, t.n);
    close_tensors(&t);
}

static void small_kernels_touch_what_they_emit(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        for (size_t i = 0; i < logged_conv_small_count(); i++) {
            if (conv_small_runs(logged_conv_small_at(i)))
                check_small(logged_conv_small_at(i));
        }
    }
}

struct winograd_case {
    const struct conv_winograd *w;
    struct conv_winograd_args a;
};

static void run_winograd_in(void *args)
{
    struct winograd_case *c = args;

    c->w->in(&c->a);
}

static void emit_winograd_in(void *args, struct sim_sink *sink)
{
    struct winograd_case *c = args;

    conv_winograd_in_emit(c->w, &c->a, sink);
}

static void run_winograd_out(void *args)
{
    struct winograd_case *c = args;

    c->w->out(&c->a);
}

static void emit_winograd_out(void *args, struct sim_sink *sink)
{
    struct winograd_case *c = args;

    conv_winograd_out_emit(c->w, &c->a, sink);
}

/* Random tiles of a random 3x3 shape; panels wider than the tiles. */
static void check_winograd(const struct conv_winograd *w, const struct conv_problem *p)
{
    const size_t columns = ceil_div(p->q, w->m), n_tiles = ceil_div(p->p, w->m) * columns;
    struct winograd_case in = { .w = w, .a = { .p = p, .tile_columns = columns, .tile0 = rng_below(n_tiles) } };
    struct winograd_case out;
    struct tensors t;

    in.a.n_tiles = (size_t)rng_range(1, (int64_t)min_size(n_tiles - in.a.tile0, 48));
    in.a.width = round_up(in.a.n_tiles, w->lanes) + rng_below(2) * w->lanes;
    in.a.n_planes = p->c;
    in.a.product_step = max_size(p->c, p->k) * in.a.width + rng_below(20);
    t = open_tensors(
        3, (const size_t[]){ p->c * p->h * p->w, conv_winograd_products(w) * in.a.product_step, p->k * p->p * p->q });
    in.a.panel = t.at[1].addr;
    out = in;
    in.a.planes = t.at[0].addr;
    out.a.planes = t.at[2].addr;
    out.a.n_planes = p->k;
    check_emission(w->name, run_winograd_in, emit_winograd_in, &in, t.at, t.n);
    check_emission(w->name, run_winograd_out, emit_winograd_out, &out, t.at, t.n);
    close_tensors(&t);
}

struct winograd_filter_case {
    size_t m;
    struct conv_winograd_filter_args a;
};

static void run_winograd_filters(void *args)
{
    struct winograd_filter_case *c = args;

    logged_conv_winograd_filters(c->m, &c->a);
}

static void emit_winograd_filters(void *args, struct sim_sink *sink)
{
    struct winograd_filter_case *c = args;

    conv_winograd_filters_emit(c->m, &c->a, sink);
}

static void check_winograd_filters(size_t m)
{
    struct winograd_filter_case c = {
        m, { .n_f = (size_t)rng_range(1, 30), .n_c = (size_t)rng_range(1, 9), .product_step = 0 }
    };
    struct tensors t;

    c.a.product_step = c.a.n_f * c.a.n_c + rng_below(9);
    t = open_tensors(2, (const size_t[]){ c.a.n_f * c.a.n_c * 9, c.a.product_step * (m + 2) * (m + 2) });
    c.a.filter = t.at[0].addr;
    c.a.panel = t.at[1].addr;
    check_emission("Winograd's filters", run_winograd_filters, emit_winograd_filters, &c, t.at, t.n);
    close_tensors(&t);
}

static void winograd_transforms_touch_what_they_emit(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        struct conv_problem p = kcheck_random_problem();
        char why[128];

        p.r = p.s = 3;
        p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.groups = 1;
        p.w += rng_below(2) * 70;
        if (conv_problem_finish(&p, SIM_WHY(why)))
            continue;
        check_winograd_filters(2 + round % 2 * 2);
        for (size_t i = 0; i < logged_conv_winograd_count(); i++) {
            if (conv_winograd_runs(logged_conv_winograd_at(i)))
                check_winograd(logged_conv_winograd_at(i), &p);
        }
    }
}

/* Some rows of all filters of an image; of kernels that take the batch, some filters of a group, of all images. */
static void check_direct(const struct conv_direct *d, const struct conv_problem *p)
{
    struct direct_case c = {
        .of = d,
        .a = { .p = p,
               .group_channels = conv_group_channels(p),
               .group_filters = conv_group_filters(p),
               .n_images = 1,
               .n_f = p->k,
               .row0 = rng_below(p->p) },
    };
    const size_t n[3] = { p->n * p->c * p->h * p->w, p->k * conv_reduction(p), p->n * p->k * conv_windows(p) };
    struct tensors t;

    if (d->form->takes_batch) {
        c.a.n_images = p->n;
        c.a.n_f = rng_below(2) ? p->k : (size_t)rng_range(1, (int64_t)conv_group_filters(p));
    }

    c.a.n_rows = (size_t)rng_range(1, (int64_t)(p->p - c.a.row0));
    t = open_tensors(3, n);
    c.a.in = t.at[0].addr;
    c.a.filter = t.at[1].addr;
    c.a.out = t.at[2].addr + c.a.row0 * p->q * sizeof(float);
    check_emission(d->name, run_direct, emit_direct, &c, t.at, t.n);
    close_tensors(&t);
}

static void direct_kernels_touch_what_they_emit(void)
{
    for (unsigned round = 0; round < test_rounds(150); round++) {
        for (size_t i = 0; i < logged_conv_direct_count(); i++) {
            const struct conv_direct *d = logged_conv_direct_at(i);
            struct conv_problem p = kcheck_random_direct(d);

            while (3 * conv_macs(&p) > LOGGED_MAX) /* filter values, windows and outputs are no more */
                p = kcheck_random_direct(d);
            if (conv_direct_runs(d))
                check_direct(d, &p);
        }
    }
}

static void check_windows(const struct conv_pack_windows *pack, const struct conv_problem *p, size_t width)
{
    struct windows_case c = { .of = pack,
                              .a = { .p = p, .n_c = p->c, .width = width, .live_win = kcheck_random_live(width) } };
    size_t n_in = p->c * p->h * p->w, n_panel;
    struct tensors t;

    c.a.win0 = rng_below(conv_windows(p));
    c.a.n_win = (size_t)rng_range(1, (int64_t)(conv_windows(p) - c.a.win0));
    c.a.panel_step = p->c * p->r * p->s * width;
    n_panel = (c.a.n_win + width - 1) / width * c.a.panel_step;
    t = open_tensors(2, (const size_t[]){ n_in, n_panel });
    c.a.in = t.at[0].addr;
    c.a.panel = t.at[1].addr;
    check_emission(pack->name, run_windows, emit_windows, &c, t.at, t.n);
    close_tensors(&t);
}

static void window_packing_touches_what_it_emits(void)
{
    for (unsigned round = 0; round < test_rounds(150); round++) {
        struct conv_problem p = round % 4 ? kcheck_random_problem() : kcheck_random_patches();

        for (size_t i = 0; i < logged_conv_pack_windows_count(); i++) {
            const struct conv_pack_windows *pack = logged_conv_pack_windows_at(i);
            size_t width = kcheck_random_width(pack);

            if (pack->fn && sim_cpu_has(pack->isa) && conv_pack_windows_suits(pack, &p, width))
                check_windows(pack, &p, width);
        }
    }
}

static void im2col_touches_what_it_emits(void)
{
    for (unsigned round = 0; round < test_rounds(100); round++) {
        struct conv_problem p = kcheck_random_problem();
        struct conv_im2col_args a = { .p = &p };
        size_t n_in = conv_group_channels(&p) * p.h * p.w, n_col = conv_reduction(&p) * conv_windows(&p);
        struct tensors t = open_tensors(2, (const size_t[]){ n_in, n_col });

        a.in = t.at[0].addr;
        a.col = t.at[1].addr;
        check_emission("im2col", run_im2col, emit_im2col, &a, t.at, t.n);
        close_tensors(&t);
    }
}

static void panel_packing_touches_what_it_emits(void)
{
    for (unsigned round = 0; round < test_rounds(150); round++) {
        size_t by_rows = rng_below(4), row = (size_t)rng_range(1, 4), n_c = (size_t)rng_range(1, 9);
        size_t n = (size_t)rng_range(1, 70), n_k = by_rows ? by_rows * row * n_c : row * n_c, ld = n > n_k ? n : n_k;
        const struct conv_ukr *u = conv_ukr_at(rng_below(conv_ukr_count()));
        struct conv_pack_matrix_args m = { .ukr = u, .tag = CONV_IM2COL, .ld = ld, .n_win = n, .n_k = n_k };
        struct conv_pack_filters_args f = { .ukr = u, .ld = ld, .n_f = n, .n_k = n_k, .by_rows = by_rows, .row = row };
        size_t n_in = ld * ld, n_out = (n + u->n_win) * n_k;
        struct tensors t = open_tensors(2, (const size_t[]){ n_in, n_out });

        m.matrix = f.filter = t.at[0].addr;
        m.panels = f.panels = t.at[1].addr;
        check_emission("pack_matrix", run_pack_matrix, emit_pack_matrix, &m, t.at, t.n);
        check_emission("pack_filters", run_pack_filters, emit_pack_filters, &f, t.at, t.n);
        close_tensors(&t);
    }
}

struct epilogue_call {
    const struct conv_epilogue_kernel *kernel;
    struct conv_epilogue_args args;
};

static void run_epilogue(void *ctx)
{
    const struct epilogue_call *c = ctx;

    c->kernel->fn(&c->args);
}

static void emit_epilogue(void *ctx, struct sim_sink *sink)
{
    const struct epilogue_call *c = ctx;

    conv_epilogue_emit(c->kernel, &c->args, sink);
}

/* Draws a tile and the terms of the epilogue. */
static struct conv_epilogue_args random_epilogue(void)
{
    struct conv_epilogue_args a = { .n_f = (size_t)rng_range(1, 25), .n_win = (size_t)rng_range(1, 49) };

    a.ld_out = a.n_win + rng_below(3);
    a.activation = (enum conv_activation)rng_below(CONV_N_ACTIVATIONS);
    return a;
}

static void check_epilogue(const struct conv_epilogue_kernel *k)
{
    struct epilogue_call call = { k, random_epilogue() };
    struct conv_epilogue_args *a = &call.args;
    uint64_t *const address[MOST_TENSORS] = { &a->out, &a->in, &a->scale, &a->bias, &a->residual };
    const size_t n_out = a->n_f * a->ld_out, elems[MOST_TENSORS] = { n_out, n_out, a->n_f, a->n_f, n_out };
    struct tensors t = open_tensors(MOST_TENSORS, elems);

    for (size_t i = 0; i < t.n; i++)
        *address[i] = !i || rng_below(2) ? t.at[i].addr : 0;
    check_emission("epilogue", run_epilogue, emit_epilogue, &call, t.at, t.n);
    close_tensors(&t);
}

static void epilogues_touch_what_they_emit(void)
{
    for (size_t i = 0; i < logged_conv_epilogue_count(); i++) {
        const struct conv_epilogue_kernel *k = logged_conv_epilogue_at(i);

        for (unsigned round = 0; k->fn && sim_cpu_has(k->isa) && round < test_rounds(100); round++)
            check_epilogue(k);
    }
}

static const struct test_case cases[] = {
    { "micro-kernels touch exactly what they emit, in order, for every edge", micro_kernels_touch_what_they_emit },
    { "direct kernels touch what they emit", direct_kernels_touch_what_they_emit },
    { "micro-kernels on blocks touch what they emit", small_kernels_touch_what_they_emit },
    { "Winograd's transforms touch what they emit", winograd_transforms_touch_what_they_emit },
    { "windows read tap by tap are touched exactly as emitted, dead ones left out",
      walked_taps_are_touched_as_emitted },
    { "window packing touches exactly what it emits, in order", window_packing_touches_what_it_emits },
    { "im2col touches exactly what it emits, in order", im2col_touches_what_it_emits },
    { "epilogues touch exactly what they emit, in order", epilogues_touch_what_they_emit },
    { "matrix and filter packing touch exactly what they emit, in order", panel_packing_touches_what_it_emits },
    { NULL, NULL },
};

const struct test_suite suite_emit = { "emit", cases };
