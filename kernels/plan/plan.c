#include "kernels/blas/product.h"
#include "kernels/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "kernels/csa/csa2.h"
#include "kernels/nest/nest.h"
#include "kernels/shape/problem.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/direct_forms.h"
#include "kernels/ukr/dispatch.h"

/* Flattens a pointwise convolution, whose input is a single long row: windows are contiguous across image rows. */
static struct conv_problem flattened(const struct conv_problem *p)
{
    struct conv_problem view = *p;

    if (conv_is_pointwise(p)) {
        view.w = p->h * p->w;
        view.q = p->p * p->q;
        view.h = view.p = view.dilation_h = view.dilation_w = 1;
    }
    return view;
}

/* The 1x1 convolution whose im2col matrix is a group's padded image. */
static struct conv_problem padding_of(const struct conv_problem *p)
{
    struct conv_problem q = *p;

    q.r = q.s = q.stride_h = q.stride_w = q.dilation_h = q.dilation_w = 1;
    q.p = p->h + p->pad_top + p->pad_bottom;
    q.q = p->w + p->pad_left + p->pad_right;
    return q;
}

/* The convolution of an image that is padded already. */
static struct conv_problem padded(const struct conv_problem *p)
{
    struct conv_problem q = *p;

    q.h += p->pad_top + p->pad_bottom;
    q.w += p->pad_left + p->pad_right;
    q.pad_top = q.pad_left = q.pad_bottom = q.pad_right = 0;
    return q;
}

/* The pointwise convolution whose input is the im2col matrix. */
static struct conv_problem lowered(const struct conv_problem *p)
{
    struct conv_problem q = *p;

    q.c = p->groups * conv_reduction(p);
    q.w = q.q = p->p * p->q;
    q.h = q.p = q.r = q.s = q.stride_h = q.stride_w = q.dilation_h = q.dilation_w = 1;
    q.pad_top = q.pad_left = q.pad_bottom = q.pad_right = 0;
    return q;
}

/* Returns what windows are packed out of. */
static struct conv_problem view_of(const struct conv_problem *p, const struct conv_sconv_options *does)
{
    return does->lowers_first ? lowered(p) : does->pads_first ? padded(p) : flattened(p);
}

/* Puts the bytes of a product of counts of floats, or lanes, into *bytes. Returns 0 or -EOVERFLOW. */
static int lane_bytes(size_t a, size_t b, size_t c, size_t *bytes)
{
    if (__builtin_mul_overflow(a, b, bytes) || __builtin_mul_overflow(*bytes, c, bytes) ||
        __builtin_mul_overflow(*bytes, CONV_LANE_BYTES, bytes) || *bytes > PTRDIFF_MAX)
        return -EOVERFLOW;
    return 0;
}

/* Lays the tensors out one after the other, each on its own page. */
static int place(struct conv_layout *l)
{
    size_t end = 0;

    for (int t = 0; t < CONV_N_TENSORS; t++) {
        l->offset[t] = end;
        if (__builtin_add_overflow(end, l->bytes[t], &end) || end > PTRDIFF_MAX - CONV_PAGE_BYTES)
            return -EOVERFLOW;
        end = round_up(end, CONV_PAGE_BYTES);
    }
    l->arena_bytes = end;
    return 0;
}

static void size_tensors(const struct conv_problem *p, struct conv_layout *l)
{
    memcpy(l->element, conv_types[p->type].bytes, sizeof l->element);
    l->bytes[CONV_INPUT] = p->n * p->c * p->h * p->w * l->element[CONV_INPUT];
    l->bytes[CONV_FILTER] = p->k * conv_reduction(p) * l->element[CONV_FILTER];
    l->bytes[CONV_OUTPUT] = p->n * p->k * conv_windows(p) * l->element[CONV_OUTPUT];
}

/* Tells whether windows at the upper or lower edge have any; tiles may still have none. */
static bool has_dead_rows(const struct conv_problem *p)
{
    const struct conv_live_windows live = conv_live_windows(p);

    return p->r > 1 && (live.first > 0 || live.end < conv_windows(p));
}

/* Tells whether windows are neighbours in the input as in the output. Pointwise convolutions need no walking. */
static bool keeps_rows(const struct conv_problem *p)
{
    return p->stride_h == 1 && p->stride_w == 1 && p->q == p->w && !conv_is_pointwise(p);
}

bool conv_plan_can_walk(const struct conv_problem *p, const struct conv_ukr *ukr)
{
    return p->r <= CONV_MAX_TAPS && p->s <= CONV_MAX_TAPS &&
           (ukr->walk == CONV_WALK_ANY || (ukr->walk == CONV_WALK_SAME && keeps_rows(p)));
}

