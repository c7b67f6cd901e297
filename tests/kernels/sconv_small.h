/* The suites of libsconv have this in common: a small shape, and machines. */
#ifndef TESTS_KERNELS_SCONV_SMALL_H
#define TESTS_KERNELS_SCONV_SMALL_H

#include "kernels/lib/sconv.h"

/* A 3x3 convolution of five channels into seven, which many tests refuse for other reasons. */
extern const struct sconv_shape sconv_small;

enum { SMALL_IN = 5 * 9 * 9, SMALL_WEIGHTS = 7 * 5 * 9, SMALL_OUT = 7 * 9 * 9 }; /* floats */

/*
 * Returns one machine for a whole test; fails it at once if there is none. The toy one makes tiles small, so that every
 * loop of the nest has more than one turn.
 */
struct sconv_machine *sconv_small_machine(const char *path);

#endif
