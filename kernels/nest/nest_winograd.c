/*
 * Winograd's convolution, F(m x m, 3 x 3) (ukr/winograd.h), as a nest around SConv's micro-kernel:
 *
 *     images
 *       blocks of tiles
 *         tiles of the micro-kernel    transform the input: packing on demand, all channels of a panel's tiles
 *         products, e * e
 *           tiles of the micro-kernel    the windows' panel stays in L1
 *             tiles of filters             micro-kernel, all channels at once; a product's filters come from L2
 *         tiles of the micro-kernel    transform the products: the store, all filters
 *
 * Invariant: every (product, tile, filter, channel) point is in exactly one micro-kernel step; every output is stored
 * once, whole.
 */
#include <assert.h>

#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/ukr.h"
#include "kernels/ukr/winograd.h"

struct winograd {
    const struct conv_plan *plan;
    struct conv_backend *backend;
    size_t n_tiles, n_products; /* of an image; e * e */
    size_t image;
};

/* Tiles of the micro-kernel, and the places of the tiles' panels in a block. */
struct tiles {
    size_t first, n; /* tiles of the image */
    size_t in_panel, out_panel;
};

static struct tiles tiles_at(const struct winograd *w, size_t block, size_t tile)
{
    const struct conv_ukr *u = w->plan->ukr;
    const size_t number = (tile - block) / u->n_win, width = round_up(u->n_win, w->plan->winograd.kernel->lanes);

    return (struct tiles){
        .first = tile,
        .n = min_size(w->n_tiles - tile, u->n_win),
        .in_panel = number * conv_ukr_in_width(u, u->n_win) * w->plan->problem.c,
        .out_panel = number * width * w->plan->problem.k,
    };
}

static struct conv_step step_of(const struct winograd *w, enum conv_step_kind kind, const struct tiles *t)
{
    return (struct conv_step){
        .kind = kind,
        .image = w->image,
        .win0 = t->first,
        .n_win = t->n,
        .n_f = w->plan->problem.k,
        .n_k = w->plan->problem.c,
        .in_panel = t->in_panel,
        .out_panel = t->out_panel,
    };
}

/* A step for each panel. */
static int transform_input(const struct winograd *w, const struct tiles *t)
{
    const size_t panel = conv_ukr_win_panel(w->plan->ukr);
    struct conv_step step = step_of(w, CONV_STEP_WINOGRAD_IN, t);
    int err = 0;

    for (size_t done = 0; done < t->n && !err; done += panel) {
        step.win0 = t->first + done;
        step.n_win = min_size(t->n - done, panel);
        err = w->backend->step(w->backend, &step);
        step.in_panel += panel * w->plan->problem.c;
    }
    return err;
}

/* All filters of a product. */
static int multiply(const struct winograd *w, const struct tiles *t, size_t product)
{
    const struct conv_plan_winograd *x = &w->plan->winograd;
    const size_t c = w->plan->problem.c, k = w->plan->problem.k, n_f = w->plan->ukr->n_f;
    struct conv_run run = { .step = step_of(w, CONV_STEP_UKR, t), .along_filters = true, .panel_elems = c * n_f };
    struct conv_step *s = &run.step;
    int err = 0;

    run.taps = 1;
    s->in_panel += product * x->in_step;
    for (size_t f0 = 0; f0 < k && !err; f0 += run.n * n_f) {
        s->f0 = f0;
        s->n_f = min_size(k - f0, n_f);
        s->f_panel = product * x->filter_step + f0 * c;
        s->out_panel = t->out_panel + product * x->out_step + f0 * round_up(w->plan->ukr->n_win, x->kernel->lanes);
        run.n = max_size(1, (k - f0) / n_f);
        err = conv_backend_run(w->backend, &run);
    }
    return err;
}

static int store(const struct winograd *w, const struct tiles *t)
{
    const struct conv_step step = step_of(w, CONV_STEP_WINOGRAD_OUT, t);

    return w->backend->step(w->backend, &step);
}

static int each_tile(const struct winograd *w, size_t block, int (*fn)(const struct winograd *, const struct tiles *))
{
    const size_t end = min_size(w->n_tiles, block + w->plan->winograd.block);
    int err = 0;

    for (size_t tile = block; tile < end && !err; tile += w->plan->ukr->n_win) {
        const struct tiles t = tiles_at(w, block, tile);

        err = fn(w, &t);
    }
    return err;
}

static int block_of_tiles(const struct winograd *w, size_t block)
{
    const size_t end = min_size(w->n_tiles, block + w->plan->winograd.block);
    int err = each_tile(w, block, transform_input);

    for (size_t product = 0; product < w->n_products; product++) {
        for (size_t tile = block; tile < end && !err; tile += w->plan->ukr->n_win) {
            const struct tiles t = tiles_at(w, block, tile);

            err = multiply(w, &t, product);
        }
    }
    return err ? err : each_tile(w, block, store);
}

static struct winograd start(const struct conv_plan *plan, struct conv_backend *backend)
{
    assert(plan->algorithm == CONV_WINOGRAD);
    return (struct winograd){
        .plan = plan,
        .backend = backend,
        .n_tiles = plan->winograd.tile_rows * plan->winograd.tile_columns,
        .n_products = conv_winograd_products(plan->winograd.kernel),
    };
}

int conv_nest_winograd_filters(const struct conv_plan *plan, struct conv_backend *backend)
{
    const struct winograd w = start(plan, backend);
    const size_t k = plan->problem.k, n_f = plan->ukr->n_f;
    int err = 0;

    for (size_t f0 = 0; f0 < k && !err; f0 += n_f) {
        struct conv_step step = step_of(&w, CONV_STEP_WINOGRAD_FILTERS, &(struct tiles){ 0 });

        step.f0 = f0;
        step.n_f = min_size(k - f0, n_f);
        step.f_panel = f0 * plan->problem.c;
        err = backend->step(backend, &step);
    }
    return err;
}

int conv_nest_winograd(const struct conv_plan *plan, struct conv_backend *backend)
{
    struct winograd w = start(plan, backend);
    int err = plan->winograd.packs_filters ? conv_nest_winograd_filters(plan, backend) : 0;

    for (; w.image < plan->problem.n && !err; w.image++) {
        for (size_t block = 0; block < w.n_tiles && !err; block += plan->winograd.block)
            err = block_of_tiles(&w, block);
    }
    return err;
}
