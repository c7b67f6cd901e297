/*
 * LIFT's direct convolution as OpenCL C: the parameters of the paper's Table 2 and what a CPU needs besides, what they
 * must fulfil, and the text of the kernels that a point of this space stands for. Nothing here needs OpenCL.
 *
 * Files: constraints.def and space.c have the parameters and their constraints; program.c writes the text; opencl.c
 * runs it, in a process that device.c starts; search.c measures points.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_LIFT_H
#define EXPERIMENTS_PAPERS_LIFT_LIFT_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "kernels/shape/problem.h"

/*
 * The parameters. A window is flattened as the paper does it, [r][s][c], and its r * s * c elements are split into
 * chunks of `elements`. A tile has windows_h * windows_w windows, and is `tile` input elements high and wide.
 */
enum lift_parameter {
    LIFT_TILE,      /* theta: the input tile is so many elements high and wide, with all channels */
    LIFT_PAD_Y,     /* rho: rows of zeros at the bottom, beyond the layer's padding, until tiles fit */
    LIFT_PAD_X,     /* rho: columns of zeros at the right */
    LIFT_BAND,      /* rows of tiles that are padded, convolved and cropped at a time (not the paper's: all) */
    LIFT_KERNELS,   /* kappa: filters of a work-group; each of its work-items has all of them */
    LIFT_LANES,     /* so many of them are a single vector (not the paper's: 1) */
    LIFT_WINDOWS,   /* sigma: windows of a work-item */
    LIFT_ELEMENTS,  /* omega: elements of a chunk, which a work-item sums one after the other */
    LIFT_VECTOR,    /* v: elements that are loaded as a single vector; lanes == 1: multiplied as one, too */
    LIFT_COALESCED, /* 1: work-items beside each other read vectors beside each other; 0: each reads its own chunk */
    LIFT_UNROLL,    /* the innermost loop is unrolled so many times */
    LIFT_JOINED,    /* 1: the partial convolution writes the output itself; 0: another kernel crops (the paper) */
    LIFT_FLAGS,     /* index of lift_flags: how the text is compiled */
    LIFT_N_PARAMETERS
};

struct lift_point {
    uint32_t value[LIFT_N_PARAMETERS];
};

/* The same as a text: "tile=6 pad_y=0 ...", which lift_point_parse reads. */
void lift_point_say(const struct lift_point *p, char *text, size_t bytes);
int lift_point_parse(struct lift_point *p, const char *text, struct exp_why *why);

enum { LIFT_N_FLAGS = 3 };
extern const char *const lift_flags[LIFT_N_FLAGS]; /* "", "-cl-mad-enable", "-cl-fast-relaxed-math" */

/* ---- the space (space.c) ---- */

/* What a device allows (clGetDeviceInfo), and how many accumulators a work-item may have. */
struct lift_limits {
    uint64_t group;        /* work-items of a work-group */
    uint64_t items[2];     /* of these in a dimension */
    uint64_t buffer_bytes; /* of one buffer */
    uint64_t memory_bytes; /* of all; also what the user leaves */
    uint64_t accumulators; /* vectors of `lanes` floats; not the device's */
};

extern const struct lift_limits lift_usual_limits; /* what PoCL says on this kind of computer */

struct lift_space;

/*
 * Prepares the points of a layer: a single image, no groups, no dilation. `only` leaves some values of parameters, and is ""
 * for all: "tile=6+8,lanes=8". Returns 0, or with a line in why: -EINVAL, a slip in `only`; -ENOTSUP, the layer is
 * not supported, or no point fulfils all constraints, and which one rules out the last.
 */
int lift_space_new(struct lift_space **s, const struct conv_problem *layer, const struct lift_limits *limits,
                   const char *only, struct exp_why *why);
void lift_space_free(struct lift_space *s); /* NULL is fine */

/*
 * Draws a point: each parameter in its order, from the values that what is drawn already leaves and that something
 * follows. None is ever refused. *state is a random number's (any value), and is changed.
 */
void lift_draw(struct lift_space *s, uint64_t *state, struct lift_point *p);

/* The same near another point: it keeps that one's values as far as it can, but for one parameter's. */
void lift_draw_near(struct lift_space *s, uint64_t *state, const struct lift_point *near, struct lift_point *p);

/* Returns the name of a constraint that the point does not fulfil; NULL: it fulfils all. Independent of lift_draw. */
const char *lift_violated(const struct conv_problem *layer, const struct lift_limits *limits,
                          const struct lift_point *p);

/* ---- the text (program.c) ---- */

enum lift_role {
    LIFT_INPUT,   /* [c][h][w] */
    LIFT_FILTERS, /* as lift_lay_filters lays them */
    LIFT_PADDED,  /* of a band: [rows][columns][c] */
    LIFT_PARTIAL, /* of a band: [tile][filter group][window][chunk][kernels] */
    LIFT_SUMS,    /* of a band, if there is more than a single chunk: [tile][filter group][window][kernels] */
    LIFT_OUTPUT,  /* [k][p][q] */
    LIFT_N_ROLES
};

extern const char *const lift_roles[LIFT_N_ROLES]; /* their names, which the kernels' arguments have, too */

enum { LIFT_MOST_KERNELS = 4, LIFT_MOST_ARGS = 3 };

/* void name(args..., int band). Arguments are const but for the last one. */
struct lift_kernel {
    const char *name; /* "pad", "convolve", "sum", "crop", "naive" */
    enum lift_role arg[LIFT_MOST_ARGS];
    size_t n_args;
    size_t global[2], local[2]; /* work-items; local divides global, and is required by the text */
};

/*
 * For each band, 0 .. n_bands - 1, all kernels run in their order: for (band) for (kernel) for (work-group) ...
 * Dimension 0 is the innermost one of groups and of items. There are no barriers and no local memory.
 *
 * The text is OpenCL C 1.2 and, with a few macros, C with vectors of gcc and clang. It uses, and an including file may
 * define before: __kernel, __global, get_group_id, get_local_id, get_global_id, vload<n>(offset, pointer),
 * vstore<n>(value, offset, pointer), dot, float2 to float16; and three macros that the text defines unless they are:
 *   GROUP(x, y)   the attribute of the work-group's size; before the kernel's name and result type
 *   LANE(v, i)    element i of a vector, a hexadecimal digit
 *   SPLAT(t, x)   a vector of type t with x in all lanes
 */
struct lift_program {
    char *text;
    const char *flags; /* to compile it with */
    struct lift_kernel kernel[LIFT_MOST_KERNELS];
    size_t n_kernels, n_bands;
    size_t bytes[LIFT_N_ROLES]; /* 0: there is no such buffer */
    double useful_macs, macs;   /* of the layer; of all that is computed, padding included */
};

/*
 * Writes the text of a point, which must fulfil the constraints; the second, that of a single output of each work-item.
 * flags is an index of lift_flags.
 */
void lift_program_make(struct lift_program *g, const struct conv_problem *layer, const struct lift_point *p);
void lift_program_naive(struct lift_program *g, const struct conv_problem *layer, unsigned flags);
void lift_program_release(struct lift_program *g);
size_t lift_program_bytes(const struct lift_program *g); /* of all buffers */

/* Lays filters [k][c][r][s] out as the point's text reads them: into as many floats. Of the naive text they stay. */
void lift_lay_filters(const struct conv_problem *layer, const struct lift_point *p, const float *from, float *to);

#endif
