/*
 * Where the time of one convolution goes: a back-end that executes and adds up the time per kind of step. The clock is read
 * only where the kind changes, so that a row of micro-kernels costs two readings; the nest's own time counts as its step's.
 */
#ifndef EXPERIMENTS_EXP_PHASES_H
#define EXPERIMENTS_EXP_PHASES_H

#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/base.h"

struct exp_phases {
    uint64_t step_ns[CONV_N_STEP_KINDS];
    uint64_t gemm_ns;  /* of the baseline: all of cblas_sgemm */
    uint64_t total_ns; /* what no kind claims is the start and the end */
};

/* Runs a plan's nest. Returns what the nest returned. */
int exp_phases_run(const struct conv_plan *plan, const struct conv_binding *bind, uint64_t (*now_ns)(void),
                   struct exp_phases *phases);

/*
 * Runs the baseline: step_ns[CONV_STEP_IM2COL], gemm_ns, total_ns. Returns 0 or what conv_base_run returns; -ENOTSUP for batches and
 * groups, whose matrices take turns in one buffer.
 */
int exp_phases_run_base(const struct conv_plan *plan, const struct conv_binding *bind, const struct conv_blas *blas,
                        uint64_t (*now_ns)(void), struct exp_phases *phases);

#endif
