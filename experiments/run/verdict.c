#include "experiments/run/verdict_cycles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/text.h"
#include "experiments/run/verdict_numbers.h"

/* ---- words ---- */

static void put_ratio(const struct exp_ratio *s, FILE *out)
{
    fprintf(out, "%.2fx", s->value);
    if (!isnan(s->low) && !isnan(s->high))
        fprintf(out, " [%.2f, %.2f]", s->low, s->high);
}

static const char *side_words(int side)
{
    return side > 0 ? "faster than" : side < 0 ? "slower than" : "neither faster nor slower, within the spread, than";
}

static const char *why_not_timed(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    const char *why[] = { x ? x->why_not_timed : NULL, v->why_not_timed, v->reference.why_not_timed };

    for (size_t i = 0; i < sizeof why / sizeof why[0]; i++) {
        if (why[i])
            return why[i];
    }
    return "no variant was timed beside it";
}

static const char *layers_word(size_t n)
{
    return n == 1 ? "layer" : "layers";
}

/* ---- the answer for one variant ---- */

static void say_extreme(const struct exp_verdict *v, const struct exp_verdict_variant *x, int sign, FILE *out)
{
    size_t l = verdict_extreme_layer(v, x, sign);
    double packing = verdict_layer_percent(&x->layer[l], M_measured_lowering_ns);

    fprintf(out, "%s %.2f", v->layer[l], x->layer[l].speedup.value);
    if (!isnan(packing))
        fprintf(out, ", packing %.0f %% of it", packing);
}

static void say_layers(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    size_t n = verdict_count_compared(v, x), lost = verdict_count_side(v, x, -1), open = verdict_count_side(v, x, 0);

    fprintf(out, "is faster in %zu of %zu %s", verdict_count_side(v, x, 1), n, layers_word(n));
    if (lost)
        fprintf(out, ", slower in %zu", lost);
    if (open)
        fprintf(out, ", open in %zu (the spread holds 1)", open);
}

static void say_extremes(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    if (verdict_count_compared(v, x) < 2)
        return;
    fprintf(out, EXP_LABEL, "layers");
    fprintf(out, "slowest against %s: ", v->reference.name);
    say_extreme(v, x, -1, out);
    fprintf(out, "; fastest: ");
    say_extreme(v, x, 1, out);
    fprintf(out, "\n");
}

/* Says why: the parts of the time, beside the reference's. */
static void say_parts(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    double packing = verdict_percent(v, x, M_measured_lowering_ns),
           kernel = verdict_percent(v, x, M_measured_kernel_ns);
    double its_packing = verdict_percent(v, &v->reference, M_measured_lowering_ns);
    double its_kernel = verdict_percent(v, &v->reference, M_measured_kernel_ns),
           kernels = verdict_to_reference(v, x, M_measured_kernel_ns);

    if (isnan(packing) || isnan(kernel))
        return;
    fprintf(out, EXP_LABEL "packing %.0f %%, micro-kernels %.0f %%", "time", packing, kernel);
    if (!isnan(its_packing) && !isnan(its_kernel))
        fprintf(out,
                " (%s: im2col and packing %.0f %%, micro-kernels %.0f %%); its micro-kernels take %.2f times as long "
                "as %s's",
                v->reference.name, its_packing, its_kernel, kernels, v->reference.name);
    fprintf(out, "\n");
}

/* ---- misses ---- */

/* Prints a rate with at least two digits. */
static void put_percent(double percent, FILE *out)
{
    fprintf(out, percent >= 10 ? "%.1f %%" : percent >= 1 ? "%.2f %%" : "%.2g %%", percent);
}

