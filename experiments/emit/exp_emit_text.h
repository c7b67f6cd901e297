/* The code of plans as text, in each of its forms. */
#ifndef EXPERIMENTS_EXP_EMIT_TEXT_H
#define EXPERIMENTS_EXP_EMIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"
#include "kernels/emit/c_source.h"
#include "kernels/emit/noted_plans.h"

/* Lists the forms of generated code, in the order of EXP_EMIT_NAMES. */
enum exp_emit_what {
    EXP_EMIT_C,
    EXP_EMIT_MLIR,          /* its micro-kernel: vector.outerproduct */
    EXP_EMIT_MLIR_EXTERNAL, /* its micro-kernel: C beside it */
    EXP_EMIT_MLIR_LINALG,   /* linalg, and a script that tiles it */
    EXP_EMIT_N_FORMS,
};

/* Says what a form makes constants of. */
enum exp_emit_constants { EXP_EMIT_NO_CONSTANTS, EXP_EMIT_PACKED_FILTERS, EXP_EMIT_FILTERS };

const char *exp_emit_name(enum exp_emit_what what); /* as EMIT names it */
enum exp_emit_constants exp_emit_constants(enum exp_emit_what what);

/* Returns the passes of mlir-opt that lower a form, ended by NULL; NULL: it is C. */
const char *const *exp_emit_passes(enum exp_emit_what what);

/* Tells whether its micro-kernels are C beside it, which exp_emit_print_kernels prints. */
bool exp_emit_has_kernels(enum exp_emit_what what);

/*
 * Prints the code of plans of one instruction set; function number i is called as conv_c_name says for its layer and i.
 * options are C's; what is `packed` there are the only plan's filters, as exp_emit_constants says. Returns 0; -EINVAL
 * for a plan or options that cannot be written, or -ENOMEM, with one line in why.
 */
int exp_emit_print(enum exp_emit_what what, const struct conv_noted_plan *plan, size_t n,
                   const struct conv_c_options *options, FILE *out, struct exp_why *why);
int exp_emit_print_kernels(const struct conv_noted_plan *plan, size_t n, FILE *out, struct exp_why *why);

#endif
