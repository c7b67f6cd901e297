/* A plan: all decisions before a convolution runs. Executing and replaying take one plan; plan/plan.h makes it. */
#ifndef KERNELS_SHAPE_PLAN_H
#define KERNELS_SHAPE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/layout.h"
#include "kernels/shape/problem.h"
#include "kernels/shape/sizes.h"
#include "kernels/shape/tiling.h"

struct conv_direct;
struct conv_gemm_core;
struct conv_pack_windows;
struct conv_ukr;
struct conv_winograd;
struct conv_backend;
struct conv_plan;
typedef int (*conv_nest_fn)(const struct conv_plan *plan, struct conv_backend *backend);

/* Options of SConv beside the tiles; in the paper all are false. */
struct conv_sconv_options {
    bool packs_filters;  /* at run time, as training needs (SConv section 3); otherwise filters were packed ahead */
    bool reads_in_place; /* no packed windows: pointwise, rows of the input are read, otherwise windows tap by tap */
    bool prefetches;     /* micro-kernels prefetch, if they can, for later micro-kernels; strides: pack.h, transposes */
    bool skips_padding;  /* rows of taps that only read padding are neither packed nor computed; panels are by rows */
    bool pads_first;     /* a group's channels are copied into a padded image, out of which windows are packed */
    bool lowers_first;   /* windows are packed out of the group's im2col matrix, a pointwise convolution's input */
};

/*
 * Says how the output is cut into input tiles: n_win of the flattened plane; or, of micro-kernels that walk any windows
 * (CONV_WALK_ANY), whole rows, or equal parts of a row, of at most n_win windows.
 */
struct conv_cut {
    size_t rows, per_row; /* rows of a tile, tiles of a row: rows or per_row is 1; 0: flat */
};

enum conv_algorithm {
    CONV_SCONV,
    CONV_GEMM,     /* im2col + GEMM */
    CONV_DIRECT,   /* nothing is packed or lowered */
    CONV_WINOGRAD, /* F(m x m, 3 x 3): transforms around products of matrices */
    CONV_PLUGIN    /* a plug-in's code: a layout, and no known nest */
};

/* The part of an SConv plan. */
struct conv_plan_sconv {
    struct csa_tiling tiling;
    size_t lane_channels, head;        /* of the problem's type; of the micro-kernel */
    size_t depth;                      /* steps of a full channel set's panel of windows */
    struct conv_sconv_options options; /* the options asked for that the shape and the micro-kernel allow */
    bool walks;                        /* reads_in_place: tap by tap */
    struct conv_cut cut;
    const struct conv_pack_windows *pack_windows;
    struct conv_problem padding; /* if pads_first: the 1x1 convolution whose im2col matrix is the padded image */
};

/* The part of a plan of im2col + GEMM. */
struct conv_plan_gemm {
    const struct conv_gemm_core *core; /* blocking and copy routines */
    size_t first_pass_f;               /* filters packed at a time while the first block of windows is in cache */
    bool needs_im2col;                 /* false for pointwise convolutions, whose input is the matrix already */
    bool is_small;                     /* the library multiplies without packing (blas/product.h) */
};

/* The part of a direct convolution's plan: the kernel, and the cut into steps. */
struct conv_plan_direct {
    const struct conv_direct *kernel;
    size_t rows, groups;    /* output rows of a step; groups of a step: several only if a step has all rows */
    size_t filters, images; /* filters of a group, all if a step has several groups; images of a step */
};

/*
 * The part of a plan of Winograd's: the output's tiles of m x m windows are numbered through rows of tiles. A block of
 * tiles is transformed, multiplied and stored before the next block; the products' panels of a block are one after the
 * other in CONV_PACKED_INPUT, and the products in CONV_IM2COL.
 */
struct conv_plan_winograd {
    const struct conv_winograd *kernel;
    bool packs_filters;                    /* filters are transformed at run time */
    size_t tile_rows, tile_columns;        /* of an image */
    size_t block;                          /* tiles, whole tiles of the micro-kernel */
    size_t in_step, filter_step, out_step; /* elements between two products: panels of tiles, of filters; results */
};

/* The part of a plug-in's plan. */
struct conv_plan_plugin {
    const char *name;
    uint64_t hash;             /* of the code */
    void *code;                /* known to the runner */
    const void *recorder;      /* known to the replayer; NULL: nobody can replay */
    const char *why_no_cycles; /* why recorded instructions give no cycles; NULL */
};

struct conv_plan {
    enum conv_algorithm algorithm; /* names the member of the union */
    struct conv_problem problem;
    struct conv_problem view;   /* what windows are packed out of: a pointwise image, or an im2col matrix, is one row */
    const struct conv_ukr *ukr; /* NULL: direct, or outside */
    conv_nest_fn nest;          /* NULL: outside */
    size_t group_channels, group_filters; /* of the problem; kept because dividing costs as much as a short call */
    struct conv_layout layout;
    union {
        struct conv_plan_sconv sconv;
        struct conv_plan_gemm gemm;
        struct conv_plan_direct direct;
        struct conv_plan_winograd winograd;
        struct conv_plan_plugin plugin;
    };
};

/* Tells whether the plan packs filters as it runs, into a buffer that is of no use afterwards. */
static inline bool conv_plan_packs_filters(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_GEMM || (plan->algorithm == CONV_SCONV && plan->sconv.options.packs_filters) ||
           (plan->algorithm == CONV_WINOGRAD && plan->winograd.packs_filters);
}

/*
 * Returns the steps of an SConv plan's panels of windows for n_k steps of the reduction (whole channels): a step for
 * each tap of a lane of channels.
 */
static inline size_t conv_plan_steps(const struct conv_plan *plan, size_t n_k)
{
    const size_t taps = plan->view.r * plan->view.s, lane = plan->sconv.lane_channels;

    return lane == 1 ? n_k : ceil_div(n_k / taps, lane) * taps;
}

/*
 * Returns the lanes of a filter in the packed panels of a group's first n_c channels: steps, and a head for each channel
 * set. The channels are whole channel sets, or all channels.
 */
static inline size_t conv_plan_filter_lanes(const struct conv_plan *plan, size_t n_c)
{
    const size_t head = plan->sconv.head, steps = conv_plan_steps(plan, n_c * plan->view.r * plan->view.s);

    return head ? steps + head * ceil_div(n_c, plan->sconv.tiling.n_c) : steps;
}

/* Tells whether windows are packed out of CONV_IM2COL: a padded image, or an im2col matrix. */
static inline bool conv_plan_prepares_image(const struct conv_plan *plan)
{
    return plan->sconv.options.pads_first || plan->sconv.options.lowers_first;
}

/* Tells whether rows of taps that only read padding are left out of the plan's panels. */
static inline bool conv_plan_skips_padding(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_SCONV && plan->sconv.options.skips_padding;
}

#endif
