/*
 * A budget of time for jobs whose length is only guessed beforehand. How long a guessed second really takes is learned
 * from the jobs that have ended; a job that would not end within the budget is not to be begun. Thread-safe.
 */
#ifndef EXPERIMENTS_EXP_BUDGET_H
#define EXPERIMENTS_EXP_BUDGET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exp_budget {
    pthread_mutex_t lock;
    uint64_t (*now_ns)(void);
    uint64_t start_ns;
    unsigned limit_s; /* 0: none */
    double guessed, spent;
};

/* Starts the clock. */
void exp_budget_init(struct exp_budget *b, unsigned limit_s, uint64_t (*now_ns)(void));
void exp_budget_release(struct exp_budget *b);

double exp_budget_spent(const struct exp_budget *b); /* seconds since the start */
double exp_budget_left(const struct exp_budget *b);  /* infinity without a limit; never negative */

/* Tells whether a job of so many guessed seconds, begun now, would end in time. */
bool exp_budget_allows(struct exp_budget *b, double guessed);

/*
 * The guessed seconds that a job may take, of n_left that have not begun, itself among them, on n_threads threads: an
 * equal share of what is left, less a reserve for wrong guesses. Who asks shortest jobs first leaves what these do not
 * need to the longer ones. Infinity without a limit.
 */
double exp_budget_quota(struct exp_budget *b, size_t n_left, size_t n_threads);

/* A job of so many guessed seconds has ended, and really took so many. */
void exp_budget_learn(struct exp_budget *b, double guessed, double spent);

#endif
