/*
 * Sentences for a terminal: lines are broken at blanks where they are too long. A line that begins with EXP_LABEL has a
 * word in front, and its rest stands below its own words.
 */
#ifndef EXPERIMENTS_EXP_WRAP_H
#define EXPERIMENTS_EXP_WRAP_H

#include <stdio.h>

#define EXP_LABEL "  %-12s " /* for a word of at most 12 letters */

/* Runs say(ctx, text), which returns 0 or -errno, and prints what it wrote. Returns that, or -ENOMEM. */
int exp_wrap_print(int (*say)(const void *ctx, FILE *text), const void *ctx, FILE *out);

#endif
