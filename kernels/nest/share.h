/*
 * Threads: each thread runs the whole nest through a back-end that passes on only the steps of the thread's share, so
 * that order and blocking stay the nest's. Shares are ranges of an axis. Where the units of an axis cannot be shared
 * out evenly, two threads share the unit between them, along a second axis. A thread uses everything that it packs, and
 * nobody else does.
 */
#ifndef KERNELS_SHARE_H
#define KERNELS_SHARE_H

#include "kernels/nest/nest.h"

enum conv_share_axis {
    CONV_SHARE_PLANES,  /* images and groups; direct: a step's groups; a unit between two threads: by windows */
    CONV_SHARE_WINDOWS, /* tiles of windows; a unit between two threads: by filters */
    CONV_SHARE_FILTERS, /* tiles of filters; a unit between two threads: by windows; every thread packs all windows */
    CONV_N_SHARE_AXES,
};

const char *conv_share_axis_name(enum conv_share_axis a);

/* The axis whose whole units keep n_threads busiest; of equal axes, the first. */
enum conv_share_axis conv_share_choose(const struct conv_plan *plan, size_t n_threads);

/* A place on the axis, where a unit begins, and a place in the unit on the second axis. */
struct conv_share_place {
    size_t major, minor;
};

struct conv_share {
    struct conv_backend base;
    struct conv_backend *inner;
    enum conv_share_axis axis;
    size_t planes, groups;              /* of an image; of a plane */
    size_t images;                      /* of a step */
    struct conv_share_place first, end; /* in the order of places, end is left out */
    size_t edge;                        /* on the axis: the end of the share's last unit */
    size_t tile, tile_elems;            /* packed windows of a tile: their number; elements from one tile to the next */
};

/* The share of a thread, which may be empty, of an SConv plan with filters packed ahead, or of a direct plan. */
void conv_share_init(struct conv_share *s, struct conv_backend *inner, const struct conv_plan *plan,
                     enum conv_share_axis axis, size_t thread, size_t n_threads);

#endif
