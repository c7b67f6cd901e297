#include "experiments/paper/exp_paper_formulas.h"

#include "kernels/shape/problem.h"

double exp_paper_amdahl(double share, double speedup)
{
    return 1 / (1 - share + share / speedup);
}

double exp_paper_percent_faster(double speedup)
{
    return 100 * (speedup - 1);
}

double exp_paper_miss_improvement(double base_hit_percent, double own_hit_percent)
{
    return (100 - base_hit_percent) / (100 - own_hit_percent);
}

double exp_paper_im2col_bytes(const struct conv_problem *p)
{
    return 4.0 * (double)p->c * (double)p->r * (double)p->s * (double)p->p * (double)p->q;
}

double exp_paper_input_bytes(const struct conv_problem *p)
{
    return 4.0 * (double)p->c * (double)p->h * (double)p->w;
}
