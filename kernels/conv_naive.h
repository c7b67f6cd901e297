/* The oracle: a convolution as plain loops, accumulating in double. It shares no code with the kernels. */
#ifndef KERNELS_CONV_NAIVE_H
#define KERNELS_CONV_NAIVE_H

#include <stddef.h>

#include "kernels/shape/problem.h"

/*
 * Computes an output plane: image n, filter k, all p * q windows.
 *
 *   in         [n][c][h][w]
 *   filter     [k][c / groups][r][s]
 *   plane      [p][q] sums
 *   magnitude  [p][q] sums of the absolute products, for error bounds; NULL if not wanted
 */
void conv_naive_plane(const struct conv_problem *p, const float *in, const float *filter, size_t n, size_t k,
                      double *plane, double *magnitude);

/*
 * Returns the largest error of a float kernel in a sum of len products of total magnitude m, in any order of summation:
 * |error| <= (len + 1) * eps * m * (1 + small). The error is 0 if all partial sums are integers below 2^24.
 */
double conv_error_bound(size_t len, double magnitude);

/*
 * Compares out [n][k][p][q] with the oracle, plane by plane. With exact, values must be equal; otherwise within
 * conv_error_bound. Returns 0; -ENOMEM; or -EILSEQ and the first differing element (flattened index) and both values.
 */
struct conv_mismatch {
    size_t index;
    double got, want, bound;
};

int conv_naive_compare(const struct conv_problem *p, const float *in, const float *filter, const float *out, bool exact,
                       struct conv_mismatch *where);

#endif
