#include "kernels/emit/program_ukr.h"

#include "kernels/ukr/avx2/f32_16x24_avx2.h"

struct conv_ukr_args conv_panel_of_call(const struct conv_ukr_args *a, size_t f, bool *is_few_, size_t *group)
{
    const struct conv_ukr_args part = panel(a, f);

    *is_few_ = a->taps ? is_few(part.n_win, part.n_f) : has_few_windows(part.n_win, part.n_f);
    *group = a->taps ? tap_group(a->taps) : 1;
    return part;
}