static struct conv_cut cut_rows(const struct conv_problem *view, size_t n_win)
{
    return (struct conv_cut){
        .rows = view->q < n_win ? n_win / view->q : 1,
        .per_row = ceil_div(view->q, n_win),
    };
}

int conv_plan_sconv_with(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr,
                         const struct csa_tiling *tiling, const struct conv_sconv_options *options)
{
    const struct conv_type_facts *type = &conv_types[p->type];
    const bool has_lanes = type->lane_channels > 1; /* packed by channels, and nothing else */
    size_t slots = tiling->schedule == CSA_IS ? 1 : tiling->k2;
    struct conv_sconv_options *does = &plan->sconv.options;
    int err = 0;

    assert(ukr && tiling->n_c >= 1 && tiling->k2 >= 1 && tiling->k3 >= 1);
    assert(!(options->pads_first || options->lowers_first) ||
           !(options->reads_in_place || options->prefetches || options->skips_padding));
    assert(!options->pads_first || !options->lowers_first);
    *plan = (struct conv_plan){
        .problem = *p,
        .group_channels = conv_group_channels(p),
        .group_filters = conv_group_filters(p),
        .algorithm = CONV_SCONV,
        .ukr = ukr,
        .nest = conv_nest_sconv,
        .sconv = { .tiling = *tiling,
                   .lane_channels = type->lane_channels,
                   .head = conv_ukr_head(ukr),
                   .options = *options },
    };
    does->pads_first &= conv_has_padding(p) && !has_lanes;
    does->lowers_first &= !conv_is_pointwise(p);
    plan->view = view_of(p, does);
    assert(ukr->type == p->type &&
           (tiling->n_c % type->lane_channels == 0 || tiling->n_c >= conv_group_channels(&plan->view)));
    does->reads_in_place &= (conv_is_pointwise(p) && ukr->reads_in_place) || conv_plan_can_walk(p, ukr);
    does->skips_padding &=
        !has_lanes && !does->reads_in_place && has_dead_rows(p) && ukr->f_panel >= ukr->n_f && !ukr->splits_edges;
    does->prefetches &= ukr->prefetches;
    plan->sconv.pack_windows = conv_pack_windows_for(&plan->view, ukr, does->prefetches);
    plan->sconv.walks = does->reads_in_place && conv_plan_can_walk(p, ukr);
    if (plan->sconv.walks && ukr->walk == CONV_WALK_ANY) {
        plan->sconv.cut = cut_rows(&plan->view, ukr->n_win);
        plan->sconv.tiling.in_tiles = ceil_div(plan->view.p, plan->sconv.cut.rows) * plan->sconv.cut.per_row;
    }
    size_tensors(p, &plan->layout);
    plan->sconv.depth = conv_plan_steps(plan, tiling->n_c * plan->view.r * plan->view.s);
    err = lane_bytes(p->k, conv_plan_filter_lanes(plan, conv_group_channels(&plan->view)), 1,
                     &plan->layout.bytes[CONV_PACKED_FILTER]);
    if (!err && !does->reads_in_place)
        err = lane_bytes(slots, plan->sconv.depth, conv_ukr_in_width(ukr, ukr->n_win),
                         &plan->layout.bytes[CONV_PACKED_INPUT]);
    if (does->pads_first)
        plan->sconv.padding = padding_of(p);
    if (conv_plan_prepares_image(plan)) /* conv_problem_finish has accepted the matrix, and the padded image */
        plan->layout.bytes[CONV_IM2COL] =
            conv_group_channels(&plan->view) * plan->view.h * plan->view.w * plan->layout.element[CONV_IM2COL];
    return err ? err : place(&plan->layout);
}

const char *conv_plan_kernel_name(const struct conv_plan *plan)
{
    if (plan->algorithm == CONV_PLUGIN)
        return plan->plugin.name;
    return plan->algorithm == CONV_DIRECT ? plan->direct.kernel->name : plan->ukr->name;
}

enum cpu_isa conv_plan_isa(const struct conv_plan *plan)
{
    if (plan->algorithm == CONV_PLUGIN)
        return CPU_ISA_NONE;
    return plan->algorithm == CONV_DIRECT ? plan->direct.kernel->isa : plan->ukr->isa;
}

bool conv_plan_runs(const struct conv_plan *plan)
{
    if (plan->algorithm == CONV_PLUGIN)
        return true;
    if (plan->algorithm == CONV_WINOGRAD && !conv_winograd_runs(plan->winograd.kernel))
        return false;
    return plan->algorithm == CONV_DIRECT ? conv_direct_runs(plan->direct.kernel) : conv_ukr_runs(plan->ukr);
}

