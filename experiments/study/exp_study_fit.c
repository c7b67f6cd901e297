#include "experiments/study/exp_study_fit.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 12, SWEEPS = 20000 };

static const double usual_error = 0.04;

/* Normal equations: half the gradient of the squared error is matrix * cost - target. */
struct equations {
    double matrix[EXP_STUDY_MAX_TERMS][EXP_STUDY_MAX_TERMS], target[EXP_STUDY_MAX_TERMS];
};

double exp_study_sum(const struct exp_study_sample *sample, size_t n_terms, const double *cost)
{
    double sum = 0;

    for (size_t i = 0; i < n_terms; i++)
        sum += sample->amount[i] * cost[i];
    return sum;
}

/* Adds a sample, whose right answer is the ratio 1. */
static void add(struct equations *e, const struct exp_study_sample *s, size_t n_terms, double weight)
{
    for (size_t i = 0; i < n_terms; i++) {
        e->target[i] += weight * s->amount[i] / s->cycles;
        for (size_t j = 0; j < n_terms; j++)
            e->matrix[i][j] += weight * s->amount[i] / s->cycles * (s->amount[j] / s->cycles);
    }
}

/* Solves by turns: each cost is the best one for the others as they are, or 0. */
static void solve(const struct equations *e, size_t n_terms, double *cost)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t i = 0; i < n_terms; i++) {
            double rest = e->target[i];

            for (size_t j = 0; j < n_terms; j++)
                rest -= j == i ? 0 : e->matrix[i][j] * cost[j];
            cost[i] = e->matrix[i][i] > 0 ? fmax(0, rest / e->matrix[i][i]) : 0;
        }
    }
}

/* Returns the weight of a sample beside those that the costs so far explain. */
static double trust(const struct exp_study_sample *s, size_t n_terms, const double *cost)
{
    double sum = exp_study_sum(s, n_terms, cost);
    double error = sum > 0 ? fabs(log(sum / s->cycles)) : 0;

    return error > usual_error ? usual_error / error : 1;
}

void exp_study_fit(const struct exp_study_sample *sample, size_t n, size_t n_terms, double *cost)
{
    memset(cost, 0, n_terms * sizeof *cost);
    for (int round = 0; round < ROUNDS; round++) {
        struct equations e = { 0 };

        for (size_t i = 0; i < n; i++)
            add(&e, &sample[i], n_terms, sample[i].weight * trust(&sample[i], n_terms, cost));
        solve(&e, n_terms, cost);
    }
}
