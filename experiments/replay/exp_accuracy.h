/*
 * How far an estimate is from the clock, over the layers where both are known.
 */
#ifndef EXPERIMENTS_EXP_ACCURACY_H
#define EXPERIMENTS_EXP_ACCURACY_H

#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_ratio.h"

struct exp_accuracy_pair {
    double estimated; /* a speed-up; NaN: not estimated */
    struct exp_ratio measured;
};

struct exp_accuracy {
    size_t n;                /* layers with both; 0: nothing below means anything */
    double p10, median, p90; /* of estimated / measured */
    size_t n_sided, n_right; /* layers whose measured ratio takes a side of 1; of those, estimated on the same one */
};

/* What the two estimates of a time assume (exp_estimate.h). */
#define EXP_IF_ALL_HIT "if all loads hit the first level"
#define EXP_IF_ALL_WAIT "if all loads wait"

/* Compares; pair[] is used up. */
struct exp_accuracy exp_accuracy_of(struct exp_accuracy_pair *pair, size_t n);

/* Prints "estimated / measured 0.91, 1.20, 1.75 (p10, median, p90 of 13 layers), on the right side of 1 in 9 of 12". */
void exp_accuracy_print(const struct exp_accuracy *a, FILE *out);

/*
 * Prints an estimate of the whole beside its time: "1.20 if all loads wait, measured 1.10; estimated / measured ...".
 * One on the wrong side of 1 is withdrawn, in words.
 */
void exp_accuracy_say(const struct exp_accuracy *a, double estimate, const char *assumption, struct exp_ratio measured,
                      FILE *out);

#endif