const char *conv_plan_windows_name(const struct conv_plan *plan)
{
    bool is_sconv = plan->algorithm == CONV_SCONV;

    if (plan->algorithm == CONV_WINOGRAD)
        return "transformed";
    if (plan->algorithm == CONV_DIRECT || (is_sconv && plan->sconv.options.reads_in_place))
        return "in place";
    if (is_sconv && plan->sconv.options.pads_first)
        return "packed after padding";
    if (is_sconv && plan->sconv.options.lowers_first)
        return "packed after im2col";
    return conv_plan_skips_padding(plan) ? "packed without rows of padding" : "packed";
}

int conv_plan_sconv(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr,
                    const struct csa_tiling *tiling, bool packs_filters)
{
    return conv_plan_sconv_with(plan, p, ukr, tiling, &(struct conv_sconv_options){ .packs_filters = packs_filters });
}

/* Cuts a group's filters, if the filters are many, into the filters of a call that pays, or takes several groups. */
static struct conv_plan_direct cut_batch(const struct conv_problem *p, struct conv_plan_direct cut)
{
    enum { LEAST_MACS = 1 << 16, MOST_ROWS = 16 };
    size_t filters = round_up(ceil_div(LEAST_MACS, conv_reduction(p)), MOST_ROWS);

    cut.images = p->n;
    if (filters < cut.filters)
        cut.filters = filters;
    else
        cut.groups = min_size(p->groups, filters / cut.filters);
    return cut;
}

/* Cuts the output into the rows that fit into the budget: all rows, or whole tiles of rows. */
static struct conv_plan_direct cut_direct(const struct conv_problem *p, const struct conv_direct *kernel, double budget)
{
    double in = (double)(conv_group_channels(p) * p->w) * (double)p->stride_h;
    double out = (double)(conv_group_filters(p) * p->q), rows = budget / ((in + out) * sizeof(float));
    enum { GROUPS_WINDOWS = 8 }; /* small groups: calls of as many times the windows that pay */
    const struct conv_direct_form *form = kernel->form;
    size_t least = max_size(form->tile_rows, min_size(p->p, ceil_div(form->least_windows, p->q)));
    struct conv_plan_direct cut = { .kernel = kernel, .rows = p->p, .groups = 1, .images = 1 };

    cut.filters = conv_group_filters(p);
    if (form->takes_batch)
        return cut_batch(p, cut);
    if (rows < (double)p->p)
        cut.rows = rows < (double)(2 * least) ? least : (size_t)rows / form->tile_rows * form->tile_rows;
    else if (rows / (double)p->p < (double)p->groups)
        cut.groups = min_size(
            p->groups, max_size((size_t)(rows / (double)p->p), GROUPS_WINDOWS * form->least_windows / conv_windows(p)));
    else
        cut.groups = p->groups;
    return cut;
}

int conv_plan_direct(struct conv_plan *plan, const struct conv_problem *p, const struct conv_direct *kernel,
                     double l1_bytes)
{
    assert(conv_direct_suits(kernel, p) && p->type == CONV_F32);
    *plan = (struct conv_plan){
        .algorithm = CONV_DIRECT,
        .problem = *p,
        .view = *p,
        .group_channels = conv_group_channels(p),
        .group_filters = conv_group_filters(p),
        .nest = conv_nest_direct,
        .direct = cut_direct(p, kernel, l1_bytes / 2),
    };
    size_tensors(p, &plan->layout);
    return place(&plan->layout);
}

/* A line more than the panels: products whose panels are a multiple of a page long would share a few sets of L1. */
enum { PRODUCT_GAP = 16 };

int conv_plan_winograd(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr, size_t m,
                       size_t block, bool packs_filters)
{
    const struct conv_winograd *kernel = conv_winograd_for(m, ukr);
    const size_t rows = ceil_div(p->p, m), columns = ceil_div(p->q, m), n_products = conv_winograd_products(kernel);
    const size_t width = round_up(ukr->n_win, kernel->lanes);
    struct conv_plan_winograd *w = &plan->winograd;
    size_t *bytes = plan->layout.bytes;
    int err;

    assert(!conv_winograd_why_not(p) && conv_winograd_takes_ukr(ukr) && block >= 1 && p->type == CONV_F32);
    block = round_up(min_size(block, rows * columns), ukr->n_win);
    *plan = (struct conv_plan){
        .algorithm = CONV_WINOGRAD,
        .problem = *p,
        .view = *p,
        .ukr = ukr,
        .group_channels = p->c,
        .group_filters = p->k,
        .nest = conv_nest_winograd,
        .winograd = { .kernel = kernel,
                      .packs_filters = packs_filters,
                      .tile_rows = rows,
                      .tile_columns = columns,
                      .block = block },
    };
    size_tensors(p, &plan->layout);
    err = lane_bytes(block / ukr->n_win * conv_ukr_in_width(ukr, ukr->n_win), p->c, 1, &bytes[CONV_PACKED_INPUT]);
    if (!err)
        err = lane_bytes(block / ukr->n_win * width, p->k, 1, &bytes[CONV_IM2COL]);
    if (err)
        return err;
    w->in_step = bytes[CONV_PACKED_INPUT] / sizeof(float) + PRODUCT_GAP;
    w->out_step = bytes[CONV_IM2COL] / sizeof(float) + PRODUCT_GAP;
    w->filter_step = p->k * p->c;
    err = lane_bytes(w->in_step, n_products, 1, &bytes[CONV_PACKED_INPUT]);
    if (!err)
        err = lane_bytes(w->out_step, n_products, 1, &bytes[CONV_IM2COL]);
    if (!err)
        err = lane_bytes(w->filter_step, n_products, 1, &bytes[CONV_PACKED_FILTER]);
    return err ? err : place(&plan->layout);
}

