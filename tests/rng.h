/* Seeded random numbers for the tests (xoshiro256**): every test starts from the run's printed seed. */
#ifndef TESTS_RNG_H
#define TESTS_RNG_H

#include <stddef.h>
#include <stdint.h>

void rng_seed(uint64_t seed);
uint64_t rng_u64(void);
uint64_t rng_below(uint64_t n);                 /* uniform in [0, n), n >= 1 */
int64_t rng_range(int64_t low, int64_t high);   /* uniform in [low, high] */
double rng_unit(void);                          /* uniform in [0, 1) */
void rng_floats(float *x, size_t n);            /* uniform in [-1, 1) */
void rng_small_ints(float *x, size_t n, int m); /* integers in [-m, m], exactly representable */

#endif
