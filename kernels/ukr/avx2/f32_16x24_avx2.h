/* The decisions of 16x24 with AVX2, shared by running and emitting. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_16X24_AVX2_H
#define KERNELS_UKR_F32_16X24_AVX2_H

#include "kernels/ukr/registry.h"

enum { N_F = 24, F_PANEL = 6, GROUP = 4, BLOCK = 4 };

/* A broadcast per window; the filters in accesses of 16 and 8 bytes, or for one window in three of 32 in four steps. */
static inline size_t few_loads(size_t n_win, size_t n_f)
{
    return n_win + (n_f > 4 && n_win > 1 ? 2 : 1);
}

/*
 * Tells whether a panel's filters are taken in pairs, each filter of a pair times four windows in half a ymm: a load
 * of the windows, and of each pair.
 */
static inline bool is_pairs(size_t n_win, size_t n_f)
{
    return n_win == GROUP && (n_f == 4 || n_f == 6);
}

static inline size_t pairs_loads(size_t n_f)
{
    return 1 + n_f / 2;
}

/* Tells whether broadcasts of few windows take fewer slots for a panel. Only four or six filters are whole accesses. */
static inline bool is_few(size_t n_win, size_t n_f)
{
    return (n_f == 4 || n_f == 6) && few_loads(n_win, n_f) < max_size(conv_ukr_16x6__avx2.step_fmas(n_win, n_f),
                                                                      conv_ukr_16x6__avx2.step_loads(n_win, n_f));
}

/* Tells whether a panel has another register tile than 16x6. */
static inline bool has_few_windows(size_t n_win, size_t n_f)
{
    return is_pairs(n_win, n_f) || is_few(n_win, n_f);
}

/* The part of a call for the panel from filter f on; the first panel prefetches. */
static inline struct conv_ukr_args panel(const struct conv_ukr_args *a, size_t f)
{
    struct conv_ukr_args part = *a;

    part.n_f = a->n_f - f < F_PANEL ? a->n_f - f : F_PANEL;
    part.filter += f * a->k * sizeof(float);
    part.out += f * a->ld_out * sizeof(float);
    part.ahead = f ? NULL : a->ahead;
    return part;
}

/* Returns the taps of a row that form a group, neighbours in the input; their prefetches follow them. */
static inline size_t tap_group(const struct conv_taps *t)
{
    return t->column_bytes == sizeof(float) && (t->s == 3 || t->s == 5) ? t->s : 1;
}

/* Emits how a panel's outputs are updated. */
static inline void emit_update(const struct conv_ukr_args *a, struct sim_sink *sink)
{
    size_t group = is_few(a->n_win, a->n_f) ? GROUP : a->n_win;
    struct conv_ukr_args part = *a;

    for (size_t i = 0; i < a->n_win; i += group) {
        part.n_win = min_size(group, a->n_win - i);
        part.out = a->out + i * sizeof(float);
        conv_emit_tile_update(&part, group == GROUP ? GROUP * sizeof(float) : 32, sink);
    }
}

#endif
