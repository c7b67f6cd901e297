#include "kernels/plan/plan_part.h"

#include <assert.h>

#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"

enum { FEWEST_WINDOWS = 64, FEWEST_FILTERS = 32 };

struct conv_part conv_part_whole(const struct conv_problem *p)
{
    return (struct conv_part){ .images = p->n, .rows = p->p, .filters = conv_group_filters(p) };
}

bool conv_part_is_whole(const struct conv_part *part, const struct conv_problem *p)
{
    return part->images == p->n && part->rows == p->p && part->filters == conv_group_filters(p);
}

bool conv_part_halve(struct conv_part *part, const struct conv_plan *whole)
{
    size_t windows = part->rows * whole->problem.q;
    bool has_rows = part->rows > 1 && windows >= 2 * FEWEST_WINDOWS, has_filters = part->filters >= 2 * FEWEST_FILTERS;

    assert(part->images >= 1 && part->rows >= 1 && part->filters >= 1);
    if (whole->algorithm == CONV_DIRECT)
        return false;
    if (part->images > 1)
        part->images = ceil_div(part->images, 2);
    else if (whole->algorithm == CONV_WINOGRAD)
        return false;
    else if (has_rows && windows >= part->filters) /* more filters than 128 windows are enough to halve */
        part->rows = ceil_div(part->rows, 2);
    else if (has_filters)
        part->filters = ceil_div(part->filters, 2);
    else
        return false;
    return true;
}

static size_t tiles_of(const struct conv_plan *plan, size_t windows)
{
    size_t n = 0;

    while (n < plan->sconv.tiling.in_tiles && conv_plan_tile_start(plan, n) < windows)
        n++;
    return n;
}

static void cut_sconv(struct conv_plan *plan, const struct conv_part *part)
{
    struct csa_tiling *t = &plan->sconv.tiling;

    t->in_tiles = tiles_of(plan, part->rows * plan->problem.q);
    t->f_tiles = min_size(t->f_tiles, ceil_div(part->filters, plan->ukr->n_f));
    plan->problem.n = plan->view.n = part->images;
}

/* Makes the layer with only the input rows that the part's outputs read. */
static struct conv_problem cut_problem(const struct conv_problem *whole, const struct conv_part *part)
{
    struct conv_problem p = *whole;
    size_t reach = (part->rows - 1) * p.stride_h + (p.r - 1) * p.dilation_h + 1;
    char ignored[256];

    p.n = part->images;
    p.k = part->filters * p.groups;
    if (part->rows < whole->p) {
        p.h = reach > p.pad_top ? min_size(p.h, reach - p.pad_top) : 1;
        p.pad_bottom = reach > p.pad_top + p.h ? reach - p.pad_top - p.h : 0;
    }
    conv_problem_finish(&p, SIM_WHY(ignored)); /* cannot fail: the whole is a problem */
    return p;
}

int conv_plan_part(struct conv_plan *plan, const struct conv_plan *whole, const struct conv_part *part)
{
    struct conv_problem p;

    assert(part->images >= 1 && part->rows >= 1 && part->filters >= 1);
    *plan = *whole;
    if (conv_part_is_whole(part, &whole->problem))
        return 0;
    if (whole->algorithm == CONV_GEMM) {
        p = cut_problem(&whole->problem, part);
        return conv_plan_gemm(plan, &p, whole->gemm.core, whole->ukr);
    }
    if (whole->algorithm == CONV_SCONV)
        cut_sconv(plan, part);
    if (whole->algorithm == CONV_WINOGRAD)
        plan->problem.n = plan->view.n = part->images;
    return 0;
}

size_t conv_plan_part_windows(const struct conv_plan *plan)
{
    size_t n = conv_windows(&plan->problem);

    return plan->algorithm == CONV_SCONV ? min_size(n, conv_plan_tile_start(plan, plan->sconv.tiling.in_tiles)) : n;
}

size_t conv_plan_part_filters(const struct conv_plan *plan)
{
    size_t n = plan->group_filters;

    return plan->algorithm == CONV_SCONV ? min_size(n, plan->sconv.tiling.f_tiles * plan->ukr->n_f) : n;
}

double conv_plan_part_macs(const struct conv_plan *plan)
{
    return (double)(plan->problem.n * plan->problem.groups) * (double)conv_plan_part_windows(plan) *
           (double)conv_plan_part_filters(plan) * (double)conv_reduction(&plan->problem);
}
