/* Plans of the types beside f32 with tensors of their own, run and compared with plain loops. For tests. */
#ifndef TESTS_TYPED_PLANS_H
#define TESTS_TYPED_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/backend/backend.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/kcheck.h"

/* Rounds to the nearest bf16, to even. */
uint16_t typed_to_bf16(float x);
float typed_of_bf16(uint16_t x);

/* The tensors of a plan end before unmapped pages; in and filter are the elements' values. */
struct typed_tensors {
    struct kbuffer memory[CONV_N_TENSORS];
    struct conv_binding bind;
    float *in, *filter;
};

void typed_open(struct typed_tensors *t, const struct conv_plan *plan);
void typed_close(struct typed_tensors *t);

/* Fills input and filters at random. Exact: so that no sum is rounded. */
void typed_fill(struct typed_tensors *t, const struct conv_plan *plan, bool exact);

/* Packs filters and runs the nest. */
void typed_execute(const struct conv_plan *plan, const struct typed_tensors *t);

/* Checks all outputs against plain loops, within a bound on errors of floats. */
void typed_compare(const struct conv_plan *plan, const struct typed_tensors *t, bool exact);

/* Makes a plan of random tiles and options; the problem gets the micro-kernel's type. */
struct conv_plan typed_random_plan(struct conv_problem *p, const struct conv_ukr *u);

#endif
