/* Choosing by predicted cycles: part of csa2.h. */
#include <math.h>
#include <stdint.h>

#include "kernels/csa/csa2.h"
#include "kernels/sizes.h"

const double csa2_tie_share = 0.05;

enum csa_schedule csa2_choose_schedule(const double cycles[CSA_N_SCHEDULES])
{
    return cycles[CSA_IS] < cycles[CSA_WS] * (1 - csa2_tie_share) ? CSA_IS : CSA_WS;
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

/* Returns the numbers of parts in turn: 1, 2, 3, 4, 6, 8, 12, ... */
static size_t next_parts(size_t n)
{
    if (n < 3)
        return n + 1;
    return n % 3 ? n / 2 * 3 : n / 3 * 4;
}

struct search {
    const struct conv_problem *p;
    const struct conv_ukr *ukr;
    const struct csa2_machine *m;
    enum csa2_state state;
    struct csa_tiling best;
};

static void consider(struct search *s, struct csa_tiling t)
{
    t.total_cycles = csa2_predict(s->p, &t, s->ukr, s->m, s->state);
    if (t.total_cycles < s->best.total_cycles)
        s->best = t;
}

/* Tries the sets of both kinds of tiles for one Nc. */
static void search_sets(struct search *s, enum csa_schedule schedule, size_t n_c)
{
    const struct csa_tiling whole = csa2_tiling(s->p, s->ukr, schedule, n_c, SIZE_MAX, SIZE_MAX);

    for (size_t i = 1; i <= whole.k2; i = next_parts(i)) {
        /* With one set of streaming tiles, how the stationary ones are divided changes little. */
        for (size_t j = 1; j <= (i == 1 ? 1 : whole.k3); j = next_parts(j)) {
            consider(s, csa2_tiling(s->p, s->ukr, schedule, n_c, ceil_div(whole.k2, i), ceil_div(whole.k3, j)));
        }
    }
}

struct csa_tiling csa2_analyse(const struct conv_problem *p, const struct csa_caches *caches,
                               const struct conv_ukr *ukr, const struct csa2_machine *m, enum csa2_state state)
{
    struct search s = { .p = p, .ukr = ukr, .m = m, .state = state, .best.total_cycles = (double)INFINITY };

    for (int i = 0; i < CSA_N_SCHEDULES; i++) {
        enum csa_schedule schedule = (enum csa_schedule)i;

        consider(&s, csa_analyse(p, caches, ukr->n_win, ukr->n_f, schedule));
        for (size_t n = 1; n <= conv_group_channels(p); n = next_parts(n))
            search_sets(&s, schedule, ceil_div(conv_group_channels(p), n));
    }
    return s.best;
}
