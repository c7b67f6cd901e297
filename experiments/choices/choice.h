/*
 * A choice: a rule takes one of several alternatives for a layer, by a number; a yardstick gives the cost of each
 * alternative. The questions judge, study, validate and experiment ask: how many choices are right, and how much do
 * wrong choices cost?
 *
 *     struct exp_choice c = { .n = 2, .by = { predicted_is, predicted_ws }, .cost = { timed_is, timed_ws } };
 *     struct exp_choice_sum sum = { 0 };
 *
 *     exp_choose(&c);
 *     exp_choice_add(&sum, &c);
 */
#ifndef EXPERIMENTS_CHOICES_CHOICE_H
#define EXPERIMENTS_CHOICES_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/bench/case/algo.h"

enum { EXP_CHOICE_MOST = EXP_MAX_ALGOS }; /* alternatives */

struct exp_choice {
    size_t n, chosen;                   /* alternatives, by number; n is set before, chosen by exp_choose */
    struct value by[EXP_CHOICE_MOST];   /* numbers that decide: the alternative of the least number is chosen */
    struct value cost[EXP_CHOICE_MOST]; /* by the yardstick */
    double pm[EXP_CHOICE_MOST];         /* half of the 95 % interval of a cost; 0: exact */
};

/* Chooses the alternative of the least number; of equal numbers, the first. All numbers must be known. */
void exp_choose(struct exp_choice *c);

/* Returns the alternative of the least cost; of equal costs, the first. */
size_t exp_choice_best(const struct exp_choice *c);

/* Return why a number is missing that decides, or a number or cost: the first reason; NULL: all are known. */
const char *exp_choice_lacks_number(const struct exp_choice *c);
const char *exp_choice_lacks_cost(const struct exp_choice *c);

/* Tell of a choice with known costs whether no alternative costs less, and whether all costs are equal. */
bool exp_choice_is_right(const struct exp_choice *c);
bool exp_choice_is_tie(const struct exp_choice *c);

/* Tells whether the costs' intervals leave the best alternative open: a further alternative may cost equally much. */
bool exp_choice_is_open(const struct exp_choice *c);

/* Tells whether the costs of two alternatives are known and differ by more than a factor of at least 1. */
bool exp_choice_matters(const struct exp_choice *c, double factor);

/* Sums over choices among equal alternatives. Starts from { 0 }. */
struct exp_choice_sum {
    const char *why;                  /* why a choice could not be judged, the first; NULL: all are in the sums */
    size_t n, n_right, n_tie;         /* choices; right choices; choices among equal costs, all right */
    size_t n_open;                    /* open choices */
    size_t n_chosen[EXP_CHOICE_MOST]; /* choices of each alternative */
    size_t n_best[EXP_CHOICE_MOST];   /* choices where an alternative costs least, shared or alone */
    double cost[EXP_CHOICE_MOST];     /* costs if an alternative is always chosen */
    double squares[EXP_CHOICE_MOST];  /* of these sums' half intervals */
    double chosen, best;              /* costs of the choices, and of the best alternatives */
};

/* Adds a choice; a choice with an unknown cost adds a reason alone. */
void exp_choice_add(struct exp_choice_sum *s, const struct exp_choice *c);

/* Return the share of right choices, and the costs of the choices beyond the best costs; NaN: nothing is added. */
double exp_choice_right_percent(const struct exp_choice_sum *s);
double exp_choice_regret_percent(const struct exp_choice_sum *s);

/* ---- picks.c: choices among the algorithms of an experiment by simulated cycles, judged by cycles taken ---- */

struct exp_report;

/* Writes picks.csv. Returns 0, or -errno with a line in why. */
int exp_picks_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Says the choices in a sentence or two; "" if there are no simulated cycles. */
void exp_picks_say(const struct exp_report *r, char *text, size_t bytes);

extern const struct rec_table exp_picks_table;

#endif