/* Says both rates, and the misses in proportion to the reference's, unless there are too few to compare. */
static void say_level(const struct exp_verdict *v, const struct exp_verdict_variant *x, const struct verdict_view *view,
                      size_t level, FILE *out)
{
    const double own = verdict_percent_of_loads(v, x, x, view, level),
                 its = verdict_percent_of_loads(v, x, &v->reference, view, level);
    const enum measure misses = verdict_misses_of(view, level);

    const bool are_few = exp_misses_are_few(own, its);

    fprintf(out, "%s %s", v->level[level], are_few ? "almost none in either (" : "");
    put_percent(own, out);
    fprintf(out, " of its loads, %s ", v->reference.name);
    put_percent(its, out);
    if (are_few)
        fprintf(out, ")");
    else
        fprintf(out, ": %.2f times as many as %s",
                verdict_sum_beside(v, x, x, misses) / verdict_sum_beside(v, x, &v->reference, misses),
                v->reference.name);
}

static void say_view(const struct exp_verdict *v, const struct exp_verdict_variant *x, const struct verdict_view *view,
                     FILE *out)
{
    const size_t n = verdict_count_simulated(v, x);

    fprintf(out, EXP_LABEL "%s %s%s", "misses", view->words, v->machine, view->more);
    if (n < v->n_layers)
        fprintf(out, ", %zu of %zu layers", n, v->n_layers);
    fputs(": ", out);
    for (size_t i = 0; i < v->n_levels; i++) {
        fputs(i ? "; " : "", out);
        say_level(v, x, view, i, out);
    }
    fputc('\n', out);
}

static void say_misses(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    const bool is_explained = x->why_not_timed && !v->why_not_timed; /* a failed variant: one reason is enough */
    const bool has_some = verdict_is_simulated(v, x);

    if (has_some && v->has_two_views)
        say_view(v, x, &verdict_alone, out);
    if (has_some)
        say_view(v, x, v->has_two_views ? &verdict_with_all : &verdict_as_it_is, out);
    if (x->why_not_simulated && !is_explained)
        fprintf(out, EXP_LABEL "%s: %s\n", "misses", has_some ? "the others are not simulated" : "not simulated",
                x->why_not_simulated);
}

/* ---- conversions outside the times ---- */

static double converting_ns(const struct exp_verdict_variant *x)
{
    return x->convert_ns[0] + x->convert_ns[1];
}

static double timed_ns(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                       const struct exp_verdict_variant *of)
{
    double sum = 0;

    for (size_t l = 0; l < v->n_layers; l++)
        sum += isnan(x->layer[l].speedup.value) ? 0 : of->layer[l].of[M_measured_time_ns].number;
    return sum;
}

/* Prints the speed-up of a variant with its conversions included. */
static void put_with_conversions(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    fprintf(out, "%.2fx with its conversions of images",
            timed_ns(v, x, &v->reference) / (timed_ns(v, x, x) + converting_ns(x)));
}

/* Prints the time of a plug-in's image conversions, which the plug-in's times leave out. */
static void say_conversions(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    if (!(converting_ns(x) > 0))
        return;
    fprintf(out,
            EXP_LABEL "images are converted outside of its times: %.3f ms before, %.3f ms behind; its times: %.3f ms",
            "conversions", x->convert_ns[0] / 1e6, x->convert_ns[1] / 1e6, timed_ns(v, x, x) / 1e6);
    if (verdict_count_compared(v, x)) {
        fputs("; ", out);
        put_with_conversions(v, x, out);
    }
    fputc('\n', out);
}

/* ---- the whole ---- */

/* Prints the result of a variant that runs only some layers. */
static void say_some_layers(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    const size_t n = verdict_count_compared(v, x);

    fprintf(out, "does %zu of %zu %s, there ", n, v->n_layers, layers_word(v->n_layers));
    put_ratio(&x->part, out);
    fprintf(out, ": %s %s; not the others: %s\n", side_words(exp_ratio_side(&x->part)), v->reference.name,
            x->why_not_others && *x->why_not_others ? x->why_not_others : why_not_timed(v, x));
    say_extremes(v, x, out);
}

