/* A problem's shape as libsconv's users write it, and back. */
#ifndef KERNELS_SCONV_SHAPE_H
#define KERNELS_SCONV_SHAPE_H

#include "kernels/shape/problem.h"
#include "kernels/lib/sconv.h"

static inline struct sconv_shape sconv_shape_of(const struct conv_problem *p)
{
    return (struct sconv_shape){
#define FIELD(member, shape_member, ...) .shape_member = p->member,
#include "kernels/shape/problem_fields.def"
    };
}

/* Makes a problem that is not finished yet. */
static inline struct conv_problem sconv_shape_problem(const struct sconv_shape *s)
{
    return (struct conv_problem){
#define FIELD(member, shape_member, ...) .member = s->shape_member,
#include "kernels/shape/problem_fields.def"
    };
}

_Static_assert(sizeof(struct sconv_shape) == CONV_N_FIELDS * sizeof(size_t), "every member is converted");

#endif
