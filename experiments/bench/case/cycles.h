/*
 * Cycles of a case: simulated ones, by the clock of the simulated core (sim/core/clock.h), beside those that it took.
 */
#ifndef EXPERIMENTS_BENCH_CASE_CYCLES_H
#define EXPERIMENTS_BENCH_CASE_CYCLES_H

#include "experiments/base/stats.h"
#include "experiments/base/value.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/case/estimate.h"

/*
 * Where the cycles of a replayed case go, by the clock of the simulated core (sim/core/clock.h).
 */
struct exp_cycles {
    double sum;
    double computing, packing;          /* what micro-kernels issue; what anything else does */
    double packing_sum, packing_memory; /* all but micro-kernels, with calls and waiting; of this, for memory */
    double calls, storing, translating;
    double waiting[EXP_N_NAMED_LEVELS]; /* for loads and lines from L2, L3 and memory */
};

/* The reason why there are no estimates where there are cycles. */
#define EXP_CYCLES_INSTEAD "simulated_cycles stand in its place"

/* A reason why there are none: no table of stacks has the algorithm with its micro-kernel. */
#define EXP_NO_WORK_ON_RECORD                                                                                          \
    "it is not known which instructions this algorithm executes with this micro-kernel, so no cycles can be simulated"

/* Says why a case has no cycles; NULL if it has. */
const char *exp_cycles_why_not(const struct exp_setup *s, const struct exp_case *c);

/* Sums up a case that has cycles. */
struct exp_cycles exp_cycles(const struct exp_case *c);

/* Returns the clock at which times are cycles: as measured while cases were timed, else clock_ghz of the machine. */
double exp_ran_at_ghz(const struct exp_setup *s);

/*
 * Returns the cycles that a case took on the simulated machine: counted ones, else its time (exp_times.low_mean) at the
 * clock that the core had then (exp_ran_at_ghz). why_elsewhere, NULL or why this computer is not the simulated machine,
 * stands against both.
 */
struct value exp_cycles_taken(const struct exp_setup *s, const struct exp_case *c, const char *why_elsewhere);

/* One case's cycles; NaN where they are not known. */
struct exp_cycles_pair {
    double taken, simulated;
};

/* Cycles that differ by less than this are as good as equal. */
#define EXP_CYCLES_TIE 1.03

/*
 * Return the quantiles of the errors without signs, in percent, and of simulated over taken cycles, of those of n pairs
 * that have both numbers.
 */
struct exp_spread exp_cycles_errors(const struct exp_cycles_pair *pair, size_t n);
struct exp_spread exp_cycles_quotients(const struct exp_cycles_pair *pair, size_t n);

/*
 * Tells whether the simulation puts two cases in the order in which they were: 1, or -1 if in the other one; 0 where
 * what they took is as good as equal, or something is not known.
 */
int exp_cycles_order(struct exp_cycles_pair a, struct exp_cycles_pair b);

#endif
