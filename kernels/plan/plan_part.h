/*
 * Parts of a layer: fewer of its outputs, each over the whole reduction, by the same kernels in the same tiles. For
 * whoever cannot look at all of a large layer.
 *
 *   SConv   The first tiles of the layer's own nest: windows, filters and both orders are the layer's, and so are all
 *           tensors and their places. Nothing but the later tiles is missing.
 *   GEMM    A layer of its own with fewer rows and filters, blocked as the core blocks that: a library's call cannot be
 *           left half-way. Rows that read padding alone are not left out.
 *   direct  These layers are small: there are no parts of them.
 */
#ifndef KERNELS_PLAN_PART_H
#define KERNELS_PLAN_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/plan/plan.h"

struct conv_part {
    size_t images, rows, filters; /* the first ones: of the batch, of an output plane, of every group */
};

struct conv_part conv_part_whole(const struct conv_problem *p);
bool conv_part_is_whole(const struct conv_part *part, const struct conv_problem *p);

/*
 * Takes half of a part: of its images, else of its windows (by rows) or of its filters, whichever are more. Returns
 * false, with the part as it was, if half of it would be a few tiles only.
 */
bool conv_part_halve(struct conv_part *part, const struct conv_plan *whole);

/* Plans a part. Returns 0, or -EOVERFLOW as planning does. */
int conv_plan_part(struct conv_plan *plan, const struct conv_plan *whole, const struct conv_part *part);

/*
 * Return what a planned part computes: the first of every plane's windows and of every group's filters; multiply-adds.
 */
size_t conv_plan_part_windows(const struct conv_plan *plan);
size_t conv_plan_part_filters(const struct conv_plan *plan);
double conv_plan_part_macs(const struct conv_plan *plan);

#endif
