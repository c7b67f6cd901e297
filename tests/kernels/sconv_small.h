/* The small shape and the machines of libsconv's suites. */
#ifndef TESTS_KERNELS_SCONV_SMALL_H
#define TESTS_KERNELS_SCONV_SMALL_H

#include "kernels/lib/sconv.h"

/* A valid 3x3 convolution of five channels into seven, to which tests add their mistakes. */
extern const struct sconv_shape sconv_small;

enum { SMALL_IN = 5 * 9 * 9, SMALL_WEIGHTS = 7 * 5 * 9, SMALL_OUT = 7 * 9 * 9 }; /* floats */

/*
 * Returns a machine for a whole test; fails the test at once if the file is no machine. The toy machine makes tiles
 * small, so that every loop of the nest has more than one turn.
 */
struct sconv_machine *sconv_small_machine(const char *path);

#endif