static void say_variant(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    fprintf(out, "\n%s (%s) ", x->label, x->name);
    if (verdict_is_compared(x)) {
        say_layers(v, x, out);
        fprintf(out, ", ");
        put_ratio(&x->speedup, out);
        fprintf(out, " for the model: %s %s\n", side_words(exp_ratio_side(&x->speedup)), v->reference.name);
        say_extremes(v, x, out);
        say_parts(v, x, out);
    } else if (verdict_count_compared(v, x) && isfinite(x->part.value)) {
        say_some_layers(v, x, out);
    } else {
        fprintf(out, "was not timed against %s: %s\n", v->reference.name, why_not_timed(v, x));
    }
    say_conversions(v, x, out);
    say_misses(v, x, out);
    verdict_say_estimates(v, x, out);
}

static void say_timed_answer(const struct exp_verdict *v, const struct exp_verdict_variant *best, FILE *out)
{
    int side = exp_ratio_side(&best->speedup);

    fprintf(out, "%s: ", v->where);
    if (side > 0)
        fprintf(out, "%s is faster than %s: ", best->label, v->reference.label);
    else
        fprintf(out, "nothing %s %s; the best is %s: ", side ? "is as fast as" : "is certainly faster than",
                v->reference.label, best->label);
    put_ratio(&best->speedup, out);
    if (converting_ns(best) > 0) {
        fputs("; ", out);
        put_with_conversions(v, best, out);
    }
    if (v->disturbance)
        fprintf(out, "; the computer was %.*s", (int)strcspn(v->disturbance, ":"), v->disturbance);
    fprintf(out, "\n%s\n", v->how);
    if (v->busy && *v->busy)
        fprintf(out, "Timed %s.\n", v->busy);
    if (v->disturbance)
        fprintf(out, "While it was timed, the computer was %s.\n", v->disturbance);
}

static void say_fastest(const char *label, const char *reference, double speedup, FILE *out)
{
    if (speedup < 1)
        fprintf(out, "nothing is as fast as %s; the best is %s, %.2f times as fast", reference, label, speedup);
    else
        fprintf(out, "%s is %.2f times as fast as %s", label, speedup, reference);
}

/* Without times, names the variant with the fewest simulated cycles, or else with the fewest misses. */
static void say_untimed_answer(const struct exp_verdict *v, FILE *out)
{
    const struct exp_verdict_variant *few = verdict_least(v, M_alone_misses_at),
                                     *fast = verdict_least(v, M_simulated_cycles);

    fprintf(out, "whether anything is faster than %s was not measured: %s\n", v->reference.label,
            why_not_timed(v, NULL));
    if (fast && verdict_has_clock(v)) {
        fprintf(out, "By simulated cycles alone, on %s: ", v->machine);
        say_fastest(fast->label, v->reference.label, verdict_estimate(v, fast, M_simulated_cycles), out);
        fputs(". No time has confirmed this.\n", out);
    } else if (few && verdict_is_simulated(v, few)) {
        fprintf(out, "By simulated misses alone, on %s%s: the best is %s, ", v->machine,
                v->has_two_views ? " (its caches alone, nothing prefetched)" : "", few->label);
        say_level(v, few, &verdict_alone, 0, out);
        fputs(". Fewer misses need not be less time.\n", out);
    }
}

static void say_answer(const struct exp_verdict *v, FILE *out)
{
    const struct exp_verdict_variant *best = verdict_fastest(v);

    fprintf(out, "VERDICT for %s (%zu %s): ", v->model, v->n_layers, v->n_layers == 1 ? "convolution" : "convolutions");
    if (best)
        say_timed_answer(v, best, out);
    else
        say_untimed_answer(v, out);
}

static void say_no_cycles(const struct exp_verdict *v, FILE *out)
{
    if (v->why_no_cycles)
        fprintf(out, "\nSimulated cycles are not available: %s.\n", v->why_no_cycles);
    if (v->is_never_timed)
        fprintf(out, "\nSimulated cycles of %s were never timed: no such machine has confirmed them.\n", v->machine);
}

