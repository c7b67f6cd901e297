/* Sums over the layers of an experiment: what model.csv and the closing table say about the whole network. */
#ifndef EXPERIMENTS_EXP_TOTALS_H
#define EXPERIMENTS_EXP_TOTALS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/replay/exp_estimate.h"

enum { EXP_N_NAMED_LEVELS = 3 }; /* L1, L2, L3: the first, second and last level */

struct exp_total {
    const char *algo; /* an algorithm, or a group: of its members, what CSA chose in every layer */
    const char *why_no_time, *why_no_counts, *why_not_simulated; /* NULL where there is a number */
    struct exp_times times;                                      /* sums over the layers */
    struct exp_ratio speedup;                                    /* over Base; of Base itself: 1 */
    const char *why_no_estimate;                                 /* likewise */
    struct exp_estimate estimate;
    double macs;
    double simulated_loads, alone_loads, measured_loads; /* alone: of caches alone */
    double simulated_misses[EXP_N_NAMED_LEVELS], alone_misses[EXP_N_NAMED_LEVELS], measured_misses[EXP_N_NAMED_LEVELS];
    double simulated_at[SIM_MAX_LEVELS], alone_at[SIM_MAX_LEVELS]; /* misses of each of the machine's levels */
};

/* Returns the simulated machine's level that stands for L1, L2 or L3 (0, 1, 2). */
size_t exp_named_level(const struct sim_stats *s, size_t name);

/*
 * Return how the machine's file calls the level that stands for L1, L2 or L3, and how many different ones there are: a
 * machine of two levels has no third.
 */
const char *exp_level_name(const struct sim_machine *m, size_t name);
size_t exp_n_level_names(const struct sim_machine *m);

/* Returns which of L1, L2, L3 (0, 1, 2) a machine's level stands for; EXP_N_NAMED_LEVELS: none. */
size_t exp_name_of_level(const struct sim_machine *m, size_t level);

/*
 * Says that CSA plans for three levels, and which, where the machine has more: "CSA's L1, L2, L3 are L1, L2, L4; L3 is
 * simulated and stands in levels.csv and traffic.csv." Otherwise "".
 */
void exp_say_planned_levels(const struct sim_machine *m, char *text, size_t bytes);

/* Names the border beyond such a level: "L2-L3", "L3-memory". */
void exp_border_name(const struct sim_machine *m, size_t name, char *text, size_t bytes);

/* Load misses of a named level, and loads that each level outwards served: L2, L3, memory (0, 1, 2). */
double exp_load_misses(const struct sim_stats *s, const struct sim_cell *cell, size_t name);
double exp_loads_served(const struct sim_stats *s, const struct sim_cell *cell, size_t source);

/*
 * Tells whether so few loads miss that a quotient of misses says nothing: less than EXP_FEW_PERCENT of either's own
 * loads.
 */
bool exp_misses_are_few(double percent, double other_percent);

#define EXP_FEW_PERCENT 0.1

/*
 * Relates misses to the work that was done. Rates divide by loads; where algorithms make different numbers of loads,
 * their rates do not compare.
 */
double exp_per_1000_macs(double misses, double macs);

/*
 * Sums up the experiment, in the order of the records; a group is summed up if all its members were selected. Returns
 * how many totals there are; total[] has room for EXP_N_ALGO_RECORDS. A number that one layer lacks is missing in the
 * total.
 */
size_t exp_totals(const struct exp_experiment *e, struct exp_total *total);

/*
 * Tells whether every timed algorithm's speed-up over the whole model stands (exp_stats.h); where Base was not timed,
 * whether its time does.
 */
bool exp_totals_stand(const struct exp_experiment *e);

/* Tells whether a case is one of those that a total sums up. */
bool exp_total_covers(const struct exp_total *t, const struct exp_case *c);

/* Returns the total of that record, or NULL. */
const struct exp_total *exp_total_find(const struct exp_total *total, size_t n, const struct exp_algo *algo);

#endif
