/*
 * An estimate of the time of one replayed case: the issue of the instructions, plus the waiting of the loads.
 *
 *   issue   per phase the slowest of: multiply-add instructions (micro-kernel), load instructions, store
 *           instructions, each divided by the core's rate in the machine file. Phases follow one another.
 *           Branches, address arithmetic, permutations and dependencies cost nothing
 *   memory  SConv Eq. 6 with the simulated counts: loads served by each level beyond the first, and by memory,
 *           times its latency. Nothing overlaps and nothing is prefetched
 *
 * The sum is an estimate for comparing algorithms and schedules, not a prediction of time: on real cores, most of the
 * second term hides behind the first.
 */
#ifndef EXPERIMENTS_BENCH_CASE_ESTIMATE_H
#define EXPERIMENTS_BENCH_CASE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/stats.h"
#include "experiments/bench/case/case.h"

enum { EXP_N_NAMED_LEVELS = 3 }; /* L1, L2, L3: the first, second and last level */

struct exp_estimate {
    double issue_cycles, memory_cycles, total_cycles;
    double packing_cycles; /* of the total: lowering to the im2col matrix, and packing */
    const char *why;       /* NULL: estimated; else the reason why all numbers are NaN */
};

/* Says why a machine's cases cannot be estimated: a key missing in the machine's file; or NULL. */
const char *exp_estimate_why_not(const struct sim_machine *m);

struct exp_estimate exp_no_estimate(const char *why);

/* Estimates a case on the machine. A case that was not replayed has no estimate. */
struct exp_estimate exp_estimate(const struct sim_machine *m, const struct exp_case *c);

/* Estimates from counts of each phase, and the micro-kernels' multiply-adds. */
struct exp_estimate exp_estimate_phases(const struct sim_machine *m, const struct sim_cell phase[CONV_N_PHASES],
                                        uint64_t mac_instructions);

/* A sum has the reason of the first estimate that is missing. */
void exp_estimate_add(struct exp_estimate *sum, const struct exp_estimate *e);

/* How far an estimate is from the clock, over the layers with both numbers. */

struct exp_accuracy_pair {
    double estimated; /* a speed-up; NaN: not estimated */
    struct exp_ratio measured;
};

struct exp_accuracy {
    size_t n;                /* layers with both; 0: the members below mean nothing */
    double p10, median, p90; /* of estimated / measured */
    size_t n_sided, n_right; /* layers whose measured ratio takes a side of 1; layers estimated on this side */
};

/* The assumption of the two estimates of a time (estimate.h). */
#define EXP_IF_ALL_HIT "if all loads hit the first level"
#define EXP_IF_ALL_WAIT "if all loads wait"

/* Compares; pair[] is used up. */
struct exp_accuracy exp_accuracy_of(struct exp_accuracy_pair *pair, size_t n);

/*
 * Prints a model's estimate beside the time: "1.20 if all loads wait, measured 1.10; estimated / measured ...", where
 * how is "estimated". An estimate on the wrong side of 1 is withdrawn, in words.
 */
void exp_accuracy_say(const struct exp_accuracy *a, const char *how, double estimate, const char *assumption,
                      struct exp_ratio measured, FILE *out);

/*
 * Errors of the estimates on machines where clocks were read: experiments/estimates/errors.csv (see the README there),
 * rows of `make judge` kept from these machines.
 */

/*
 * Prints one sentence for each machine, "On zen3 (timed at commit 7c6337b, ...): ...", all in one line; a sentence that
 * nothing is known if the file is missing or broken.
 */
void exp_known_errors_say(const char *experiments_dir, FILE *out);

/* Returns the simulated machine's level that stands for L1, L2 or L3 (0, 1, 2). */
size_t exp_named_level(const struct sim_stats *s, size_t name);

/*
 * Return the machine file's name of the level that stands for L1, L2 or L3, and the number of different levels: a
 * machine of two levels has no third.
 */
const char *exp_level_name(const struct sim_machine *m, size_t name);
size_t exp_n_level_names(const struct sim_machine *m);

/* Returns which of L1, L2, L3 (0, 1, 2) a machine's level stands for; EXP_N_NAMED_LEVELS: none. */
size_t exp_name_of_level(const struct sim_machine *m, size_t level);

/*
 * Says which three levels CSA plans for, if the machine has more: "CSA's L1, L2, L3 are L1, L2, L4; L3 is simulated and
 * stands in levels.csv and traffic.csv." Otherwise "".
 */
void exp_say_planned_levels(const struct sim_machine *m, char *text, size_t bytes);

/* Names the border beyond a level: "L2-L3", "L3-memory". */
void exp_border_name(const struct sim_machine *m, size_t name, char *text, size_t bytes);

/* Load misses of a named level; loads served by each level outwards: L2, L3, memory (0, 1, 2). */
double exp_load_misses(const struct sim_stats *s, const struct sim_cell *cell, size_t name);
double exp_loads_served(const struct sim_stats *s, const struct sim_cell *cell, size_t source);

/* Counts the lines that cross the border beyond a named level, both ways. */
double exp_lines_beyond(size_t n_levels, const struct sim_cell *cell, size_t name);

/*
 * Tells whether too few loads miss for a meaningful quotient of misses: less than EXP_FEW_PERCENT of the loads on
 * either side.
 */
bool exp_misses_are_few(double percent, double other_percent);

#define EXP_FEW_PERCENT 0.1

/* The level of columns of L3 and of columns named "alone". */
#define EXP_LAST_LEVEL "CSA's L3, the last level"
#define EXP_ALONE                                                                                                      \
    "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that"

/*
 * Relates misses to the work. Rates divide by loads; rates of algorithms with different numbers of loads do not
 * compare.
 */
double exp_per_1000_macs(double misses, double macs);

#endif
