#include "kernels/nest/share.h"

#include <assert.h>
#include <stdint.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/ukr.h"

const char *conv_share_axis_name(enum conv_share_axis a)
{
    static const char *const names[CONV_N_SHARE_AXES] = { "planes", "windows", "filters" };

    assert(a < CONV_N_SHARE_AXES);
    return names[a];
}

/* Groups that the steps of a plan have in common. */
static size_t groups_of_step(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_DIRECT ? plan->direct.groups : 1;
}

static size_t n_planes(const struct conv_plan *plan)
{
    return ceil_div(plan->problem.groups, groups_of_step(plan));
}

/* Images that the steps of a plan have in common. */
static size_t images_of_step(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_DIRECT ? plan->direct.images : 1;
}

static size_t all_planes(const struct conv_plan *plan)
{
    return ceil_div(plan->problem.n, images_of_step(plan)) * n_planes(plan);
}

/* Returns the windows of an image; Winograd's are tiles. */
static size_t n_windows(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_WINOGRAD ? plan->winograd.tile_rows * plan->winograd.tile_columns
                                            : conv_windows(&plan->problem);
}

/* Returns the windows of a step that no other step may share, of plans without SConv's tiles. */
static size_t step_windows(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_WINOGRAD ? plan->winograd.block : plan->direct.rows * plan->problem.q;
}

/* Returns the filters of a step that no other step may share; a block of Winograd's has all filters. */
static size_t step_filters(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_WINOGRAD ? plan->group_filters
           : plan->algorithm == CONV_DIRECT ? plan->direct.filters
                                            : plan->ukr->n_f;
}

/* Returns the number of units of an axis. */
static size_t n_units(const struct conv_plan *plan, enum conv_share_axis axis)
{
    bool is_sconv = plan->algorithm == CONV_SCONV;

    switch (axis) {
    case CONV_SHARE_PLANES:
        return all_planes(plan);
    case CONV_SHARE_WINDOWS:
        return is_sconv ? plan->sconv.tiling.in_tiles : ceil_div(n_windows(plan), step_windows(plan));
    default:
        return is_sconv ? plan->sconv.tiling.f_tiles : ceil_div(plan->group_filters, step_filters(plan));
    }
}

/* The plane, window or filter that a unit starts with; of the unit past the last, the end of the axis. */
static size_t unit_start(const struct conv_plan *plan, enum conv_share_axis axis, size_t unit)
{
    bool is_sconv = plan->algorithm == CONV_SCONV;

    switch (axis) {
    case CONV_SHARE_PLANES:
        return unit;
    case CONV_SHARE_WINDOWS:
        return is_sconv ? conv_plan_tile_start(plan, unit) : unit * step_windows(plan);
    default:
        return unit * step_filters(plan);
    }
}

static size_t length(const struct conv_plan *plan, enum conv_share_axis axis)
{
    switch (axis) {
    case CONV_SHARE_PLANES:
        return all_planes(plan);
    case CONV_SHARE_WINDOWS:
        return n_windows(plan);
    default:
        return plan->group_filters;
    }
}

/* ---- which axis: whole units alone, because a unit that threads share is packed twice ---- */

/* The first unit of a thread's share; where shares cannot be equal, the first shares have one unit more. */
static size_t first_unit(const struct conv_plan *plan, enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    size_t n = n_units(plan, axis);

    return thread * (n / n_threads) + min_size(thread, n % n_threads);
}

/* Planes, windows or filters before a thread's share. */
static size_t share_start(const struct conv_plan *plan, enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    return min_size(length(plan, axis), unit_start(plan, axis, first_unit(plan, axis, thread, n_threads)));
}

/* The share of the time in which a thread has work, when the longest share decides: tiles at the end may be short. */
static double busy(const struct conv_plan *plan, enum conv_share_axis axis, size_t n_threads)
{
    size_t longest = 1;

    for (size_t i = 0; i < n_threads; i++)
        longest = max_size(longest, share_start(plan, axis, i + 1, n_threads) - share_start(plan, axis, i, n_threads));
    return (double)share_start(plan, axis, n_threads, n_threads) / (double)n_threads / (double)longest;
}

