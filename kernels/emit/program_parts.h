/* Calls of AVX2's 16x16 as what they are made of: register tiles, one after the other. Internal to kernels/emit. */
#ifndef KERNELS_EMIT_PROGRAM_PARTS_H
#define KERNELS_EMIT_PROGRAM_PARTS_H

#include "kernels/emit/program.h"

/* Sets the register tiles of a call, of which there are none yet, and how many taps they take together. */
void conv_parts_of_call(struct conv_routine_ukr *r, const struct conv_ukr *ukr, const struct conv_ukr_args *a);

#endif
