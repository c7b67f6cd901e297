/*
 * A plan: everything that is decided before a convolution runs. Executing and replaying take the same plan.
 */
#ifndef KERNELS_PLAN_H
#define KERNELS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/csa/csa.h"
#include "kernels/ukr/direct.h"
#include "kernels/blas/gemm_core.h"
#include "kernels/ukr/pack.h"
#include "kernels/problem.h"
#include "kernels/ukr/ukr.h"

struct conv_backend;
struct conv_plan;
typedef int (*conv_nest_fn)(const struct conv_plan *plan, struct conv_backend *backend);

/*
 * Where the tensors lie: one arena, each tensor on a page of its own, in the order of enum conv_tensor. Tensors that an
 * algorithm does not use have no bytes. The executing back-end allocates the arena on a 2 MiB boundary and the
 * replaying one puts it at CONV_REPLAY_BASE, so both see the same cache sets.
 */
struct conv_layout {
    size_t bytes[CONV_N_TENSORS];
    size_t offset[CONV_N_TENSORS];
    size_t arena_bytes;
};

enum { CONV_PAGE_BYTES = 4096, CONV_ARENA_ALIGN = 2 << 20 };
#define CONV_REPLAY_BASE ((uint64_t)1 << 32)

/* Addresses of the tensors, real or synthetic. */
struct conv_binding {
    uint64_t addr[CONV_N_TENSORS];
};

struct conv_binding conv_bind(const struct conv_layout *l, uint64_t arena);

/* How SConv runs, beside its tiles; all false is the paper. */
struct conv_sconv_options {
    bool packs_filters;  /* at run time, as training needs it (SConv section 3); otherwise they were packed ahead */
    bool reads_in_place; /* windows are not packed: rows of a pointwise convolution's input, others tap by tap */
    bool prefetches;     /* micro-kernels that can prefetch what later ones read */
    bool skips_padding;  /* rows of taps that only meet padding are neither packed nor computed; panels are by rows */
    bool pads_first;     /* a group's channels are copied into a padded image, and windows are packed out of that */
};

/*
 * How the output is cut into input tiles: n_win of the flattened plane; or, of micro-kernels that walk any windows
 * (CONV_WALK_ANY), whole rows, or equal parts of one, of at most n_win windows.
 */
struct conv_cut {
    size_t rows, per_row; /* rows of a tile, tiles of a row: one of them is 1; 0: flat */
};

enum conv_algorithm {
    CONV_SCONV,
    CONV_GEMM,   /* im2col + GEMM */
    CONV_DIRECT, /* nothing is packed or lowered */
};

/* What only SConv has. */
struct conv_plan_sconv {
    struct csa_tiling tiling;
    struct conv_sconv_options options; /* of those asked for, the ones that the shape and the micro-kernel allow */
    bool walks;                        /* reads_in_place: tap by tap */
    struct conv_cut cut;
    const struct conv_pack_windows *pack_windows;
    struct conv_problem padding; /* if it pads first: the 1x1 convolution whose im2col matrix is the padded image */
};

/* What only im2col + GEMM has. */
struct conv_plan_gemm {
    const struct conv_gemm_core *core; /* blocking and copy routines */
    size_t first_pass_f;               /* filters packed at a time while the first block of windows is in cache */
    bool needs_im2col;                 /* false for pointwise convolutions, which are GEMM already */
};

/* What only a direct convolution has: its kernel, and how it is cut into steps. */
struct conv_plan_direct {
    const struct conv_direct *kernel;
    size_t rows, groups; /* output rows of a step; groups of a step: more than one if the rows are all */
};

struct conv_plan {
    enum conv_algorithm algorithm; /* says which part of the union there is */
    struct conv_problem problem;
    struct conv_problem view;   /* the same convolution with a pointwise image flattened to one row */
    const struct conv_ukr *ukr; /* NULL: direct */
    conv_nest_fn nest;
    size_t group_channels, group_filters; /* of the problem; kept because dividing costs as much as a short call */
    struct conv_layout layout;
    union {
        struct conv_plan_sconv sconv;
        struct conv_plan_gemm gemm;
        struct conv_plan_direct direct;
    };
};

/*
 * Tells whether the micro-kernel can read the shape's windows tap by tap: it walks such windows, and the filter is not
 * too large.
 */
bool conv_plan_can_walk(const struct conv_problem *p, const struct conv_ukr *ukr);

/*
 * Plans SConv with the given tiling. reads_in_place is ignored where it cannot be: micro-kernels that read packed
 * windows only; shapes that are neither pointwise nor can be walked. Where the micro-kernel walks, its tiles follow the
 * output's rows (cut), which may be more tiles than the tiling says. skips_padding is ignored without rows to skip, in
 * place, where walking skips it anyway, or where the filters of a tile are several panels. pads_first is ignored
 * without padding; it excludes the three options before it. Returns 0, or -EOVERFLOW if the tensors do not fit an
 * address space.
 */
int conv_plan_sconv_with(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr,
                         const struct csa_tiling *tiling, const struct conv_sconv_options *options);

/* Returns the first window of an SConv plan's input tile; of the one past the last, past the last window. */
size_t conv_plan_tile_start(const struct conv_plan *plan, size_t tile);

/* Tells how the kernels get their windows: "in place", "packed", or "packed without rows of padding". */
const char *conv_plan_windows_name(const struct conv_plan *plan);

/* Returns the name of the micro-kernel, or of the direct kernel. */
const char *conv_plan_kernel_name(const struct conv_plan *plan);

/* Returns the instruction set of that kernel. */
enum cpu_isa conv_plan_isa(const struct conv_plan *plan);

/* Returns the core whose blocking it has; NULL if it is no GEMM. */
static inline const struct conv_gemm_core *conv_plan_core(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_GEMM ? plan->gemm.core : NULL;
}

/* Tells whether a plan is what OpenBLAS does: GEMM with the core's own micro-kernel. */
static inline bool conv_plan_is_base(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_GEMM && plan->ukr == &plan->gemm.core->ukr;
}

/* Tells whether it packs filters as it runs, into a buffer that is of no use afterwards. */
static inline bool conv_plan_packs_filters(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_GEMM || (plan->algorithm == CONV_SCONV && plan->sconv.options.packs_filters);
}

/* Tells whether rows of taps that only meet padding are left out of its panels. */
static inline bool conv_plan_skips_padding(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_SCONV && plan->sconv.options.skips_padding;
}

/* Tells whether this build and this CPU can execute it. */
bool conv_plan_runs(const struct conv_plan *plan);

/* Plans SConv as in the paper. */
int conv_plan_sconv(struct conv_plan *plan, const struct conv_problem *p, const struct conv_ukr *ukr,
                    const struct csa_tiling *tiling, bool packs_filters);

/*
 * Plans a direct convolution with a kernel that suits it (conv_direct_suits). What a step reads and writes fills half
 * of L1, of l1_bytes, or is a tile's rows of one group. Returns 0 or -EOVERFLOW.
 */
int conv_plan_direct(struct conv_plan *plan, const struct conv_problem *p, const struct conv_direct *kernel,
                     double l1_bytes);

/*
 * Plans im2col + GotoBLAS-structured GEMM with the blocking of an OpenBLAS core. ukr is the core's own (replay), or any
 * executable one. Returns 0 or -EOVERFLOW.
 */
int conv_plan_gemm(struct conv_plan *plan, const struct conv_problem *p, const struct conv_gemm_core *core,
                   const struct conv_ukr *ukr);

#endif
