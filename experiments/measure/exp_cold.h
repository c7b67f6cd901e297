/*
 * Empty caches for a timed run: what it will use is flushed, line by line, its tensors and the buffer in which OpenBLAS
 * packs. Where the CPU family has no instruction for that, or OpenBLAS's buffer cannot be found, a buffer of twice the
 * last-level cache is written instead, which takes a hundred times as long on a server.
 */
#ifndef EXPERIMENTS_EXP_COLD_H
#define EXPERIMENTS_EXP_COLD_H

#include <stddef.h>

#include "experiments/setup/exp_algo.h"
#include "experiments/setup/exp_tensors.h"

struct exp_cold {
    const struct conv_gemm_core *core; /* that OpenBLAS runs on, if its blocking is on record */
    unsigned char *blas_buffer;        /* NULL: OpenBLAS does not run here */
    unsigned char *sweep;              /* NULL: lines are flushed */
    size_t sweep_bytes;
};

/* Returns 0 or -ENOMEM. */
int exp_cold_init(struct exp_cold *c, const struct exp_setup *setup);
void exp_cold_release(struct exp_cold *c); /* one that is all zeros is fine */

/* Empties the caches of everything that a run of this plan on these tensors uses. */
void exp_cold_empty(struct exp_cold *c, const struct conv_plan *plan, const struct exp_tensors *t);

/* Says in words what is done, for host.txt. */
void exp_cold_describe(const struct exp_cold *c, char *text, size_t bytes);

#endif
