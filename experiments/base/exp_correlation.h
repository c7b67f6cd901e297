/* How far two lists of numbers agree on an order. Pure functions; arrays are not changed. */
#ifndef EXPERIMENTS_EXP_CORRELATION_H
#define EXPERIMENTS_EXP_CORRELATION_H

#include <stddef.h>

/*
 * Return Spearman's rank correlation, and Kendall's (tau-b); pairs with a value that is not finite are left out. NaN for
 * fewer than three pairs, where all values of a list are equal, or on lack of memory. Quadratic time.
 */
double exp_correlation_spearman(const double *x, const double *y, size_t n);
double exp_correlation_kendall(const double *x, const double *y, size_t n);

#endif
