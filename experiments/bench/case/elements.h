/* The elements of tensors in memory, of every element type (kernels/shape/type.h): values, reproducible and decoded. */
#ifndef EXPERIMENTS_BENCH_CASE_ELEMENTS_H
#define EXPERIMENTS_BENCH_CASE_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/shape/problem.h"
#include "kernels/shape/tensor.h"

/* ---- f32 ---- */

/*
 * Fills a tensor with small integers from a linear congruence: equal for equal seeds, on every machine; different for
 * different seeds.
 */
void exp_tensors_fill(float *x, size_t bytes, uint64_t seed);

/* The root mean square of the values, which are evenly distributed around 0. */
double exp_tensors_rms(void);

/* Tells whether every partial sum of tensors that exp_tensors_fill has filled is an integer below 2^24. */
bool exp_tensors_exact(const struct conv_problem *p);

/*
 * Change tensors before a timed run, so that the run cannot reuse the result of an earlier run. Equal seeds give equal
 * values.
 *
 * Even seeds give small integers, like exp_tensors_fill. Odd seeds give small integers times a factor of 21 bits; a run
 * that computes with fewer bits than a float then has a visible error. exp_input_renew changes all n elements.
 * exp_input_change changes one line of 64 bytes in 16; the caches still hold the unchanged lines.
 */
void exp_input_renew(float *x, size_t n, uint64_t seed);
void exp_input_change(float *x, size_t n, uint64_t seed);

/* Set elements to NaN: all n elements, or only the lines that exp_input_change changes for this seed. */
void exp_output_spoil(float *x, size_t n);
void exp_output_spoil_some(float *x, size_t n, uint64_t seed);

/* ---- every type ---- */

/*
 * Fills an input or a filter: f32 and bf16 with small integers (exp_tensors_fill), exact in bf16; types of bytes with
 * any bytes. Equal seeds give equal values.
 */
void exp_elements_fill(void *x, size_t bytes, enum conv_type type, uint64_t seed);

/* Changes some lines of an input: of f32 as exp_input_change; of other types as many lines, filled anew. */
void exp_elements_change(void *x, size_t bytes, enum conv_type type, uint64_t seed);

/* Returns the values of an input or a filter; of f32 x itself. The others are from malloc: exp_elements_release. */
const float *exp_elements_values(const void *x, size_t bytes, enum conv_type type, enum conv_tensor tensor);
void exp_elements_release(const float *values, enum conv_type type);

/* Returns the value of an output: f32, or s32 of types of bytes. */
double exp_element_of_output(const void *out, size_t i, enum conv_type type);

/*
 * Returns the allowed distance of a right output from the sum of products in doubles; magnitude is the sum of absolute
 * products. 0 for types of bytes. A product of two bf16 is exact in f32, and each product is added once, so sums of
 * bf16 err at most as sums of floats (conv_error_bound).
 */
double exp_element_bound(const struct conv_problem *p, double magnitude);

/* Tells whether sums of exp_elements_fill's values are exact in the type of the output. */
bool exp_elements_exact(const struct conv_problem *p);

#endif
