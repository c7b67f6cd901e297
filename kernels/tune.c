#include "kernels/tune.h"

#include "kernels/dispatch.h"

static double step_fmas(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    if (!n_win || !n_f)
        return 0;
    return (double)(u->step_fmas ? u->step_fmas(n_win, n_f) : n_win * n_f);
}

double conv_ukr_fmas(const struct conv_ukr *u, const struct conv_problem *p)
{
    size_t n_win = conv_windows(p), n_f = conv_group_filters(p);
    size_t win_edge = n_win % u->n_win, f_edge = n_f % u->n_f;
    double in_tiles = (double)(n_win / u->n_win), f_tiles = (double)(n_f / u->n_f);
    double fmas = in_tiles * f_tiles * step_fmas(u, u->n_win, u->n_f) + in_tiles * step_fmas(u, u->n_win, f_edge) +
                  f_tiles * step_fmas(u, win_edge, u->n_f) + step_fmas(u, win_edge, f_edge);

    return fmas * (double)conv_reduction(p);
}

static const struct conv_ukr *choose_ukr(const struct conv_problem *p)
{
    const struct conv_ukr *best = conv_ukr_best();

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);

        if (conv_ukr_runs(u) && u->isa == best->isa && conv_ukr_fmas(u, p) < conv_ukr_fmas(best, p))
            best = u;
    }
    return best;
}

/* Planes a multiple of a page apart put the same window of all channels into a few sets. */
static bool planes_collide(const struct conv_problem *p)
{
    return p->h * p->w * sizeof(float) % CONV_PAGE_BYTES == 0;
}

int conv_plan_tuned(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                    const struct conv_ukr *ukr, bool packs_filters)
{
    const struct conv_sconv_options options = {
        .packs_filters = packs_filters,
        .reads_in_place = !planes_collide(p),
        .prefetches = true,
    };
    struct csa_tiling tiling[CSA_N_SCHEDULES];

    if (!ukr)
        ukr = choose_ukr(p);
    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        tiling[i] = csa_analyse_deep(p, caches, ukr->n_win, ukr->n_f, (enum csa_schedule)i);
    return conv_plan_sconv_with(plan, p, ukr, &tiling[csa_choose(tiling)], &options);
}
