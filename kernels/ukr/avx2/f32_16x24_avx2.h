/* What 16x24 with AVX2 decides, the same when it runs and when it is described. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_F32_16X24_AVX2_H
#define KERNELS_UKR_F32_16X24_AVX2_H

#include "kernels/ukr/registry.h"

enum { N_F = 24, F_PANEL = 6, GROUP = 4, BLOCK = 4 };

/* One broadcast per window; the filters in accesses of 16 and 8 bytes, or for one window in three of 32 in four steps.
 */
static inline size_t few_loads(size_t n_win, size_t n_f)
{
    return n_win + (n_f > 4 && n_win > 1 ? 2 : 1);
}

/* Whether this way takes fewer issue slots for one panel. Of partial panels, only four filters are whole accesses. */
static inline bool is_few(size_t n_win, size_t n_f)
{
    return (n_f == 4 || n_f == 6) && few_loads(n_win, n_f) < max_size(conv_ukr_16x6__avx2.step_fmas(n_win, n_f),
                                                                      conv_ukr_16x6__avx2.step_loads(n_win, n_f));
}

/* The part of a call that one panel from filter f on has; what is prefetched is the first one's. */
static inline struct conv_ukr_args panel(const struct conv_ukr_args *a, size_t f)
{
    struct conv_ukr_args part = *a;

    part.n_f = a->n_f - f < F_PANEL ? a->n_f - f : F_PANEL;
    part.filter += f * a->k * sizeof(float);
    part.out += f * a->ld_out * sizeof(float);
    part.ahead = f ? NULL : a->ahead;
    return part;
}

#endif
