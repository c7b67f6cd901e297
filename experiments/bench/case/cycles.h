/*
 * Cycles of a case: simulated cycles, by the clock of the simulated core (sim/core/clock.h), beside the cycles taken.
 */
#ifndef EXPERIMENTS_BENCH_CASE_CYCLES_H
#define EXPERIMENTS_BENCH_CASE_CYCLES_H

#include "experiments/base/stats.h"
#include "experiments/base/value.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/case/estimate.h"

/* The parts of a case's cycles, by the clock of the simulated core (sim/core/clock.h). */
struct exp_cycles {
    const char *why; /* NULL: known; else the reason why the case has no cycles, and zeros */
    double sum;
    double computing, packing;          /* issue of micro-kernels; issue of all further code */
    double packing_sum, packing_memory; /* all but micro-kernels, with calls and waiting; its part for memory */
    double calls, storing, translating;
    double waiting[EXP_N_NAMED_LEVELS]; /* for loads and lines from L2, L3 and memory */
};

/* The reason for missing estimates beside simulated cycles. */
#define EXP_CYCLES_INSTEAD "simulated_cycles stand in its place"

/* A reason for missing cycles: no table of stacks has the algorithm with the micro-kernel. */
#define EXP_NO_WORK_ON_RECORD                                                                                          \
    "it is not known which instructions this algorithm executes with this micro-kernel, so no cycles can be simulated"

/* Returns why a plan has no cycles, or NULL. */
const char *exp_plan_why_no_cycles(const struct exp_setup *s, const struct exp_algo *a, const struct conv_plan *plan);

/* Sums up the cycles of a case. */
struct exp_cycles exp_cycles(const struct exp_setup *s, const struct exp_case *c);

/* Returns the clock that converts times into cycles: measured while cases were timed, else clock_ghz of the machine. */
double exp_ran_at_ghz(const struct exp_setup *s);

/*
 * Returns the cycles that a case took on the simulated machine: counted cycles, else the time (exp_times.low_mean) at
 * the core's clock during the timing (exp_ran_at_ghz). If why_elsewhere says why this computer is not the simulated
 * machine, the cycles are missing for this reason.
 */
struct value exp_cycles_taken(const struct exp_setup *s, const struct exp_case *c, const char *why_elsewhere);

/* One case's cycles; NaN: not known. */
struct exp_cycles_pair {
    double taken, simulated;
};

/* Cycles with a ratio below this count as equal. */
#define EXP_CYCLES_TIE 1.03

/*
 * Return the quantiles of the errors without signs, in percent, and of simulated over taken cycles, over the pairs with
 * both numbers.
 */
struct exp_spread exp_cycles_errors(const struct exp_cycles_pair *pair, size_t n);
struct exp_spread exp_cycles_quotients(const struct exp_cycles_pair *pair, size_t n);

/*
 * Tells whether the simulation puts two cases into their real order: 1; -1: into the reverse order; 0 if the taken
 * cycles count as equal or a number is not known.
 */
int exp_cycles_order(struct exp_cycles_pair a, struct exp_cycles_pair b);

#endif
