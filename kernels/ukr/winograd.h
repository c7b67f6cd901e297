/*
 * Winograd's minimal filtering: the transforms of F(m x m, 3 x 3), m = 2 or 4, around products of matrices. The output
 * is cut into tiles of m x m windows. A tile reads e x e elements of each channel, e = m + 2:
 *
 *     V = B' d B     the input of a tile, d
 *     U = G g G'     a filter, g
 *     Y = A' (sum over channels of U * V, element by element) A
 *
 * The sum is e * e products of a matrix of filters by a matrix of tiles. A micro-kernel (ukr.h) computes the products
 * from packed panels: the input's transform packs windows on demand, and the output's transform stores outputs. With the
 * points 0, 1, -1, 2, -2 and infinity (of m = 2: 0, 1, -1 and infinity) the matrices are those of Lavin and Gray (2016):
 *
 *     m = 2: B' = [ 1  0 -1  0 ]  G = [  1    0    0  ]  A' = [ 1  1  1  0 ]
 *                 [ 0  1  1  0 ]      [ 1/2  1/2  1/2 ]       [ 0  1 -1 -1 ]
 *                 [ 0 -1  1  0 ]      [ 1/2 -1/2  1/2 ]
 *                 [ 0  1  0 -1 ]      [  0    0    1  ]
 *     m = 4: B' = [ 4  0 -5  0  1  0 ]  G = [  1/4    0     0  ]  A' = [ 1  1  1  1  1  0 ]
 *                 [ 0 -4 -4  1  1  0 ]      [ -1/6  -1/6  -1/6 ]       [ 0  1 -1  2 -2  0 ]
 *                 [ 0  4 -4 -1  1  0 ]      [ -1/6   1/6  -1/6 ]       [ 0  1  1  4  4  0 ]
 *                 [ 0 -2 -1  2  1  0 ]      [ 1/24  1/12   1/6 ]       [ 0  1 -1  8 -8  1 ]
 *                 [ 0  2 -1 -2  1  0 ]      [ 1/24 -1/12   1/6 ]
 *                 [ 0  4  0 -5  0  1 ]      [   0     0     1  ]
 *
 * NaN and infinity: an output of a tile depends on all e x e elements of the tile. A NaN or an infinity of the input
 * spreads to all outputs of the tiles that read the element, and infinities become NaN; so do sums that overflow in a
 * transform. Direct convolutions have the NaN or the infinity only where a window reads the element.
 */
#ifndef KERNELS_WINOGRAD_H
#define KERNELS_WINOGRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/shape/layout.h"
#include "kernels/shape/problem.h"
#include "kernels/ukr/ukr.h"
#include "sim/base/access.h"
#include "sim/cpu.h"

enum { CONV_WINOGRAD_TAPS = 3, CONV_WINOGRAD_MAX_M = 4, CONV_WINOGRAD_MAX_E = 6 };

/*
 * A call transforms some tiles, side by side in the order of the image: of the input for each channel, of the output
 * for each filter. Product i of e * e, plane c and tile t lie at panel + i * product_step + c * width + t (elements).
 */
struct conv_winograd_args {
    const struct conv_problem *p;
    size_t tile_columns;   /* tiles of a row of the image */
    size_t tile0, n_tiles; /* n_tiles <= CONV_MAX_WIN */
    size_t n_planes;       /* channels, or filters */
    uint64_t planes;       /* the first input plane, or the first output plane */
    uint64_t panel;
    size_t product_step;
    size_t width; /* a multiple of the kernel's lanes; columns of the input past n_tiles hold any values */
};

/* The transform of filters, ahead of time: n_f filters of n_c channels into panels [e * e][n_c][n_f]. */
struct conv_winograd_filter_args {
    uint64_t filter; /* the first filter, OIHW */
    uint64_t panel;
    size_t product_step; /* elements between the panels of two products */
    size_t n_f, n_c;
};

struct conv_winograd;
typedef void (*conv_winograd_fn)(const struct conv_winograd_args *a);

