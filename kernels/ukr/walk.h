/* Shared by micro-kernels that walk windows tap by tap (CONV_WALK_ANY): filters in vectors, windows broadcast. */
#ifndef KERNELS_UKR_WALK_H
#define KERNELS_UKR_WALK_H

#include "kernels/ukr/ukr.h"

/* Describes packed windows, and rows of a pointwise input: a single tap. */
static inline struct conv_taps walk_single_tap(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    struct conv_taps t = {
        .n_c = a->k,
        .r = 1,
        .s = 1,
        .channel_bytes = (int64_t)(conv_ukr_ld_in(u, a) * sizeof(float)),
        .row_windows = a->n_win,
        .apart_bytes = sizeof(float),
        .row_live[0] = (1u << a->n_win) - 1,
        .column_live[0] = (1u << a->n_win) - 1,
    };

    for (size_t w = 0; w < a->n_win; w++)
        t.window_bytes[w] = (int64_t)(w * sizeof(float));
    return t;
}

enum { WALK_MOST_GROUP = 7 };

/* Returns the taps of a row that form a group: all, if they are neighbours and of a usual number. */
static inline size_t walk_group(const struct conv_taps *t)
{
    return t->column_bytes == sizeof(float) && t->s % 2 && t->s <= WALK_MOST_GROUP ? t->s : 1;
}

/* A register tile: some windows, with all filters of the call. */
struct walk_tile {
    size_t first, n_win; /* of the call's windows */
    size_t vector;       /* filters of a vector: all of a tap are loaded, then each window's element */
    size_t group;        /* taps of a row, neighbours in the input, before their prefetches */
};

/* Emits all taps of all channels of a register tile: each tap's filters and windows, and prefetches. */
void walk_emit(const struct conv_ukr_args *a, const struct conv_taps *taps, const struct walk_tile *tile,
               struct sim_sink *sink);

#endif
