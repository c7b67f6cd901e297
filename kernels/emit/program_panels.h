/*
 * Calls of AVX2's 16x24, also by taps, as what they are made of: panels of filters, one after the other. Internal to
 * kernels/emit.
 */
#ifndef KERNELS_EMIT_PROGRAM_PANELS_H
#define KERNELS_EMIT_PROGRAM_PANELS_H

#include <stdbool.h>

#include "kernels/ukr/ukr.h"

/*
 * Returns the part of a call that its panel from filter f on has; *is_few: filters lie side by side in it; *group: taps
 * that are taken together.
 */
struct conv_ukr_args conv_panel_of_call(const struct conv_ukr_args *a, size_t f, bool *is_few, size_t *group);

#endif