struct conv_winograd {
    const char *name;    /* "f32_winograd_<m>x<m>__<isa>" */
    enum cpu_isa isa;    /* needed to run fn */
    size_t m;            /* 2 or 4 */
    size_t lanes;        /* floats of a vector: tiles side by side */
    conv_winograd_fn in; /* NULL: replay only, this build or CPU family cannot run the transforms */
    conv_winograd_fn out;
};

/* Returns e * e, the number of products. */
static inline size_t conv_winograd_products(const struct conv_winograd *w)
{
    return (w->m + CONV_WINOGRAD_TAPS - 1) * (w->m + CONV_WINOGRAD_TAPS - 1);
}

/* List all transforms, the portable transforms first. */
size_t conv_winograd_count(void);
const struct conv_winograd *conv_winograd_at(size_t i);

/*
 * Returns the transforms of m for a micro-kernel's panels: of the micro-kernel's instruction set, if the panels are
 * whole vectors, else portable.
 */
const struct conv_winograd *conv_winograd_for(size_t m, const struct conv_ukr *u);

/* Tells whether this build and this CPU can execute the transforms. */
bool conv_winograd_runs(const struct conv_winograd *w);

/* Says in a line why Winograd does not compute the shape, or NULL. */
const char *conv_winograd_why_not(const struct conv_problem *p);

/* Tells whether a micro-kernel computes the products: panels of the filters of a tile, and no splitting of edges. */
bool conv_winograd_takes_ukr(const struct conv_ukr *u);

/* Emit the loads and stores of in and of out, in their order. */
void conv_winograd_in_emit(const struct conv_winograd *w, const struct conv_winograd_args *a, struct sim_sink *sink);
void conv_winograd_out_emit(const struct conv_winograd *w, const struct conv_winograd_args *a, struct sim_sink *sink);

/* Transforms filters; computes in double, and rounds once. */
void conv_winograd_filters(size_t m, const struct conv_winograd_filter_args *a);
void conv_winograd_filters_emit(size_t m, const struct conv_winograd_filter_args *a, struct sim_sink *sink);

/*
 * ---- errors ----
 *
 * Computed in floats of unit roundoff u, an output's error is at most (Higham, Accuracy and Stability, section 3.1)
 *
 *     |error| <= gamma(n) * sum over channels of ( |A'| ( (|G| |g| |G'|) * (|B'| |d| |B|) ) |A| ),   gamma(n) = n u / (1 - n u)
 *
 * n: the most roundings on the way of a term: two passes of the input's transform (3 additions each, and a product with
 * 4 or 5 each), the rounding of the filter, a product and a sum over the channels, and two passes of the output's
 * transform. For elements of magnitude at most 1, the sum over a channel is at most K * K with the norm
 *
 *     K = max over i of sum over a of |A'[i][a]| * (sum over k of |G[a][k]|) * (sum over k of |B'[a][k]|)
 *
 * K is 8 for m = 2 and 48 for m = 4; a direct convolution has 3 in place of K.
 */

/* Returns n for n_c channels. */
size_t conv_winograd_roundings(size_t m, size_t n_c);

/* Returns K. */
double conv_winograd_norm(size_t m);

/* Returns the bound for n_c channels and elements of magnitude at most 1: gamma(n) * n_c * K * K. */
double conv_winograd_worst_error(size_t m, size_t n_c);

/*
 * Returns how far an output may be from the exact value, likely: roundings are taken as independent (Higham and Mary
 * 2019: lambda * sqrt(n) in place of n, lambda 8), and elements as independent, of mean 0, with the root mean squares
 * `in` and `filter`. Then squares add up: K2 = max over i of sum over a of A'[i][a]^2 * |G[a]|^2 * |B'[a]|^2, in place
 * of K, and sqrt(n_c) * in * filter * K2 is the scale of an output's terms.
 */
double conv_winograd_likely_error(size_t m, size_t n_c, double in, double filter);

/*
 * Computes the bound of Higham for each output of a plane, from the input of an image and a filter, both of n_c
 * channels: bound [p][q].
 */
void conv_winograd_error_bounds(size_t m, const struct conv_problem *p, const float *in, const float *filter,
                                double *bound);

#endif
