/*
 * The page makes of numbers what these formulas say, which the paper uses or its numbers imply. They are pure
 * functions.
 */
#ifndef EXPERIMENTS_EXP_PAPER_FORMULAS_H
#define EXPERIMENTS_EXP_PAPER_FORMULAS_H

#include <stddef.h>
#include <stdio.h>

#include "experiments/setup/exp_published.h"

/*
 * Amdahl: how many times as fast the whole is when a part, whose share of the time is `share` (0 to 1), becomes
 * `speedup` times as fast.
 */
double exp_paper_amdahl(double share, double speedup);

/* 1.15 times as fast is 15 % faster. */
double exp_paper_percent_faster(double speedup);

/* Misses of two hit rates in percent: how many times as many the first has. */
double exp_paper_miss_improvement(double base_hit_percent, double own_hit_percent);

/* Bytes of an im2col matrix, and of a convolution's input, in float32. */
struct conv_problem;
double exp_paper_im2col_bytes(const struct conv_problem *p);
double exp_paper_input_bytes(const struct conv_problem *p);

/* ---- the paper's numbers against each other: what its other numbers make of a printed one (oddities.def) ---- */

/* Prints them as a Markdown list, the arithmetic shown; then Table 2's whole models against Amdahl's law. */
void exp_paper_oddities_print(const struct exp_published *p, FILE *out);

/* A published number; NaN if there is none. */
double exp_paper_published(const struct exp_published *p, const char *figure, const char *model, const char *arch,
                           const char *metric);

#endif
