#include "experiments/run/verdict_numbers.h"

#include <math.h>

/* ---- numbers ---- */

double verdict_sum(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure q)
{
    double sum = 0;

    for (size_t l = 0; l < v->n_layers; l++)
        sum += x->layer[l].of[q].number;
    return sum;
}

double verdict_layer_percent(const struct exp_verdict_layer *x, enum measure part)
{
    return 100 * x->of[part].number / x->of[M_measured_steps_ns].number;
}

double verdict_percent(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure part)
{
    return 100 * verdict_sum(v, x, part) / verdict_sum(v, x, M_measured_steps_ns);
}

double verdict_layer_to_reference(const struct exp_verdict *v, const struct exp_verdict_variant *x, size_t layer,
                                  enum measure q)
{
    return x->layer[layer].of[q].number / v->reference.layer[layer].of[q].number;
}

double verdict_sum_where(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure known,
                         const struct exp_verdict_variant *of, enum measure q)
{
    double sum = 0;

    for (size_t l = 0; l < v->n_layers; l++)
        sum += isnan(verdict_layer_to_reference(v, x, l, known)) ? 0 : of->layer[l].of[q].number;
    return sum;
}

size_t verdict_count_known(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure q)
{
    size_t n = 0;

    for (size_t l = 0; l < v->n_layers; l++)
        n += isnan(verdict_layer_to_reference(v, x, l, q)) ? 0 : 1;
    return n;
}

double verdict_to_reference(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure q)
{
    return verdict_sum_where(v, x, q, x, q) / verdict_sum_where(v, x, q, &v->reference, q);
}

bool verdict_is_compared(const struct exp_verdict_variant *x)
{
    return !isnan(x->speedup.value);
}

struct exp_ratio verdict_speedup(const struct exp_verdict_variant *x)
{
    return verdict_is_compared(x) ? x->speedup : x->part;
}

size_t verdict_extreme_layer(const struct exp_verdict *v, const struct exp_verdict_variant *x, int sign)
{
    size_t found = v->n_layers;

    for (size_t l = 0; l < v->n_layers; l++) {
        double value = x->layer[l].speedup.value;

        if (!isnan(value) && (found == v->n_layers || sign * value > sign * x->layer[found].speedup.value))
            found = l;
    }
    return found;
}

size_t verdict_count_side(const struct exp_verdict *v, const struct exp_verdict_variant *x, int side)
{
    size_t n = 0;

    for (size_t l = 0; l < v->n_layers; l++)
        n += !isnan(x->layer[l].speedup.value) && exp_ratio_side(&x->layer[l].speedup) == side;
    return n;
}

size_t verdict_count_compared(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    return verdict_count_side(v, x, 1) + verdict_count_side(v, x, 0) + verdict_count_side(v, x, -1);
}

/* ---- misses ---- */

const struct verdict_view verdict_as_it_is = { M_simulated_loads, M_simulated_misses_at, "simulated on", "" },
                          verdict_alone = { M_simulated_alone_loads, M_alone_misses_at, "simulated, caches of",
                                            " alone" },
                          verdict_with_all = { M_simulated_loads, M_simulated_misses_at, "simulated,", " as it is" };

enum measure verdict_misses_of(const struct verdict_view *view, size_t level)
{
    return (enum measure)(view->misses + level);
}

size_t verdict_count_simulated(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    return v->n_levels ? verdict_count_known(v, x, M_simulated_misses_at) : 0;
}

double verdict_sum_beside(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                          const struct exp_verdict_variant *of, enum measure q)
{
    return v->n_levels ? verdict_sum_where(v, x, M_simulated_misses_at, of, q) : 0;
}

double verdict_percent_of_loads(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                                const struct exp_verdict_variant *of, const struct verdict_view *view, size_t level)
{
    return 100 * verdict_sum_beside(v, x, of, verdict_misses_of(view, level)) /
           verdict_sum_beside(v, x, of, view->loads);
}

bool verdict_has_estimates(const struct exp_verdict *v)
{
    return !isnan(verdict_sum(v, &v->reference, M_waiting_cycles));
}

bool verdict_has_clock(const struct exp_verdict *v)
{
    return !isnan(verdict_sum(v, &v->reference, M_simulated_cycles));
}

bool verdict_has_cycles(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    return verdict_has_clock(v) && !isnan(verdict_to_reference(v, x, M_simulated_cycles));
}

double verdict_estimate(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure cycles)
{
    return 1 / verdict_to_reference(v, x, cycles);
}

/* Returns the relative half width of a side's cycles, over the layers with cycles of both sides. */
static double cycles_spread(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                            const struct exp_verdict_variant *of)
{
    double sum = 0, squares = 0;

    for (size_t l = 0; l < v->n_layers; l++) {
        const struct value *a = of->layer[l].of;

        if (x->layer[l].of[M_simulated_cycles].why || v->reference.layer[l].of[M_simulated_cycles].why)
            continue;
        sum += a[M_simulated_cycles].number;
        squares += a[M_simulated_cycles_pm].number * a[M_simulated_cycles_pm].number;
    }
    return sum > 0 ? sqrt(squares) / sum : 0;
}

struct exp_ratio verdict_by_cycles(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    const double value = verdict_estimate(v, x, M_simulated_cycles),
                 spread = hypot(cycles_spread(v, x, x), cycles_spread(v, x, &v->reference));

    return (struct exp_ratio){ value, spread > 0 ? value * (1 - spread) : (double)NAN,
                               spread > 0 ? value * (1 + spread) : (double)NAN, (double)NAN };
}

bool verdict_is_open(const struct exp_ratio *r)
{
    return r->low <= 1 && r->high >= 1;
}

double verdict_sampled_percent(const struct exp_verdict *v)
{
    double least = 100;

    for (size_t i = 0; i <= v->n_variants; i++) {
        const struct exp_verdict_variant *x = i < v->n_variants ? &v->variant[i] : &v->reference;

        for (size_t l = 0; l < v->n_layers; l++)
            least = fmin(least, x->layer[l].of[M_simulated_share_percent].number); /* NaN: not simulated */
    }
    return least;
}

const struct exp_verdict_variant *verdict_fastest(const struct exp_verdict *v)
{
    const struct exp_verdict_variant *best = NULL;

    for (size_t i = 0; i < v->n_variants; i++) {
        if (verdict_is_compared(&v->variant[i]) && (!best || v->variant[i].speedup.value > best->speedup.value))
            best = &v->variant[i];
    }
    return best;
}

const struct exp_verdict_variant *verdict_least(const struct exp_verdict *v, enum measure q)
{
    const struct exp_verdict_variant *best = NULL;

    for (size_t i = 0; i < v->n_variants; i++) {
        double sum = verdict_sum(v, &v->variant[i], q);

        if (!isnan(sum) && (!best || sum < verdict_sum(v, best, q)))
            best = &v->variant[i];
    }
    return best;
}

bool verdict_is_simulated(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    return verdict_count_simulated(v, x) > 0;
}

bool verdict_is_checked(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    return isfinite(verdict_speedup(x).value) && !v->why_no_check;
}