static void say_sampled(const struct exp_verdict *v, FILE *out)
{
    const double percent = verdict_sampled_percent(v);

    if (percent < 100)
        fprintf(
            out,
            "\nThe replays are samples: of the accesses of a layer, at least %.2g %% were simulated one by one. Loads "
            "and "
            "stores are exact, and the columns _pm hold half of the 95 %% intervals of further counts. SAMPLE=exact "
            "simulates all accesses.\n",
            percent);
}

static void say_no_parts(const struct exp_verdict *v, FILE *out)
{
    if (v->why_no_parts && !v->why_not_timed)
        fprintf(out, "\nHow %s's time divides into packing and micro-kernels is not known: %s.\n", v->reference.name,
                v->why_no_parts);
}

static void say_observed(const struct exp_verdict *v, FILE *out)
{
    if (v->observed && *v->observed)
        fprintf(out, "\nAccess by access: %s\n", v->observed);
}

static void say_planned_levels(const struct exp_verdict *v, FILE *out)
{
    if (*v->planned_levels)
        fprintf(out, "\n%s\n", v->planned_levels);
}

static int say_all(const void *verdict, FILE *out)
{
    const struct exp_verdict *v = verdict;

    say_answer(v, out);
    if (v->notes && *v->notes)
        fprintf(out, "%s\n", v->notes);
    for (size_t i = 0; i < v->n_variants; i++)
        say_variant(v, &v->variant[i], out);
    say_planned_levels(v, out);
    say_no_parts(v, out);
    say_sampled(v, out);
    say_observed(v, out);
    verdict_say_cycles_errors(v, out);
    say_no_cycles(v, out);
    if (v->picks && *v->picks)
        fprintf(out, "\n%s\n", v->picks);
    if (v->prefetchers && *v->prefetchers)
        fprintf(out, "\n%s\n", v->prefetchers);
    verdict_say_unproven(v, out);
    return 0;
}

/* ---- rows ---- */

static const char *side_word(const struct exp_ratio *s)
{
    int side = exp_ratio_side(s);

    return isnan(s->value) ? "-" : side > 0 ? "faster" : side < 0 ? "slower" : "open";
}

static void put_number(const char *format, int width, double x, FILE *out)
{
    if (isnan(x))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, format, width, x);
}

static double layer_percent(const struct exp_verdict_layer *l, size_t level)
{
    return 100 * l->of[M_simulated_misses_at + level].number / l->of[M_simulated_loads].number;
}

/* Puts a layer's misses beside the reference's, if there are enough to compare. */
static void put_quotient(const struct exp_verdict *v, const struct exp_verdict_variant *x, size_t l, size_t level,
                         FILE *out)
{
    if (exp_misses_are_few(layer_percent(&x->layer[l], level), layer_percent(&v->reference.layer[l], level)))
        fprintf(out, " %6s", "few");
    else
        put_number(" %*.2f", 6, verdict_layer_to_reference(v, x, l, verdict_misses_of(&verdict_as_it_is, level)), out);
}

static void put_estimates(const struct exp_verdict *v, const struct exp_verdict_variant *x, size_t l, FILE *out)
{
    if (verdict_has_clock(v)) {
        put_number(" %*.2f", 9, 1 / verdict_layer_to_reference(v, x, l, M_simulated_cycles), out);
        return;
    }
    for (int q = M_issue_cycles; q <= M_waiting_cycles && verdict_has_estimates(v); q++)
        put_number(" %*.2f", 8, 1 / verdict_layer_to_reference(v, x, l, (enum measure)q), out);
}

