/*
 * Finds where the time of one convolution goes: a back-end that executes and adds up the time per kind of step. The
 * clock is read only where the kind changes, so that a row of micro-kernels costs two readings; the nest's own time
 * counts as its step's.
 */
#ifndef EXPERIMENTS_EXP_PHASES_H
#define EXPERIMENTS_EXP_PHASES_H

#include <stdint.h>

#include "experiments/base/exp_error.h"
#include "experiments/setup/exp_algo.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/backend_blas.h"

struct exp_phases {
    uint64_t step_ns[CONV_N_STEP_KINDS];
    uint64_t total_ns; /* what no kind claims is the start and the end */
};

uint64_t exp_phases_packing_ns(const struct exp_phases *x); /* windows, filters, OpenBLAS's copies of the matrix */
uint64_t exp_phases_kernel_ns(const struct exp_phases *x);  /* micro-kernels and direct kernels */
uint64_t exp_phases_other_ns(const struct exp_phases *x);   /* neither im2col nor packing nor kernels */

void exp_phases_add(struct exp_phases *sum, const struct exp_phases *x);

/* Runs a plan's nest. Returns what the nest returned. */
int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases);

/*
 * Finds the routines that the baseline's steps need. They are known only where the blocking of the very core that runs
 * is on record. Returns 0, or -ENOENT with one line in why.
 */
int exp_phases_find_parts(struct conv_blas_parts *parts, const struct exp_setup *s, struct exp_why *why);

/* Runs the baseline step by step with OpenBLAS's own routines; plan as conv_blas_exec wants it. */
int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind,
                        const struct conv_blas_parts *parts, uint64_t (*now_ns)(void), struct exp_phases *phases);

#endif