int conv_plan_plugin(struct conv_plan *plan, const struct conv_problem *p, const char *name, void *code)
{
    assert(name && p->type == CONV_F32);
    *plan = (struct conv_plan){
        .algorithm = CONV_PLUGIN,
        .problem = *p,
        .view = *p,
        .group_channels = conv_group_channels(p),
        .group_filters = conv_group_filters(p),
        .plugin = { .name = name, .code = code },
    };
    size_tensors(p, &plan->layout);
    return place(&plan->layout);
}

/* Returns the length of the nest's longest block of `total` positions (see block_extent in nest_gemm.c). */
static size_t longest_block(size_t total, size_t block, size_t unit)
{
    return min_size(total, round_up(block, unit));
}

static bool is_small_product(const struct conv_problem *p, const struct conv_gemm_core *core,
                             const struct conv_ukr *ukr)
{
    const double macs = conv_macs(p) / (double)(p->n * p->groups);

    return ukr == &core->ukr && core->has_small && macs <= CONV_SMALL_PRODUCT_MACS;
}

/* Sizes the buffers of packed windows and filters, which belong to the library. */
static int size_panels(struct conv_plan *plan)
{
    const struct conv_gemm_core *core = plan->gemm.core;
    const size_t windows = conv_windows(&plan->problem), reduction = conv_reduction(&plan->problem);
    const size_t k = longest_block(reduction, core->q, core->unroll_win);
    size_t *bytes = plan->layout.bytes;
    int err;

    if (plan->gemm.is_small)
        return lane_bytes(conv_product_copied(windows, reduction), 1, 1, &bytes[CONV_PACKED_INPUT]);
    err = lane_bytes(round_up(longest_block(windows, core->p, core->unroll_win), plan->ukr->win_granule), k, 1,
                     &bytes[CONV_PACKED_INPUT]);
    return err ? err : lane_bytes(min_size(plan->group_filters, core->r), k, 1, &bytes[CONV_PACKED_FILTER]);
}

int conv_plan_gemm(struct conv_plan *plan, const struct conv_problem *p, const struct conv_gemm_core *core,
                   const struct conv_ukr *ukr)
{
    int err;

    assert(core && ukr && p->type == CONV_F32);
    *plan = (struct conv_plan){
        .problem = *p,
        .view = flattened(p),
        .group_channels = conv_group_channels(p),
        .group_filters = conv_group_filters(p),
        .algorithm = CONV_GEMM,
        .ukr = ukr,
        .nest = conv_nest_gemm,
        .gemm = { .core = core,
                  .first_pass_f = ukr == &core->ukr ? core->first_pass_f : ukr->n_f,
                  .needs_im2col = !conv_is_pointwise(p),
                  .is_small = is_small_product(p, core, ukr) },
    };
    size_tensors(p, &plan->layout);
    err = size_panels(plan);
    if (!err && plan->gemm.needs_im2col)
        err = lane_bytes(conv_reduction(p), conv_windows(p), 1, &plan->layout.bytes[CONV_IM2COL]);
    return err ? err : place(&plan->layout);
}

int conv_plan_lowered(struct conv_plan *plan, const struct conv_problem *p, const struct conv_gemm_core *core,
                      const struct conv_ukr *ukr, bool packs_filters)
{
    const struct conv_problem matrix = lowered(p);
    const struct csa_tiling tiling = csa2_tiling(&matrix, ukr, CSA_WS, core->q * conv_types[p->type].lane_channels,
                                                 max_size(core->p / ukr->n_win, 1), max_size(core->r / ukr->n_f, 1));

    assert(core && ukr);
    return conv_plan_sconv_with(plan, p, ukr, &tiling,
                                &(struct conv_sconv_options){ .packs_filters = packs_filters, .lowers_first = true });
}
