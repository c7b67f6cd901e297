/*
 * Checks the shape of a convolution, whatever the 16 fields are. A wrong shape must be refused in a line that names a
 * field and its value. Every plan of a right shape must fit into the address space, replay nothing outside its tensors,
 * at the first steps and at the last, and, if the shape is small, run right.
 */
#ifndef TESTS_SHAPE_CHECK_H
#define TESTS_SHAPE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/problem.h"

struct shape_check {
    bool is_accepted, is_run; /* out */
    char why[512];            /* the error; empty: no error */
};

/* variant: chooses micro-kernel and core. */
bool shape_check(struct shape_check *check, const struct conv_problem *fields, size_t variant);

#endif
