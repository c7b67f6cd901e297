/* Caches emptied before a timed run. */
#ifndef EXPERIMENTS_BENCH_TIME_COLD_H
#define EXPERIMENTS_BENCH_TIME_COLD_H

#include <stddef.h>

#include "experiments/bench/case/case.h"
#include "experiments/bench/case/setup.h"

/*
 * Empty caches for a timed run: the tensors and OpenBLAS's packing buffer are flushed line by line. If the CPU family
 * has no instruction to flush, or if OpenBLAS's buffer cannot be found, a buffer of twice the last-level cache is
 * written, which takes a hundred times as long on a server.
 */
struct exp_cold {
    const struct conv_gemm_core *core; /* the core type of OpenBLAS, if its blocking is on record */
    unsigned char *blas_buffer;        /* NULL: OpenBLAS does not run here */
    unsigned char *sweep;              /* NULL: lines are flushed */
    size_t sweep_bytes;
};

void exp_cold_init(struct exp_cold *c, const struct exp_setup *setup);
void exp_cold_release(struct exp_cold *c); /* a zeroed struct is fine */

/* Removes from the caches all data that a run of this plan on these tensors uses. */
void exp_cold_empty(struct exp_cold *c, const struct conv_plan *plan, const struct exp_tensors *t);

/* Says in words how the caches are emptied, for host.txt. */
void exp_cold_describe(const struct exp_cold *c, char *text, size_t bytes);

#endif
