/* From what was observed of several layers to what a unit of each kind of work costs. */
#ifndef EXPERIMENTS_EXP_STACK_FIT_H
#define EXPERIMENTS_EXP_STACK_FIT_H

#include "kernels/backend/stack.h"

/* One layer by one algorithm: work and stack accesses per phase; lines of 64 bytes that these touched. */
struct exp_stack_sample {
    const char *algo, *ukr, *layer;
    double work[CONV_N_PHASES][CONV_N_WORKS];
    double loads[CONV_N_PHASES], stores[CONV_N_PHASES];
    double lines[CONV_N_PHASES];
    bool is_other_work; /* what ran is not what is replayed: of no use to a fit */
};

/*
 * Fits all phases to n samples of one algorithm and micro-kernel, by non-negative least squares of errors as shares of
 * a sample's accesses to tensors and stack in all phases. Lines are the samples' mean.
 */
void exp_stack_fit(struct conv_stack *stack, const struct exp_stack_sample *const sample[], size_t n);

/* Return what a stack says of a sample's phase. */
double exp_stack_loads(const struct conv_stack *stack, const struct exp_stack_sample *s, unsigned phase);
double exp_stack_stores(const struct conv_stack *stack, const struct exp_stack_sample *s, unsigned phase);

/* All loads and stores of a sample as observed, those to tensors included; and how many too many the stack says. */
struct exp_stack_error {
    double all_loads, all_stores, loads, stores;
};
struct exp_stack_error exp_stack_compare(const struct conv_stack *stack, const struct exp_stack_sample *s);

#endif
