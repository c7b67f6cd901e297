#include "kernels/emit/program_ukr.h"

#include "kernels/ukr/avx2/f32_16x16_avx2.h"

void conv_parts_of_call(struct conv_routine_ukr *r, const struct conv_ukr *ukr, const struct conv_ukr_args *a)
{
    const struct conv_taps taps = a->taps ? *a->taps : walk_single_tap(ukr, a);
    struct walk_tile tile;

    for (size_t first = 0; first < a->n_win; first += tile.n_win) {
        tile = part_at(a, &taps, first);
        r->part[r->n_parts++] = tile.n_win;
        r->group = tile.group;
    }
}
