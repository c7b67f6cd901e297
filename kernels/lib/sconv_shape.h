/* A problem's shape as libsconv's users write it. */
#ifndef KERNELS_SCONV_SHAPE_H
#define KERNELS_SCONV_SHAPE_H

#include "kernels/problem.h"
#include "kernels/lib/sconv.h"

static inline struct sconv_shape sconv_shape_of(const struct conv_problem *p)
{
    return (struct sconv_shape){
        .batch = p->n,
        .in_c = p->c,
        .in_h = p->h,
        .in_w = p->w,
        .out_c = p->k,
        .k_h = p->r,
        .k_w = p->s,
        .stride_h = p->stride_h,
        .stride_w = p->stride_w,
        .pad_top = p->pad_top,
        .pad_left = p->pad_left,
        .pad_bottom = p->pad_bottom,
        .pad_right = p->pad_right,
        .dilation_h = p->dilation_h,
        .dilation_w = p->dilation_w,
        .groups = p->groups,
    };
}

#endif
