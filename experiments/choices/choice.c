#include "experiments/choices/choice.h"

#include <assert.h>
#include <math.h>

/* Returns the place of the least of n known numbers; of equal numbers, the first. */
static size_t least(const struct value *x, size_t n)
{
    size_t found = 0;

    for (size_t i = 1; i < n; i++)
        found = x[i].number < x[found].number ? i : found;
    return found;
}

static const char *first_why(const struct value *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (x[i].why)
            return x[i].why;
    }
    return NULL;
}

void exp_choose(struct exp_choice *c)
{
    assert(c->n > 0 && c->n <= EXP_CHOICE_MOST && !exp_choice_lacks_number(c));
    c->chosen = least(c->by, c->n);
}

size_t exp_choice_best(const struct exp_choice *c)
{
    assert(c->n > 0 && c->n <= EXP_CHOICE_MOST);
    return least(c->cost, c->n);
}

const char *exp_choice_lacks_number(const struct exp_choice *c)
{
    return first_why(c->by, c->n);
}

const char *exp_choice_lacks_cost(const struct exp_choice *c)
{
    const char *reason = exp_choice_lacks_number(c);

    return reason ? reason : first_why(c->cost, c->n);
}

bool exp_choice_is_right(const struct exp_choice *c)
{
    assert(c->chosen < c->n);
    return c->cost[c->chosen].number <= c->cost[exp_choice_best(c)].number;
}

bool exp_choice_is_tie(const struct exp_choice *c)
{
    for (size_t i = 1; i < c->n; i++) {
        if (c->cost[i].number < c->cost[0].number || c->cost[i].number > c->cost[0].number)
            return false;
    }
    return true;
}

bool exp_choice_is_open(const struct exp_choice *c)
{
    const size_t best = exp_choice_best(c);

    for (size_t i = 0; i < c->n; i++) {
        const double pm = hypot(c->pm[i], c->pm[best]);

        if (i != best && pm > 0 && c->cost[i].number - c->cost[best].number <= pm)
            return true;
    }
    return false;
}

bool exp_choice_matters(const struct exp_choice *c, double factor)
{
    const double ratio = c->cost[0].number / c->cost[1].number;

    assert(c->n == 2 && factor >= 1);
    return ratio > factor || ratio < 1 / factor; /* NaN is neither */
}

void exp_choice_add(struct exp_choice_sum *s, const struct exp_choice *c)
{
    const char *why = first_why(c->cost, c->n);
    double best;

    s->why = s->why ? s->why : why;
    if (why)
        return;
    best = c->cost[exp_choice_best(c)].number;
    s->n++;
    s->n_right += exp_choice_is_right(c);
    s->n_tie += exp_choice_is_tie(c);
    s->n_open += exp_choice_is_open(c);
    s->n_chosen[c->chosen]++;
    for (size_t i = 0; i < c->n; i++) {
        s->cost[i] += c->cost[i].number;
        s->squares[i] += c->pm[i] * c->pm[i];
        s->n_best[i] += c->cost[i].number <= best;
    }
    s->chosen += c->cost[c->chosen].number;
    s->best += best;
}

double exp_choice_right_percent(const struct exp_choice_sum *s)
{
    return 100.0 * (double)s->n_right / (double)s->n;
}

double exp_choice_regret_percent(const struct exp_choice_sum *s)
{
    return 100 * (s->chosen / s->best - 1);
}
