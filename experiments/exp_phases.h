/*
 * Where the time of one convolution goes: a back-end that executes and adds up the time per kind of step. The clock is
 * read only where the kind changes, so that a row of micro-kernels costs two readings; the nest's own time counts as
 * its step's.
 */
#ifndef EXPERIMENTS_EXP_PHASES_H
#define EXPERIMENTS_EXP_PHASES_H

#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/backend_blas.h"

struct exp_phases {
    uint64_t step_ns[CONV_N_STEP_KINDS];
    uint64_t total_ns; /* what no kind claims is the start and the end */
};

/* Runs a plan's nest. Returns what the nest returned. */
int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases);

/* Runs the baseline step by step with OpenBLAS's own routines; plan as conv_blas_exec wants it. */
int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind,
                        const struct conv_blas_parts *parts, uint64_t (*now_ns)(void), struct exp_phases *phases);

#endif
