/* Generated code, run and compared with plain loops. */
#ifndef EXPERIMENTS_EXP_EMIT_CHECK_H
#define EXPERIMENTS_EXP_EMIT_CHECK_H

#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_emit_build.h"

/*
 * Compiles a plan's code, runs it and compares every output. *seconds is what printing and compiling took. Returns 0;
 * -EILSEQ for a wrong output; or as exp_emit_build_fused; with one line in why.
 */
int exp_emit_check(enum exp_emit_what what, const struct conv_noted_plan *plan, const struct conv_fusion *after,
                   double *seconds, struct exp_why *why);

#endif
