/*
 * Shapes of convolutions, written in one line:
 *
 *     struct conv_problem p = { IMAGES(1, 16, 14, 14), FILTERS(32, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1
 * };
 */
#ifndef TESTS_SHAPES_H
#define TESTS_SHAPES_H

#include "kernels/shape/problem.h"

#define IMAGES(number, channels, height, width) .n = number, .c = channels, .h = height, .w = width
#define FILTERS(number, height, width) .k = number, .r = height, .s = width
#define PADDING(top, left, bottom, right) .pad_top = top, .pad_left = left, .pad_bottom = bottom, .pad_right = right
#define STRIDES(down, right) .stride_h = down, .stride_w = right
#define DILATIONS(down, right) .dilation_h = down, .dilation_w = right
#define UNIT_STEPS STRIDES(1, 1), DILATIONS(1, 1)

#endif
