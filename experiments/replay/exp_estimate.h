/*
 * An estimate of the time of one replayed case: what its instructions need to issue, plus what its loads wait.
 *
 *   issue   per phase the slowest of: multiply-add instructions (micro-kernel), load instructions, store
 *           instructions, each divided by what the machine file says the core issues per cycle. Phases follow one
 *           another. Branches, address arithmetic, permutations and dependencies cost nothing
 *   memory  SConv Eq. 6 with the simulated counts: loads served by each level beyond the first, and by memory,
 *           times its latency. Nothing overlaps and nothing is prefetched
 *
 * Their sum is an estimate for comparing algorithms and schedules, not a prediction of time: on real cores, most of the
 * second term hides behind the first.
 */
#ifndef EXPERIMENTS_EXP_ESTIMATE_H
#define EXPERIMENTS_EXP_ESTIMATE_H

#include "experiments/setup/exp_case.h"

struct exp_estimate {
    double issue_cycles, memory_cycles, total_cycles;
    double packing_cycles; /* of the total: lowering to the im2col matrix, and packing */
};

/* Says why a machine's cases cannot be estimated: a key that its file lacks; NULL if they can. */
const char *exp_estimate_why_not(const struct sim_machine *m);

/* Does the same for one of its cases: also why that was not replayed. */
const char *exp_estimate_why_not_case(const struct sim_machine *m, const struct exp_case *c);

/* Estimates a case that has been replayed on the machine. */
struct exp_estimate exp_estimate(const struct sim_machine *m, const struct exp_case *c);

/* Does the same from counts of each phase, and the multiply-adds that the micro-kernels issue. */
struct exp_estimate exp_estimate_phases(const struct sim_machine *m, const struct sim_cell phase[CONV_N_PHASES],
                                        uint64_t mac_instructions);

void exp_estimate_add(struct exp_estimate *sum, const struct exp_estimate *e);

#endif
