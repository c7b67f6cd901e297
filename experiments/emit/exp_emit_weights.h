/* A layer's filters from a file: they become constants of its code. */
#ifndef EXPERIMENTS_EXP_EMIT_WEIGHTS_H
#define EXPERIMENTS_EXP_EMIT_WEIGHTS_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_emit_text.h"

/*
 * Reads the [k][c / groups][r][s] floats of the only plan into *filters, from malloc, and packs them if the form's
 * constants are packed. Returns 0; -EINVAL for a form without constants, several plans, a file of another size, or too
 * many floats; -errno of reading; -ENOMEM; with one line in why and *filters NULL.
 */
int exp_emit_weights_read(float **filters, enum exp_emit_what what, const char *path,
                          const struct conv_noted_plans *plans, struct exp_why *why);

#endif
