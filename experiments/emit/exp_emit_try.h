/* Generated code that is tried: run and compared with plain loops, and timed. */
#ifndef EXPERIMENTS_EXP_EMIT_TRY_H
#define EXPERIMENTS_EXP_EMIT_TRY_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_emit_build.h"

/*
 * Compiles a plan's code, runs it and compares every output. *seconds is what printing and compiling took. Returns 0;
 * -EILSEQ for a wrong output; or as exp_emit_build_fused; with one line in why.
 */
int exp_emit_check(enum exp_emit_what what, const struct conv_noted_plan *plan, const struct conv_fusion *after,
                   double *seconds, struct exp_why *why);

/* ---- all forms of a plan, timed beside the library that executes the same plan ---- */

extern const struct exp_csv_file exp_emit_time_file;

/*
 * Times a plan's forms in turns, by the thread's own time, with warm caches, and writes a row of each. A form that
 * cannot be written, or has no compiler here, has its reason in the row. Prints a line on standard output. Returns 0,
 * or as exp_emit_build, with one line in why.
 */
int exp_emit_time(const struct conv_noted_plan *plan, size_t n_rounds, struct exp_csv *csv, struct exp_why *why);

#endif
