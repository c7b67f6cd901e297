/* Calls of micro-kernels as routines of a program. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_PROGRAM_UKR_H
#define KERNELS_EMIT_PROGRAM_UKR_H

#include <stdbool.h>

#include "kernels/emit/program.h"
#include "kernels/nest/nest.h"
#include "kernels/ukr/ukr.h"

/* A routine of a step, and the addresses of its operands, of tensors that begin at 0. */
struct conv_routine_call {
    struct conv_routine routine;
    uint64_t at[CONV_FOLD_MOST_OPERANDS];
};

/*
 * Resolves a micro-kernel's step from a filter on: the whole step, or a panel; sets *filter to the start of the next
 * panel. Returns 0, or -ENOMEM.
 */
int conv_routine_of_ukr(struct conv_routine_call *call, const struct conv_plan *plan, const struct conv_step *s,
                        size_t *filter);

/* From bytes to floats; of an operand before its tensor, below 0. */
static inline int64_t conv_routine_floats(uint64_t bytes)
{
    return (int64_t)bytes / (int64_t)sizeof(float);
}

/* ---- calls of AVX2's 16x16 as register tiles, one after the other (program_parts.c) ---- */

/* Sets the register tiles of a call that has none yet, and the taps that a group has. */
void conv_parts_of_call(struct conv_routine_ukr *r, const struct conv_ukr *ukr, const struct conv_ukr_args *a);

/* ---- calls of AVX2's 16x24, also by taps: panels of filters, one after the other (program_panels.c) ---- */

/* Returns the panel from filter f on of a call; *is_few: filters lie side by side; *group: taps of a group. */
struct conv_ukr_args conv_panel_of_call(const struct conv_ukr_args *a, size_t f, bool *is_few, size_t *group);

#endif
