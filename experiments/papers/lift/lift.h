/*
 * LIFT's direct convolution as OpenCL C: the parameters of the paper's Table 2 and further parameters for CPUs, their
 * constraints, and the text of a point's kernels. Nothing here needs OpenCL.
 *
 * Files: constraints.def and space.c have the parameters and constraints; program.c writes the text; opencl.c runs the
 * text, in a process that device.c starts; search.c measures points.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_LIFT_H
#define EXPERIMENTS_PAPERS_LIFT_LIFT_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "kernels/shape/problem.h"

/*
 * The parameters. A window is flattened as in the paper, [r][s][c], and the r * s * c elements are split into chunks of
 * `elements`. A tile has windows_h * windows_w windows, and is `tile` input elements high and wide.
 */
enum lift_parameter {
    LIFT_TILE,      /* theta: height and width of an input tile in elements, with all channels */
    LIFT_PAD_Y,     /* rho: rows of zeros at the bottom, beyond the layer's padding, until tiles fit */
    LIFT_PAD_X,     /* rho: columns of zeros at the right */
    LIFT_BAND,      /* rows of tiles that are padded, convolved and cropped at a time (not the paper's: all) */
    LIFT_KERNELS,   /* kappa: filters of a work-group, and of each work-item */
    LIFT_LANES,     /* filters of a vector (not the paper's: 1) */
    LIFT_WINDOWS,   /* sigma: windows of a work-item */
    LIFT_ELEMENTS,  /* omega: elements of a chunk, which a work-item sums up in order */
    LIFT_VECTOR,    /* v: elements that are loaded as a vector; lanes == 1: also multiplied as a vector */
    LIFT_COALESCED, /* 1: work-items beside each other read vectors beside each other; 0: each reads its own chunk */
    LIFT_UNROLL,    /* the innermost loop is unrolled by this number */
    LIFT_JOINED,    /* 1: the partial convolution writes the output itself; 0: another kernel crops (the paper) */
    LIFT_FLAGS,     /* index of lift_flags: how the text is compiled */
    LIFT_N_PARAMETERS
};

struct lift_point {
    uint32_t value[LIFT_N_PARAMETERS];
};

/* A point as a text: "tile=6 pad_y=0 ...", which lift_point_parse reads. */
void lift_point_say(const struct lift_point *p, char *text, size_t bytes);
int lift_point_parse(struct lift_point *p, const char *text, struct exp_why *why);

enum { LIFT_N_FLAGS = 3 };
extern const char *const lift_flags[LIFT_N_FLAGS]; /* "", "-cl-mad-enable", "-cl-fast-relaxed-math" */

/* ---- the space (space.c) ---- */

/* Limits of a device (clGetDeviceInfo), and of the accumulators of a work-item. */
struct lift_limits {
    uint64_t group;        /* work-items of a work-group */
    uint64_t items[2];     /* work-items of a work-group in a dimension */
    uint64_t buffer_bytes; /* of a buffer */
    uint64_t memory_bytes; /* of all buffers; also the user's limit */
    uint64_t accumulators; /* vectors of `lanes` floats; not the device's */
};

extern const struct lift_limits lift_usual_limits; /* PoCL's limits on this kind of computer */

struct lift_space;

/*
 * Prepares the points of a layer: a single image, no groups, no dilation. `only` leaves some values of parameters, and
 * is "" for all: "tile=6+8,lanes=8". Returns 0, or with a line in why: -EINVAL, a slip in `only`; -ENOTSUP, the layer
 * is not supported, or no point fulfils all constraints, with the constraint that rules out the last point.
 */
int lift_space_new(struct lift_space **s, const struct conv_problem *layer, const struct lift_limits *limits,
                   const char *only, struct exp_why *why);
void lift_space_free(struct lift_space *s); /* NULL is fine */

/*
 * Draws a point: each parameter in order, from the values that earlier parameters leave and that can be completed. No
 * drawn point is refused. *state is a random number's state (any value), and is changed.
 */
void lift_draw(struct lift_space *s, uint64_t *state, struct lift_point *p);

/* Draws a point near another point: keeps the values of `near` as far as possible, but for a single parameter. */
void lift_draw_near(struct lift_space *s, uint64_t *state, const struct lift_point *near, struct lift_point *p);

/*
 * Returns the name of a constraint that the point does not fulfil; NULL: the point fulfils all. Independent of
 * lift_draw.
 */
const char *lift_violated(const struct conv_problem *layer, const struct lift_limits *limits,
                          const struct lift_point *p);

/* ---- the text (program.c) ---- */

enum lift_role {
    LIFT_INPUT,   /* [c][h][w] */
    LIFT_FILTERS, /* in the order of lift_lay_filters */
    LIFT_PADDED,  /* of a band: [rows][columns][c] */
    LIFT_PARTIAL, /* of a band: [tile][filter group][window][chunk][kernels] */
    LIFT_SUMS,    /* of a band, if there is more than a single chunk: [tile][filter group][window][kernels] */
    LIFT_OUTPUT,  /* [k][p][q] */
    LIFT_N_ROLES
};

extern const char *const lift_roles[LIFT_N_ROLES]; /* names, also of the kernels' arguments */

enum { LIFT_MOST_KERNELS = 4, LIFT_MOST_ARGS = 3 };

/* void name(args..., int band). Arguments are const but for the last. */
struct lift_kernel {
    const char *name; /* "pad", "convolve", "sum", "crop", "naive" */
    enum lift_role arg[LIFT_MOST_ARGS];
    size_t n_args;
    size_t global[2], local[2]; /* work-items; local divides global, and is required by the text */
};

/*
 * For each band, 0 .. n_bands - 1, all kernels run in order: for (band) for (kernel) for (work-group) ...
 * Dimension 0 is the innermost dimension of groups and of items. There are no barriers and no local memory.
 *
 * The text is OpenCL C 1.2 and, with a few macros, C with vectors of gcc and clang. The text uses, and an including
 * file may define before: __kernel, __global, get_group_id, get_local_id, get_global_id, vload<n>(offset, pointer),
 * vstore<n>(value, offset, pointer), dot, float2 to float16; and three macros, defined by the text if not before:
 *   GROUP(x, y)   the attribute of the work-group's size; before the kernel's name and result type
 *   LANE(v, i)    element i of a vector, a hexadecimal digit
 *   SPLAT(t, x)   a vector of type t with x in all lanes
 */
struct lift_program {
    char *text;
    const char *flags; /* to compile it with */
    struct lift_kernel kernel[LIFT_MOST_KERNELS];
    size_t n_kernels, n_bands;
    size_t bytes[LIFT_N_ROLES]; /* 0: there is no buffer of this role */
    double useful_macs, macs;   /* of the layer; of all computed windows, padding included */
};

/*
 * Write the text of a point, which must fulfil the constraints; and the text with a single output for each work-item.
 * flags is an index of lift_flags.
 */
void lift_program_make(struct lift_program *g, const struct conv_problem *layer, const struct lift_point *p);
void lift_program_naive(struct lift_program *g, const struct conv_problem *layer, unsigned flags);
void lift_program_release(struct lift_program *g);
size_t lift_program_bytes(const struct lift_program *g); /* of all buffers */

/*
 * Lays filters [k][c][r][s] out in the order of the point's text: into as many floats. The naive text needs no change.
 */
void lift_lay_filters(const struct conv_problem *layer, const struct lift_point *p, const float *from, float *to);

#endif
