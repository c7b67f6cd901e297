/* Small nests of loops, and plain searches in the nests: the tests of PolyDL's analyses compare with the searches. */
#ifndef TESTS_EXPERIMENTS_POLYDL_NESTS_H
#define TESTS_EXPERIMENTS_POLYDL_NESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/papers/polydl/analysis/affine.h"
#include "experiments/papers/polydl/variants.h"

/* C[i][j] += A[i][k] * B[k][j], the paper's Figure 4. */
struct exp_affine_nest polydl_gemm(uint64_t m, uint64_t n, uint64_t k);

/* Up to four loops and accesses of up to two arrays. */
struct exp_affine_nest polydl_random_nest(void);

/* The paper's Figure 8 with the outer loops in any order, of a few iterations each; img is parallel. */
struct exp_variant polydl_random_convolution(uint64_t block);

uint64_t polydl_iterations(const struct exp_affine_nest *n);
struct exp_affine_point polydl_iteration(const struct exp_affine_nest *n, uint64_t number);

/* Counts the elements touched by a range of iterations, by sorting all elements. */
uint64_t polydl_touched(const struct exp_affine_nest *n, uint64_t first, uint64_t last);

/* A plain search's result for a dependence: numbers of iterations. */
struct polydl_found {
    uint64_t source, first, last;
    bool exists, spans_parallel;
};

/* Searches for pairs of accesses to one element, by their numbers in the nest, that differ first in a loop. */
struct polydl_found polydl_search(const struct exp_affine_nest *n, size_t source, size_t target, size_t loop);

#endif
