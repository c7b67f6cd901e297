/*
 * A study of compiled code's accesses to its stack: every algorithm's layers are observed, and the cost of a unit of
 * each kind of work is fitted.
 */
#ifndef EXPERIMENTS_OBSERVE_STACK_STUDY_H
#define EXPERIMENTS_OBSERVE_STACK_STUDY_H

#include "counters/watch/watch.h"
#include "experiments/bench/case/case.h"
#include "kernels/backend/stack.h"

/* One layer by one algorithm: work and stack accesses per phase; lines of 64 bytes touched by the accesses. */
struct exp_stack_sample {
    const char *algo, *ukr, *layer;
    double work[CONV_N_PHASES][CONV_N_WORKS];
    double loads[CONV_N_PHASES], stores[CONV_N_PHASES];
    double instructions[CONV_N_PHASES], branches[CONV_N_PHASES]; /* all 0: the observer counts neither */
    double lines[CONV_N_PHASES];
    bool is_other_work; /* the run differs from the replay, and is useless for a fit */
};

/*
 * Adds up the work of a case's steps: s->work. s has the stack accesses of the guest's run of the case (exp_guest_run);
 * accesses of the guest's own functions are left out.
 */
void exp_stack_measure_work(struct exp_stack_sample *s, const struct exp_case *c);
void exp_stack_take_seen(struct exp_stack_sample *s, const struct watch_result *seen);

/*
 * Fits all phases to n samples of one algorithm and micro-kernel, by non-negative least squares of errors as shares of
 * a sample's accesses to tensors and stack in all phases. Lines are the samples' mean.
 */
void exp_stack_fit(struct conv_stack *stack, const struct exp_stack_sample *const sample[], size_t n);

/* All observed loads and stores of a sample, including tensors; and the excess by the fitted stack. */
struct exp_stack_error {
    double all_loads, all_stores, loads, stores;
};
struct exp_stack_error exp_stack_compare(const struct conv_stack *stack, const struct exp_stack_sample *s);

#endif
