/* 16x6 whose tiles of few windows are computed as those of 16x24: a panel of 16x24 alone. */
#include "kernels/ukr/avx2/f32_16x24_avx2.h"

#if defined(__x86_64__)
void conv_f32_ukr_16x6_few__avx2(const struct conv_ukr *u, const struct conv_ukr_args *a)
{
    const struct conv_ukr *by = has_few_windows(a->n_win, a->n_f) ? &conv_ukr_16x24__avx2 : &conv_ukr_16x6__avx2;

    (void)u;
    by->fn(by, a);
}
#endif