/* By filters, each thread packs all windows: the gain must pay for the packing. In place nothing is packed. */
static double least_gain_by_filters(const struct conv_plan *plan)
{
    return plan->algorithm == CONV_SCONV && plan->sconv.options.reads_in_place ? 1 : 1.2;
}

enum conv_share_axis conv_share_choose(const struct conv_plan *plan, size_t n_threads)
{
    double planes = busy(plan, CONV_SHARE_PLANES, n_threads), windows = busy(plan, CONV_SHARE_WINDOWS, n_threads);
    enum conv_share_axis best = windows > planes ? CONV_SHARE_WINDOWS : CONV_SHARE_PLANES;
    double most = windows > planes ? windows : planes;

    assert(n_threads >= 1);
    return busy(plan, CONV_SHARE_FILTERS, n_threads) > most * least_gain_by_filters(plan) ? CONV_SHARE_FILTERS : best;
}

/* ---- the bounds of a share ---- */

static const enum conv_share_axis second_axis[CONV_N_SHARE_AXES] = {
    [CONV_SHARE_PLANES] = CONV_SHARE_WINDOWS,
    [CONV_SHARE_WINDOWS] = CONV_SHARE_FILTERS,
    [CONV_SHARE_FILTERS] = CONV_SHARE_WINDOWS,
};

/* Returns the unit that contains a place; of the end, the unit past the last. */
static size_t unit_of(const struct conv_plan *plan, enum conv_share_axis axis, size_t place)
{
    size_t low = 0, high = n_units(plan, axis);

    if (place >= length(plan, axis))
        return high;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        *(unit_start(plan, axis, middle) <= place ? &low : &high) = middle;
    }
    return low;
}

/* Returns the start of the unit that begins nearest to a place. */
static size_t nearest_start(const struct conv_plan *plan, enum conv_share_axis axis, size_t place)
{
    const size_t unit = unit_of(plan, axis, place), start = unit_start(plan, axis, unit);
    const size_t next = min_size(length(plan, axis), unit_start(plan, axis, unit + 1));

    return place - start >= next - place ? next : start;
}

/* Returns the start of a thread's share: the shares of earlier threads have equal numbers of outputs. */
static struct conv_share_place share_first(const struct conv_plan *plan, enum conv_share_axis axis, size_t thread,
                                           size_t n_threads)
{
    const size_t minor = length(plan, second_axis[axis]), outputs = length(plan, axis) * minor;
    const size_t before = outputs / n_threads * thread + outputs % n_threads * thread / n_threads;
    const size_t unit = unit_of(plan, axis, before / minor), start = unit_start(plan, axis, unit);
    const size_t next = min_size(length(plan, axis), unit_start(plan, axis, unit + 1));
    struct conv_share_place place = { start, 0 };

    if (thread == n_threads)
        return place;
    place.minor = nearest_start(plan, second_axis[axis], (before - start * minor) / (next - start));
    return place.minor < minor ? place : (struct conv_share_place){ unit_start(plan, axis, unit + 1), 0 };
}

/* ---- whose a step is ---- */

static bool is_before(struct conv_share_place a, struct conv_share_place b)
{
    return a.major < b.major || (a.major == b.major && a.minor < b.minor);
}

static size_t plane_of(const struct conv_share *s, const struct conv_step *step)
{
    return step->image / s->images * s->planes + step->group / s->groups;
}

static struct conv_share_place place_of(const struct conv_share *s, const struct conv_step *step)
{
    switch (s->axis) {
    case CONV_SHARE_PLANES:
        return (struct conv_share_place){ plane_of(s, step), step->win0 };
    case CONV_SHARE_WINDOWS:
        return (struct conv_share_place){ step->win0, step->f0 };
    default:
        return (struct conv_share_place){ step->f0, step->win0 };
    }
}

