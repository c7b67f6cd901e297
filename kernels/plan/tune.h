/*
 * SConv for speed, with decisions that the paper does not make. Where the paper has one micro-kernel, one rule for the
 * channels and packs every window:
 *
 *   micro-kernel   of an instruction set (the widest vectors that run here): a micro-kernel that takes fewer
 *                  multiply-add instructions than the set's first over all tiles, edges included, and no more issue
 *                  slots; or as many instructions and slots in larger tiles; or over a sixteenth fewer slots, where
 *                  filters are so few that loads bind
 *
 *                  Where the machine issues two multiply-adds a cycle and no more loads, tiles with more
 *                  loads than multiply-adds wait: layers take a wider tile where two tiles of filters read its
 *                  windows, and the tile has a step for each line of its outputs. Overlapping windows are packed for
 *                  the wider tile if 16 tiles of filters read them, and edges take no thirty-second more slots. 1x1
 *                  layers whose edges do not suit the wider tile take windows one by one
 *
 *                  Windows that overlap are not packed, but read where they are by a micro-kernel that takes a
 *                  window's elements one by one (conv_ukr.walk), and skips taps on padding. Windows that do not
 *                  overlap, of strided 1x1 convolutions, are not packed either if at most eight tiles of filters read
 *                  them. Both unless walking takes over a sixteenth longer: many filters short of a whole vector, sums
 *                  too short to pay for transposing. With AVX2 walking takes longer than packed windows would: more
 *                  loads, or finding out for each panel of filters which taps are padding. AVX2 walks windows that
 *                  less than eight panels of filters read; less than twelve where windows stride, so that packing
 *                  transposes; less than ten of few channels, whose windows two columns apart are packed row by row
 *
 *   algorithm      a direct kernel (kernels/ukr/direct.h), not SConv, where the direct kernel takes over a sixteenth
 *                  fewer issue slots: depthwise, grouped with few channels, planes of one output ("dot"). Slots are
 *                  multiply-adds or loads, calls of micro-kernels (about 500 slots each, 80 where a pointwise layer
 *                  without groups, or with AVX2 of large groups, fills runs), packing or transposing; all edges
 *                  included. The bytes that are read again must fit into half of L1
 *
 *   tiles          deep channels (csa_analyse_deep, csa_analyse_in_place, csa_analyse_in_l1), then K2, K3 and the
 *                  schedule by the paper's equations. In L1: where windows in place are read again, for each panel of a
 *                  tile's filters (AVX2; also packed windows of several taps, csa_analyse_panels), or by a wide tile
 *                  for each tile of filters. Where loads bind, rows in place that L2 holds stream for a wide tile and
 *                  at most 16 tiles of filters, weight stationary. Input stationary, whatever the equations say: AVX2's packed windows, unless
 *                  sums are short; in place, if there are many windows and few tiles of filters, and the windows lie in
 *                  more pages than the first TLB holds; a call then takes one panel of filters (f_panel), and overlapping
 *                  windows may take twice L1 (csa_analyse_twice). One panel a call, too: streaming windows in
 *                  place, with short sums. Input stationary, too: windows whose taps are worked out once for all
 *                  filters
 *
 *   windows        windows of a pointwise convolution are read in place, unless the planes' distance makes the windows
 *                  fight for a few sets of the first caches, or a tile's row is shorter than a line (POWER10's 128
 *                  bytes), or, of AVX2's many filters and channels, planes are no whole lines
 *
 *   padding        rows of taps that only read padding are skipped
 *
 *   prefetching    on
 */
#ifndef KERNELS_TUNE_H
#define KERNELS_TUNE_H

#include "kernels/plan/plan.h"

/* All zero: the best for this computer, filters packed ahead. */
struct conv_tune_options {
    const struct conv_ukr *ukr; /* of the instruction set to choose from, runnable here or not; NULL: the widest here */
    bool keeps_ukr;             /* no choice: ukr, and SConv */
    bool packs_filters;         /* as in struct conv_sconv_options */
};

/* Plans SConv, or a direct convolution. Returns 0 or -EOVERFLOW, as conv_plan_sconv. */
int conv_plan_tuned(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                    const struct conv_tune_options *tune);

#endif
