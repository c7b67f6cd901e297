/* Generated code in all of its forms, timed beside the library that executes the same plan. */
#ifndef EXPERIMENTS_EXP_EMIT_TIME_H
#define EXPERIMENTS_EXP_EMIT_TIME_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_emit_build.h"

extern const struct exp_csv_file exp_emit_time_file;

/*
 * Times a plan's forms in turns, by the thread's own time, with warm caches, and writes a row of each. A form that
 * cannot be written, or has no compiler here, has its reason in the row. Prints a line on standard output. Returns 0,
 * or as exp_emit_build, with one line in why.
 */
int exp_emit_time(const struct conv_noted_plan *plan, size_t n_rounds, struct exp_csv *csv, struct exp_why *why);

#endif
