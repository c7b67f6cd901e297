/* The sentences of a verdict about simulated and estimated cycles. */
#ifndef EXPERIMENTS_RUN_VERDICT_CYCLES_H
#define EXPERIMENTS_RUN_VERDICT_CYCLES_H

#include <stdio.h>

#include "experiments/run/run.h"

/* Says a variant's speed-up by cycles, beside the measured speed-up if there is any, and why. */
void verdict_say_estimates(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out);

/* Says how far simulated cycles are from measured cycles, row by row, and whether both order rows alike. */
void verdict_say_cycles_errors(const struct exp_verdict *v, FILE *out);

/* Says that no time confirms simulated cycles, or estimates. */
void verdict_say_unproven(const struct exp_verdict *v, FILE *out);

#endif
