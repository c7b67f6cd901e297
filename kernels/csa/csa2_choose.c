/* Choosing by predicted cycles: part of csa2.h. */
#include "kernels/csa/csa2.h"
#include "kernels/shape/sizes.h"

enum csa_schedule csa2_choose_schedule(const double cycles[CSA_N_SCHEDULES], const struct csa2_machine *m,
                                       enum csa2_state state)
{
    return cycles[CSA_IS] < cycles[CSA_WS] * (1 - m->tie_share[state]) ? CSA_IS : CSA_WS;
}

struct csa_tiling csa2_tiling(const struct conv_problem *p, const struct conv_ukr *ukr, enum csa_schedule schedule,
                              size_t n_c, size_t k2, size_t k3)
{
    struct csa_tiling t = {
        .schedule = schedule,
        .n_win = ukr->n_win,
        .n_f = ukr->n_f,
        .n_c = min_size(n_c, conv_group_channels(p)),
        .in_tiles = ceil_div(conv_windows(p), ukr->n_win),
        .f_tiles = ceil_div(conv_group_filters(p), ukr->n_f),
    };
    bool is = schedule == CSA_IS;

    t.channel_sets = ceil_div(conv_group_channels(p), t.n_c);
    t.k2 = min_size(k2, is ? t.f_tiles : t.in_tiles);
    t.k3 = min_size(k3, is ? t.in_tiles : t.f_tiles);
    return t;
}
