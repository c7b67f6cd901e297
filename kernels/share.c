#include "kernels/share.h"

/* Of an axis: how many units it is cut into, and how many positions a unit has. */
struct axis_units {
    size_t n, length;
};

const char *conv_share_axis_name(enum conv_share_axis a)
{
    static const char *const names[CONV_N_SHARE_AXES] = { "planes", "windows", "filters" };

    return names[a];
}

static size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static struct axis_units units(const struct conv_plan *plan, enum conv_share_axis axis)
{
    const struct conv_problem *p = &plan->problem;

    switch (axis) {
    case CONV_SHARE_PLANES:
        return (struct axis_units){ p->n * p->groups, 1 };
    case CONV_SHARE_WINDOWS:
        return (struct axis_units){ ceil_div(conv_windows(p), plan->ukr->n_win), plan->ukr->n_win };
    default:
        return (struct axis_units){ ceil_div(conv_group_filters(p), plan->ukr->n_f), plan->ukr->n_f };
    }
}

/* The share of the time in which a thread has work, when the longest share decides. */
static double busy(const struct conv_plan *plan, enum conv_share_axis axis, size_t n_threads)
{
    size_t n = units(plan, axis).n;

    return (double)n / (double)n_threads / (double)ceil_div(n, n_threads);
}

enum conv_share_axis conv_share_choose(const struct conv_plan *plan, size_t n_threads)
{
    const double worth_packing_twice = 1.2;
    double planes = busy(plan, CONV_SHARE_PLANES, n_threads), windows = busy(plan, CONV_SHARE_WINDOWS, n_threads);
    enum conv_share_axis best = windows > planes ? CONV_SHARE_WINDOWS : CONV_SHARE_PLANES;
    double most = windows > planes ? windows : planes;

    return busy(plan, CONV_SHARE_FILTERS, n_threads) > most * worth_packing_twice ? CONV_SHARE_FILTERS : best;
}

static bool meets(const struct conv_share *s, size_t first, size_t n)
{
    return first < s->end && first + n > s->first;
}

static bool is_mine(const struct conv_share *s, const struct conv_step *step)
{
    size_t plane = step->image * s->groups + step->group;
    bool is_ukr = step->kind == CONV_STEP_UKR;

    switch (s->axis) {
    case CONV_SHARE_PLANES:
        return meets(s, plane, 1);
    case CONV_SHARE_WINDOWS:
        return meets(s, step->win0, is_ukr ? 1 : step->n_win);
    default:
        return !is_ukr || meets(s, step->f0, 1);
    }
}

static int step(struct conv_backend *self, const struct conv_step *step)
{
    struct conv_share *s = (struct conv_share *)self;

    return is_mine(s, step) ? s->inner->step(s->inner, step) : 0;
}

void conv_share_init(struct conv_share *s, struct conv_backend *inner, const struct conv_plan *plan,
                     enum conv_share_axis axis, size_t thread, size_t n_threads)
{
    struct axis_units u = units(plan, axis);
    size_t each = u.n / n_threads, more = u.n % n_threads; /* the first `more` threads have one unit more */
    size_t first = thread * each + (thread < more ? thread : more);

    *s = (struct conv_share){
        .base.step = step,
        .inner = inner,
        .axis = axis,
        .groups = plan->problem.groups,
        .first = first * u.length,
        .end = (first + each + (thread < more)) * u.length,
    };
}
