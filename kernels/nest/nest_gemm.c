/*
 * The baseline: im2col, then GEMM in GotoBLAS's order, with OpenBLAS's balancing (driver/level3/level3.c). In BLAS's
 * column-major terms A is the im2col matrix (M = windows), B the filters (N = filters):
 *
 *     filters in blocks of R
 *       reduction in blocks of Q
 *         first block of P windows: pack it; then, a few filters at a time: pack them, micro-kernels
 *         other blocks of P windows: pack, micro-kernels over all R filters
 *
 * Within a block, micro-kernels run over filters outside and windows inside. The output was cleared (beta = 0), so
 * every micro-kernel accumulates.
 */
#include <assert.h>

#include "kernels/blas/gemm_core.h"
#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/ukr.h"

struct span {
    size_t first, n;
};

struct gemm {
    const struct conv_plan *plan;
    struct conv_backend *backend;
    size_t n_windows, n_filters;
    struct conv_step base; /* image and group */
    struct span k;         /* the current reduction block */
};

/* The next block when `left` remain: a whole block, or the rest in two balanced halves, or the rest. */
static size_t block_extent(size_t left, size_t block, size_t unit)
{
    size_t half = round_up(left / 2, unit);

    if (left >= 2 * block)
        return block;
    return left > block && half < left ? half : left;
}

static size_t first_pass_extent(const struct conv_plan *plan, size_t left)
{
    if (left >= plan->gemm.first_pass_f)
        return plan->gemm.first_pass_f;
    return left > plan->ukr->f_panel ? plan->ukr->f_panel : left;
}

static int pack_windows(const struct gemm *g, struct span win)
{
    struct conv_step step = g->base;

    step.kind = CONV_STEP_PACK_MATRIX;
    step.win0 = win.first;
    step.n_win = win.n;
    step.k0 = g->k.first;
    step.n_k = g->k.n;
    return g->backend->step(g->backend, &step);
}

static int pack_filters(const struct gemm *g, struct span f, size_t f_panel)
{
    struct conv_step step = g->base;

    step.kind = CONV_STEP_PACK_FILTERS;
    step.f0 = f.first;
    step.n_f = f.n;
    step.k0 = g->k.first;
    step.n_k = g->k.n;
    step.f_panel = f_panel;
    return g->backend->step(g->backend, &step);
}

static size_t next_windows(const struct conv_ukr *u, size_t left)
{
    size_t n = conv_tile_extent(left, u->n_win, u->n_win, u->splits_edges);

    return u->takes_columns && n == u->n_win ? left / n * n : n;
}

/* All micro-kernels of a block of packed windows and packed filters; f_panel is where the block's filters start. */
static int macro_kernel(const struct gemm *g, struct span win, struct span f, size_t f_panel)
{
    const struct conv_ukr *u = g->plan->ukr;
    struct conv_step step = g->base;

    step.kind = CONV_STEP_UKR;
    step.k0 = g->k.first;
    step.n_k = g->k.n;
    step.accumulate = true;
    for (size_t j = 0; j < f.n; j += step.n_f) {
        step.f0 = f.first + j;
        step.n_f = conv_tile_extent(f.n - j, u->n_f, u->f_panel, u->splits_edges);
        step.f_panel = f_panel + j * g->k.n;
        for (size_t i = 0; i < win.n; i += step.n_win) {
            int err;

            step.win0 = win.first + i;
            step.n_win = next_windows(u, win.n - i);
            step.in_panel = i * g->k.n;
            err = g->backend->step(g->backend, &step);
            if (err)
                return err;
        }
    }
    return 0;
}

/* The first block of windows: filters are packed and used at once, while both are in the near caches. */
static int first_windows(const struct gemm *g, struct span win, struct span f)
{
    bool keeps_filters = win.n < g->n_windows; /* later blocks of windows need all filters */
    int err = pack_windows(g, win);

    for (size_t j = 0, n; j < f.n && !err; j += n) {
        struct span pass = { f.first + j, n = first_pass_extent(g->plan, f.n - j) };
        size_t f_panel = keeps_filters ? j * g->k.n : 0;

        err = pack_filters(g, pass, f_panel);
        if (!err)
            err = macro_kernel(g, win, pass, f_panel);
    }
    return err;
}

static int reduction_block(const struct gemm *g, struct span f)
{
    const struct conv_gemm_core *core = g->plan->gemm.core;
    struct span win = { 0, block_extent(g->n_windows, core->p, core->unroll_win) };
    int err = first_windows(g, win, f);

    for (win.first = win.n; win.first < g->n_windows && !err; win.first += win.n) {
        win.n = block_extent(g->n_windows - win.first, core->p, core->unroll_win);
        err = pack_windows(g, win);
        if (!err)
            err = macro_kernel(g, win, f, 0);
    }
    return err;
}

static int gemm(struct gemm *g)
{
    const struct conv_gemm_core *core = g->plan->gemm.core;
    size_t reduction = conv_reduction(&g->plan->problem);

    for (size_t f0 = 0; f0 < g->n_filters; f0 += core->r) {
        struct span f = { f0, g->n_filters - f0 < core->r ? g->n_filters - f0 : core->r };

        for (g->k.first = 0; g->k.first < reduction; g->k.first += g->k.n) {
            int err;

            g->k.n = block_extent(reduction - g->k.first, core->q, core->unroll_win);
            err = reduction_block(g, f);
            if (err)
                return err;
        }
    }
    return 0;
}

static int small_product(const struct gemm *g)
{
    struct conv_step step = g->base;

    step.kind = CONV_STEP_PRODUCT;
    step.n_win = g->n_windows;
    step.n_f = g->n_filters;
    step.n_k = conv_reduction(&g->plan->problem);
    return g->backend->step(g->backend, &step);
}

static int image_group(struct gemm *g)
{
    struct conv_step step = g->base;
    int err = 0;

    if (g->plan->gemm.needs_im2col) {
        step.kind = CONV_STEP_IM2COL;
        err = g->backend->step(g->backend, &step);
    }
    if (!err && g->plan->gemm.is_small)
        return small_product(g);
    if (!err) {
        step.kind = CONV_STEP_ZERO;
        step.n_win = g->n_windows;
        step.n_f = g->n_filters;
        err = g->backend->step(g->backend, &step);
    }
    return err ? err : gemm(g);
}

int conv_nest_gemm(const struct conv_plan *plan, struct conv_backend *backend)
{
    struct gemm g = {
        .plan = plan,
        .backend = backend,
        .n_windows = conv_windows(&plan->problem),
        .n_filters = conv_group_filters(&plan->problem),
    };

    assert(plan->algorithm == CONV_GEMM);
    for (g.base.image = 0; g.base.image < plan->problem.n; g.base.image++) {
        for (g.base.group = 0; g.base.group < plan->problem.groups; g.base.group++) {
            int err = image_group(&g);

            if (err)
                return err;
        }
    }
    return 0;
}
