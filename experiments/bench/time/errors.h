/* Rounding errors of algorithms that round more often than plain loops: Winograd's, beside SConv's. */
#ifndef EXPERIMENTS_BENCH_TIME_ERRORS_H
#define EXPERIMENTS_BENCH_TIME_ERRORS_H

#include "experiments/base/progress.h"
#include "experiments/bench/case/case.h"

/* Of outputs of tensors with values from -1 to 1, in float, against sums in double. */
struct exp_errors {
    double largest, sum, squares; /* of the errors; of the outputs */
    size_t n;
};

/* Adds the errors of some planes of a planned layer. Returns 0 or -ENOMEM. */
int exp_errors_add(struct exp_errors *errors, const struct conv_plan *plan);

/*
 * Runs every distinct layer of Winograd that runs here, and the layer's plan of tuned SConv, and notes the errors of
 * both in a line; without Winograd, nothing. Returns 0 or -ENOMEM.
 */
int exp_errors_note(const struct exp_experiment *e, struct exp_progress *progress);

#endif
