/* A plan in one line, which a later reader can plan again when the same layer would be planned another way. */
#ifndef EXPERIMENTS_EXP_PLAN_TEXT_H
#define EXPERIMENTS_EXP_PLAN_TEXT_H

#include <stddef.h>

#include "kernels/plan/plan.h"

enum { EXP_PLAN_TEXT_BYTES = 160 };

/*
 * Writes what is replayed: "f32_16x6__avx2 is nc=3 k2=11 k3=3136 packed", "openblas_Haswell gemm p=320 q=320 r=104512
 * lowered", "<direct kernel> direct rows=7 groups=4". Plans of one layer
 * that differ have different texts.
 */
void exp_plan_text(const struct conv_plan *plan, char text[EXP_PLAN_TEXT_BYTES]);

/*
 * Plans the layer of another plan as a text says, if the text is that of an SConv plan. Returns 0; -EINVAL if it is
 * not, or if this program would not make such a plan of this layer: plans of the result have that very text.
 */
int exp_plan_of_text(struct conv_plan *plan, const struct conv_plan *other, const char *text);

#endif
