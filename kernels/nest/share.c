#include "kernels/nest/share.h"

#include "kernels/sizes.h"

const char *conv_share_axis_name(enum conv_share_axis a)
{
    static const char *const names[CONV_N_SHARE_AXES] = { "planes", "windows", "filters" };

    return names[a];
}

/* Groups that the steps of a plan have in common. */
static size_t groups_of_step(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_DIRECT ? plan->direct.groups : 1;
}

/* Of an image. */
static size_t n_planes(const struct conv_plan *plan)
{
    return ceil_div(plan->problem.groups, groups_of_step(plan));
}

/* What an axis is shared out in. A direct step has all filters of its groups. */
static size_t n_units(const struct conv_plan *plan, enum conv_share_axis axis)
{
    bool is_direct = plan->algorithm == CONV_DIRECT;

    switch (axis) {
    case CONV_SHARE_PLANES:
        return plan->problem.n * n_planes(plan);
    case CONV_SHARE_WINDOWS:
        return is_direct ? ceil_div(plan->problem.p, plan->direct.rows) : plan->sconv.tiling.in_tiles;
    default:
        return is_direct ? 1 : plan->sconv.tiling.f_tiles;
    }
}

/* The plane, window or filter that a unit starts with; of the unit past the last, past the last one. */
static size_t unit_start(const struct conv_plan *plan, enum conv_share_axis axis, size_t unit)
{
    bool is_direct = plan->algorithm == CONV_DIRECT;

    switch (axis) {
    case CONV_SHARE_PLANES:
        return unit;
    case CONV_SHARE_WINDOWS:
        return is_direct ? unit * plan->direct.rows * plan->problem.q : conv_plan_tile_start(plan, unit);
    default:
        return unit * (is_direct ? plan->group_filters : plan->ukr->n_f);
    }
}

/* The first unit of a thread's share; the first shares have one more where they cannot be equal. */
static size_t first_unit(const struct conv_plan *plan, enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    size_t n = n_units(plan, axis);

    return thread * (n / n_threads) + min_size(thread, n % n_threads);
}

/* Planes, windows or filters before a thread's share. */
static size_t share_start(const struct conv_plan *plan, enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    const size_t all[CONV_N_SHARE_AXES] = { plan->problem.n * n_planes(plan), conv_windows(&plan->problem),
                                            plan->group_filters };

    return min_size(all[axis], unit_start(plan, axis, first_unit(plan, axis, thread, n_threads)));
}

/* The share of the time in which a thread has work, when the longest share decides: tiles at the end may be short. */
static double busy(const struct conv_plan *plan, enum conv_share_axis axis, size_t n_threads)
{
    size_t longest = 1;

    for (size_t i = 0; i < n_threads; i++)
        longest = max_size(longest, share_start(plan, axis, i + 1, n_threads) - share_start(plan, axis, i, n_threads));
    return (double)share_start(plan, axis, n_threads, n_threads) / (double)n_threads / (double)longest;
}

/* By filters, each thread packs all windows: that has to be worth it. In place there is nothing to pack. */
static double least_gain_by_filters(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_SCONV && plan->sconv.options.reads_in_place ? 1 : 1.2;
}

enum conv_share_axis conv_share_choose(const struct conv_plan *plan, size_t n_threads)
{
    double planes = busy(plan, CONV_SHARE_PLANES, n_threads), windows = busy(plan, CONV_SHARE_WINDOWS, n_threads);
    enum conv_share_axis best = windows > planes ? CONV_SHARE_WINDOWS : CONV_SHARE_PLANES;
    double most = windows > planes ? windows : planes;

    return busy(plan, CONV_SHARE_FILTERS, n_threads) > most * least_gain_by_filters(plan) ? CONV_SHARE_FILTERS : best;
}

static bool meets(const struct conv_share *s, size_t first, size_t n)
{
    return first < s->end && first + n > s->first;
}

static bool is_mine(const struct conv_share *s, const struct conv_step *step)
{
    size_t plane = step->image * s->planes + step->group / s->groups;
    bool computes = conv_step_computes(step);

    switch (s->axis) {
    case CONV_SHARE_PLANES:
        return meets(s, plane, 1);
    case CONV_SHARE_WINDOWS:
        return meets(s, step->win0, computes ? 1 : step->n_win);
    default:
        return !computes || meets(s, step->f0, 1);
    }
}

static int step(struct conv_backend *self, const struct conv_step *step)
{
    struct conv_share *s = (struct conv_share *)self;

    return is_mine(s, step) ? s->inner->step(s->inner, step) : 0;
}

/* Of n tiles of a size from `from` on, how many begin before `at`. */
static size_t tiles_before(size_t from, size_t size, size_t n, size_t at)
{
    return at > from ? min_size(n, ceil_div(at - from, size)) : 0;
}

/* A run along the axis is cut; of another one, all steps are in the same share. */
static int run(struct conv_backend *self, const struct conv_run *r)
{
    const struct conv_share *s = (const struct conv_share *)self;
    const struct conv_step *first = &r->step;
    size_t from = r->along_filters ? first->f0 : first->win0, size = r->along_filters ? first->n_f : first->n_win;
    struct conv_run mine = *r;

    if (s->axis == (r->along_filters ? CONV_SHARE_FILTERS : CONV_SHARE_WINDOWS)) {
        mine.n = tiles_before(from, size, r->n, s->end);
        conv_run_skip(&mine, min_size(mine.n, tiles_before(from, size, r->n, s->first)));
    } else if (!is_mine(s, first)) {
        mine.n = 0;
    }
    return mine.n ? conv_backend_run(s->inner, &mine) : 0;
}

void conv_share_init(struct conv_share *s, struct conv_backend *inner, const struct conv_plan *plan,
                     enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    *s = (struct conv_share){
        .base = { step, run },
        .inner = inner,
        .axis = axis,
        .planes = n_planes(plan),
        .groups = groups_of_step(plan),
        .first = unit_start(plan, axis, first_unit(plan, axis, thread, n_threads)),
        .end = unit_start(plan, axis, first_unit(plan, axis, thread + 1, n_threads)),
    };
}
