#include "experiments/observe/exp_budget.h"

#include <math.h>

/* Seconds for which the guesses are taken to be right, before any job has ended. */
static const double trusted_s = 0.5;

/* Jobs may use this share of what is left; the rest is for those that take longer than guessed. */
static const double used_share = 0.8;

void exp_budget_init(struct exp_budget *b, unsigned limit_s, uint64_t (*now_ns)(void))
{
    *b = (struct exp_budget){
        .now_ns = now_ns, .start_ns = now_ns(), .limit_s = limit_s, .guessed = trusted_s, .spent = trusted_s
    };
    pthread_mutex_init(&b->lock, NULL);
}

void exp_budget_release(struct exp_budget *b)
{
    pthread_mutex_destroy(&b->lock);
}

double exp_budget_spent(const struct exp_budget *b)
{
    return 1e-9 * (double)(b->now_ns() - b->start_ns);
}

double exp_budget_left(const struct exp_budget *b)
{
    return b->limit_s ? fmax(b->limit_s - exp_budget_spent(b), 0) : (double)INFINITY;
}

/* Real seconds that a guessed one takes. */
static double pace_of(struct exp_budget *b)
{
    double pace;

    pthread_mutex_lock(&b->lock);
    pace = b->spent / b->guessed;
    pthread_mutex_unlock(&b->lock);
    return pace;
}

bool exp_budget_allows(struct exp_budget *b, double guessed)
{
    return guessed * pace_of(b) < exp_budget_left(b);
}

double exp_budget_quota(struct exp_budget *b, size_t n_left, size_t n_threads)
{
    double n_running = (double)n_threads - 1; /* others that may have begun, and need their share yet */

    return used_share * exp_budget_left(b) * (double)n_threads / ((double)n_left + n_running) / pace_of(b);
}

void exp_budget_learn(struct exp_budget *b, double guessed, double spent)
{
    pthread_mutex_lock(&b->lock);
    b->guessed += guessed;
    b->spent += spent;
    pthread_mutex_unlock(&b->lock);
}