static void put_row(const struct exp_verdict *v, const struct exp_verdict_variant *x, size_t l, FILE *out)
{
    const struct exp_verdict_layer *at = &x->layer[l];
    char span[32] = "";

    if (!isnan(at->speedup.low) && !isnan(at->speedup.high))
        snprintf(span, sizeof span, "[%.2f, %.2f]", at->speedup.low, at->speedup.high);
    fprintf(out, "%-24.24s", x == v->variant ? v->layer[l] : "");
    if (x == v->variant)
        put_number(" %*.3f", 9, v->reference.layer[l].of[M_measured_time_ns].number / 1e6, out);
    else
        fprintf(out, " %9s", "");
    fprintf(out, " %-14.14s", x->name);
    put_number(" %*.2f", 6, at->speedup.value, out);
    fprintf(out, " %-14s %-6s", span, side_word(&at->speedup));
    put_number(" %*.0f", 8, verdict_layer_percent(at, M_measured_lowering_ns), out);
    put_number(" %*.0f", 8, verdict_layer_percent(at, M_measured_kernel_ns), out);
    put_number(" %*.2f", 9, verdict_layer_to_reference(v, x, l, M_measured_kernel_ns), out);
    for (size_t i = 0; i < v->n_levels; i++)
        put_quotient(v, x, l, i, out);
    put_estimates(v, x, l, out);
    fprintf(out, "\n");
}

static void put_heading(const struct exp_verdict *v, FILE *out)
{
    char compared[48];

    snprintf(compared, sizeof compared, "kernels%s over %.8s's", v->n_levels ? ", misses" : "", v->reference.name);
    fprintf(out, "\n%-24s %9.9s %-14s %6s %-14s %-6s %17s %*s", "", v->reference.name, "", "", "", "", "% of its time",
            (int)(9 + 7 * v->n_levels), compared);
    fprintf(out,
            verdict_has_clock(v)       ? " %9s\n"
            : verdict_has_estimates(v) ? " %17s\n"
                                       : "\n",
            verdict_has_clock(v) ? "simulated" : "estimated x if");
    fprintf(out, "%-24s %9s %-14s %6s %-14s %-6s %8s %8s %9s", "layer", "ms", "variant", "x", "[low, high]", "",
            "packing", "kernels", "kernels");
    for (size_t i = 0; i < v->n_levels; i++)
        fprintf(out, " %6.6s", v->level[i]);
    if (verdict_has_clock(v))
        fprintf(out, " %9s", "x");
    else if (verdict_has_estimates(v))
        fprintf(out, " %8s %8s", "all hit", "all wait");
    fprintf(out, "\n");
}

static void put_rows(const struct exp_verdict *v, FILE *out)
{
    put_heading(v, out);
    for (size_t l = 0; l < v->n_layers; l++) {
        for (size_t i = 0; i < v->n_variants; i++)
            put_row(v, &v->variant[i], l, out);
    }
    fprintf(out,
            "x: time of %s / its time, over 1 is faster; [low, high]: 95 %% of the values that random halves of the "
            "rounds give;\nfaster, slower: all of these values are on that side of 1, open: they hold 1; -: not known; "
            "few: both miss in less than %g %% of their loads.\n",
            v->reference.name, EXP_FEW_PERCENT);
}

/* Tells whether any row would have a number: a time, or misses beside the reference's. */
static bool is_anything_known(const struct exp_verdict *v)
{
    for (size_t i = 0; i < v->n_variants; i++) {
        if (verdict_count_compared(v, &v->variant[i]) || verdict_is_simulated(v, &v->variant[i]))
            return true;
    }
    return false;
}

static void put_some_rows(const struct exp_verdict *v, size_t most_rows, FILE *out)
{
    size_t n_rows = v->n_layers * v->n_variants;

    if (!is_anything_known(v))
        return;
    if (n_rows <= most_rows)
        put_rows(v, out);
    else
        fprintf(out, "\nLayer by layer: %zu rows, in verdict.txt\n", n_rows);
}

void exp_verdict_print(const struct exp_verdict *v, size_t most_rows, FILE *out)
{
    exp_wrap_print(say_all, v, out);
    put_some_rows(v, most_rows, out);
}

void exp_verdict_print_last(const struct exp_verdict *v, size_t most_rows, FILE *out)
{
    put_some_rows(v, most_rows, out);
    fputc('\n', out);
    exp_wrap_print(say_all, v, out);
}
