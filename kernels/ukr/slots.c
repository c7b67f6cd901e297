#include "kernels/ukr/slots.h"

double conv_ukr_step_fmas(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    if (!n_win || !n_f)
        return 0;
    return (double)(u->step_fmas ? u->step_fmas(n_win, n_f) : n_win * n_f);
}

double conv_ukr_step_loads(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    return n_win && n_f && u->step_loads ? (double)u->step_loads(n_win, n_f) : 0;
}

/* Slots of the busier ports: CPUs do as many loads a cycle as multiply-adds. */
static double step_slots(const struct conv_ukr *u, size_t n_win, size_t n_f)
{
    double fmas = conv_ukr_step_fmas(u, n_win, n_f);
    double loads = conv_ukr_step_loads(u, n_win, n_f);

    return loads > fmas ? loads : fmas;
}

static double sum_steps(const struct conv_ukr *u, const struct conv_problem *p,
                        double (*cost)(const struct conv_ukr *u, size_t n_win, size_t n_f))
{
    size_t n_win = conv_windows(p), n_f = conv_group_filters(p);
    size_t win_edge = n_win % u->n_win, f_edge = n_f % u->n_f;
    double in_tiles = (double)(n_win / u->n_win), f_tiles = (double)(n_f / u->n_f);
    double sum = in_tiles * f_tiles * cost(u, u->n_win, u->n_f) + in_tiles * cost(u, u->n_win, f_edge) +
                 f_tiles * cost(u, win_edge, u->n_f) + cost(u, win_edge, f_edge);

    return sum * (double)conv_reduction(p);
}

double conv_ukr_fmas(const struct conv_ukr *u, const struct conv_problem *p)
{
    return sum_steps(u, p, conv_ukr_step_fmas);
}

double conv_ukr_loads(const struct conv_ukr *u, const struct conv_problem *p)
{
    return sum_steps(u, p, conv_ukr_step_loads);
}

double conv_ukr_slots(const struct conv_ukr *u, const struct conv_problem *p)
{
    return sum_steps(u, p, step_slots);
}
