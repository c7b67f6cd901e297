/* Describes what a loop nest hands to a back-end: steps, runs of steps, and the interface of a back-end. */
#ifndef KERNELS_STEP_H
#define KERNELS_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/problem.h"

enum conv_step_kind {
    CONV_STEP_IM2COL,           /* lower a group of an image */
    CONV_STEP_ZERO,             /* clear n_f x n_win outputs */
    CONV_STEP_PACK_WINDOWS,     /* SConv: pack consecutive input tiles out of the input */
    CONV_STEP_PACK_MATRIX,      /* GEMM: pack a block of the im2col matrix */
    CONV_STEP_PACK_FILTERS,     /* pack filters into panels */
    CONV_STEP_UKR,              /* a micro-kernel call */
    CONV_STEP_DIRECT,           /* a call of a direct kernel */
    CONV_STEP_WINOGRAD_IN,      /* Winograd: transform windows of the input into panels of tiles */
    CONV_STEP_WINOGRAD_FILTERS, /* transform filters into panels */
    CONV_STEP_WINOGRAD_OUT,     /* transform products into outputs, and store */
    CONV_STEP_PRODUCT,          /* GEMM: a whole small product, of which nothing is packed */
    CONV_N_STEP_KINDS,
};

/* Says what a micro-kernel step prefetches for later steps. */
struct conv_step_ahead {
    bool is_on;          /* the step also prefetches outputs; counts of 0: no inputs and no filters */
    size_t panel, elems; /* part of the next filter panel: elements into CONV_PACKED_FILTER, how many */
    size_t win0, k0;     /* the next input tile: first window, first reduction index, */
    size_t channels;     /* channels of it that the step prefetches, */
    bool is_top;         /* whether no tile has read the rows above it */
};

/*
 * A piece of work: a box of (windows, filters, reduction) of an image and a group. Winograd's windows are tiles of
 * windows, and Winograd's reduction index is the channel.
 */
struct conv_step {
    enum conv_step_kind kind;
    size_t image, group;
    size_t n_images;    /* a direct step of several images; 0 is 1 */
    size_t win0, n_win; /* windows of the flattened output plane */
    size_t f0, n_f;     /* filters of the group; a direct step's filters may go on in the following groups */
    size_t k0, n_k;     /* reduction range of the group: (channel * r + fh) * s + fw */
    size_t in_panel;    /* where the packed windows are: elements into CONV_PACKED_INPUT */
    size_t f_panel;     /* where the packed filters are: elements into CONV_PACKED_FILTER */
    size_t out_panel;   /* Winograd: where the products are: elements into CONV_IM2COL */
    struct conv_dead_rows
        dead;        /* a micro-kernel step: rows of taps, of every channel of the range, that the step leaves out */
    bool accumulate; /* the outputs hold an earlier part of the reduction */
    bool goes_on;    /* a step of a run (below), not the first, that is handed over by itself */
    struct conv_step_ahead ahead;
};

/* Returns how many of the n_k reduction steps a micro-kernel step takes: filters of r rows, without rows left out. */
static inline size_t conv_step_live_k(const struct conv_step *s, size_t r)
{
    return s->n_k - (s->dead.above + s->dead.below) * (s->n_k / r);
}

/* Returns how many images a step has. */
static inline size_t conv_step_images(const struct conv_step *s)
{
    return s->n_images ? s->n_images : 1;
}

/* Tells whether the step computes outputs. */
static inline bool conv_step_computes(const struct conv_step *s)
{
    return s->kind == CONV_STEP_UKR || s->kind == CONV_STEP_DIRECT || s->kind == CONV_STEP_PRODUCT;
}

/*
 * Micro-kernel steps that follow each other, and differ by their places alone: tiles of one size side by side, along
 * the windows or along the filters. The first step, the number of steps, and the distances between steps.
 */
struct conv_run {
    struct conv_step step;
    size_t n;
    bool along_filters;
    size_t panel_elems; /* between the packed windows, or filters, of neighbouring tiles */
    size_t taps;        /* steps of the reduction for a channel */
};

/* Leaves out the first n steps. */
static inline void conv_run_skip(struct conv_run *r, size_t n)
{
    struct conv_step *s = &r->step;

    s->ahead.panel += n * s->ahead.elems;
    if (r->along_filters) {
        s->f0 += n * s->n_f;
        s->f_panel += n * r->panel_elems;
        s->ahead.k0 += n * s->ahead.channels * r->taps;
    } else {
        s->win0 += n * s->n_win;
        s->in_panel += n * r->panel_elems;
        s->ahead.win0 += n * s->n_win;
    }
    r->n -= n;
}

struct conv_backend {
    int (*step)(struct conv_backend *self, const struct conv_step *s); /* 0 or -errno; an error ends the nest */
    /* Takes a run at once; NULL: the nest hands over single steps. */
    int (*run)(struct conv_backend *self, const struct conv_run *r);
    /* Before the first step of a nest, and after the last step, also after an error; NULL: nothing is done. */
    void (*begin)(struct conv_backend *self);
    void (*end)(struct conv_backend *self);
};

#endif