/* Tells whether the step packs windows that the share reads. */
static bool packs_mine(const struct conv_share *s, const struct conv_step *step)
{
    const size_t last = step->win0 + step->n_win - 1;

    switch (s->axis) {
    case CONV_SHARE_PLANES:
        return !is_before((struct conv_share_place){ plane_of(s, step), last }, s->first) &&
               is_before(place_of(s, step), s->end);
    case CONV_SHARE_WINDOWS:
        return last >= s->first.major && step->win0 < s->edge;
    default:
        return true;
    }
}

static bool is_mine(const struct conv_share *s, const struct conv_step *step)
{
    const struct conv_share_place place = place_of(s, step);

    if (!is_before(s->first, s->end))
        return false;
    return conv_step_computes(step) ? !is_before(place, s->first) && is_before(place, s->end) : packs_mine(s, step);
}

/* Leaves tiles that the share does not read out of a step that packs several tiles. */
static struct conv_step packed_here(const struct conv_share *s, const struct conv_step *step)
{
    const size_t skipped = step->win0 < s->first.major ? s->first.major - step->win0 : 0;
    struct conv_step mine = *step;

    mine.win0 += skipped;
    mine.in_panel += skipped / s->tile * s->tile_elems;
    mine.n_win = min_size(step->win0 + step->n_win, s->edge) - mine.win0;
    return mine;
}

static int step(struct conv_backend *self, const struct conv_step *step)
{
    struct conv_share *s = (struct conv_share *)self;
    struct conv_step packed;

    if (!is_mine(s, step))
        return 0;
    if (step->kind == CONV_STEP_PACK_WINDOWS && s->axis == CONV_SHARE_WINDOWS) {
        packed = packed_here(s, step);
        step = &packed;
    }
    return s->inner->step(s->inner, step);
}

/* Returns how many of n tiles of a size, from `from` on, begin before `at`. */
static size_t tiles_before(size_t from, size_t size, size_t n, size_t at)
{
    return at > from ? min_size(n, (at - from - 1) / size + 1) : 0;
}

/* Returns where on a run's own axis the places before `limit` end. */
static size_t run_limit(struct conv_share_place first, struct conv_share_place limit, bool along_major)
{
    if (along_major)
        return limit.major + (first.minor < limit.minor);
    return first.major < limit.major ? SIZE_MAX : first.major == limit.major ? limit.minor : 0;
}

/* Cuts a run along an axis of the share; along another axis, all steps are in one share. */
static int run(struct conv_backend *self, const struct conv_run *r)
{
    const struct conv_share *s = (const struct conv_share *)self;
    const enum conv_share_axis axis = r->along_filters ? CONV_SHARE_FILTERS : CONV_SHARE_WINDOWS;
    const struct conv_share_place first = place_of(s, &r->step);
    size_t from = r->along_filters ? r->step.f0 : r->step.win0, size = r->along_filters ? r->step.n_f : r->step.n_win;
    struct conv_run mine = *r;

    if (s->axis == axis || second_axis[s->axis] == axis) {
        mine.n = tiles_before(from, size, r->n, run_limit(first, s->end, s->axis == axis));
        conv_run_skip(&mine,
                      min_size(mine.n, tiles_before(from, size, r->n, run_limit(first, s->first, s->axis == axis))));
    } else if (!is_mine(s, &r->step)) {
        mine.n = 0;
    }
    return mine.n ? conv_backend_run(s->inner, &mine) : 0;
}

void conv_share_init(struct conv_share *s, struct conv_backend *inner, const struct conv_plan *plan,
                     enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    assert(axis < CONV_N_SHARE_AXES && thread < n_threads);
    *s = (struct conv_share){
        .base = { step, run },
        .inner = inner,
        .axis = axis,
        .planes = n_planes(plan),
        .groups = groups_of_step(plan),
        .images = images_of_step(plan),
        .first = share_first(plan, axis, thread, n_threads),
        .end = share_first(plan, axis, thread + 1, n_threads),
    };
    if (plan->algorithm == CONV_SCONV) {
        s->tile = plan->ukr->n_win;
        s->tile_elems = plan->sconv.depth * conv_ukr_in_width(plan->ukr, s->tile);
    }
    s->edge = s->end.minor ? unit_start(plan, axis, unit_of(plan, axis, s->end.major) + 1) : s->end.major;
}
