/*
 * Checks what holds for a convolution's shape, whatever its 16 fields are: it is refused exactly when something does
 * not fit, in one line that names a field and its value; or every plan of it is laid out in the address space, replays
 * nothing outside its tensors, at its first steps and at its last, and, where it is small, runs right.
 */
#ifndef TESTS_SHAPE_CHECK_H
#define TESTS_SHAPE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/problem.h"

struct shape_check {
    bool is_accepted, is_run; /* out */
    char why[512];            /* what does not hold; empty: everything does */
};

/* variant: chooses micro-kernel and core. */
bool shape_check(struct shape_check *check, const struct conv_problem *fields, size_t variant);

#endif
