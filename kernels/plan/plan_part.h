/*
 * Parts of a layer: fewer outputs, each over the whole reduction, by the layer's kernels in the layer's tiles. Parts
 * are for observers that cannot watch all of a large layer.
 *
 *   SConv   The first tiles of the layer's own nest: windows, filters and both orders are the layer's, and so are all
 *           tensors and their places. Only the later tiles are missing.
 *   GEMM    A layer of its own with fewer rows and filters, blocked as the core blocks a layer of that size: a
 *           library's call cannot be left half-way. Rows that read padding alone are not left out.
 *   direct  Layers with direct kernels are small: they have no parts.
 */
#ifndef KERNELS_PLAN_PART_H
#define KERNELS_PLAN_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/plan/plan.h"

struct conv_part {
    size_t images, rows, filters; /* the first images of the batch, rows of an output plane, filters of every group */
};

struct conv_part conv_part_whole(const struct conv_problem *p);
bool conv_part_is_whole(const struct conv_part *part, const struct conv_problem *p);

/* Halves a part: images, else windows or filters, whichever are more. Returns false for a part of a few tiles. */
bool conv_part_halve(struct conv_part *part, const struct conv_plan *whole);

/* Plans a part. Returns 0, or -EOVERFLOW as planning does. */
int conv_plan_part(struct conv_plan *plan, const struct conv_plan *whole, const struct conv_part *part);

/* Return the number of a planned part's windows of every plane, filters of every group, and multiply-adds. */
size_t conv_plan_part_windows(const struct conv_plan *plan);
size_t conv_plan_part_filters(const struct conv_plan *plan);
double conv_plan_part_macs(const struct conv_plan *plan);

#endif
