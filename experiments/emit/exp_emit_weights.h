/* A layer's filters from a file, packed for its plan: they become constants of its code. */
#ifndef EXPERIMENTS_EXP_EMIT_WEIGHTS_H
#define EXPERIMENTS_EXP_EMIT_WEIGHTS_H

#include <stddef.h>

#include "kernels/emit/noted_plans.h"

/*
 * Reads the [k][c / groups][r][s] floats of the only plan and packs them into *packed, from malloc. Returns 0; -EINVAL
 * for several plans, a file of another size, or too many; -errno of reading; -ENOMEM; with one line in why and *packed
 * NULL.
 */
int exp_emit_weights_pack(float **packed, const char *path, const struct conv_noted_plans *plans, char *why,
                          size_t why_bytes);

#endif
