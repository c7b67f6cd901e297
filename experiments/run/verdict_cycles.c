#include "experiments/run/verdict_cycles.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/base/text.h"
#include "experiments/run/verdict_numbers.h"

/* ---- estimates ---- */

static const char *estimate_words(enum measure cycles)
{
    return cycles == M_simulated_cycles ? "by simulated cycles"
           : cycles == M_issue_cycles   ? EXP_IF_ALL_HIT
                                        : EXP_IF_ALL_WAIT;
}

static struct exp_accuracy accuracy(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                                    enum measure cycles)
{
    struct exp_accuracy_pair *pair = exp_new(v->n_layers, sizeof *pair);
    struct exp_accuracy a;

    for (size_t l = 0; l < v->n_layers; l++)
        pair[l] = (struct exp_accuracy_pair){ 1 / verdict_layer_to_reference(v, x, l, cycles), x->layer[l].speedup };
    a = exp_accuracy_of(pair, v->n_layers);
    free(pair);
    return a;
}

static void say_checked(const struct exp_verdict *v, const struct exp_verdict_variant *x, enum measure cycles,
                        FILE *out)
{
    const struct exp_accuracy a = accuracy(v, x, cycles);
    const char *how = cycles == M_simulated_cycles ? "simulated" : "estimated";

    fprintf(out, EXP_LABEL, how);
    exp_accuracy_say(&a, how, verdict_estimate(v, x, cycles), estimate_words(cycles), verdict_speedup(x), out);
    fprintf(out, "\n");
}

/* ---- simulated cycles ---- */

static struct exp_cycles_pair cycles_of(const struct exp_verdict_variant *x, size_t layer)
{
    return (struct exp_cycles_pair){ x->layer[layer].of[M_taken_cycles].number,
                                     x->layer[layer].of[M_simulated_cycles].number };
}

void verdict_say_cycles_errors(const struct exp_verdict *v, FILE *out)
{
    const size_t n_rows = v->n_layers * (v->n_variants + 1);
    struct exp_cycles_pair *pair = exp_new(n_rows, sizeof *pair);
    size_t n = 0, n_sided = 0, n_right = 0;
    struct exp_spread errors, quotients;

    for (size_t l = 0; l < v->n_layers; l++) {
        pair[n++] = cycles_of(&v->reference, l);
        for (size_t i = 0; i < v->n_variants; i++, n++) {
            const int order = exp_cycles_order(cycles_of(&v->reference, l), pair[n] = cycles_of(&v->variant[i], l));

            n_sided += order != 0;
            n_right += order > 0;
        }
    }
    errors = exp_cycles_errors(pair, n);
    quotients = exp_cycles_quotients(pair, n);
    free(pair);
    if (!errors.n)
        return;
    fprintf(out,
            "\nSimulated over measured cycles, %zu layers and algorithms: %.2f in the median; half of them are off by "
            "at most %.1f %%, nine of ten by at most %.1f %%",
            errors.n, quotients.median, errors.median, errors.p90);
    if (n_sided)
        fprintf(out, "; on the right side of %s in %zu of %zu that differ by over %.0f %%", v->reference.name, n_right,
                n_sided, 100 * (EXP_CYCLES_TIE - 1));
    fputs(".\n", out);
}

/* Sums a measure of `of` over the layers in which x and the reference have simulated cycles. */
static double clock_sum(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                        const struct exp_verdict_variant *of, enum measure q)
{
    return verdict_sum_where(v, x, M_simulated_cycles, of, q);
}

static double clock_percent(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                            const struct exp_verdict_variant *of, size_t part)
{
    return 100 * clock_sum(v, x, of, (enum measure)part) / clock_sum(v, x, of, M_simulated_cycles);
}

/* Names a part of the cycles; a level has the machine's own name. */
static const char *part_name(const struct exp_verdict *v, size_t part)
{
    static const char *const names[EXP_N_CLOCK_PARTS] = { [EXP_PART_COMPUTING] = "computing",
                                                          [EXP_PART_PACKING] = "packing instructions",
                                                          [EXP_PART_CALLS] = "calls",
                                                          [EXP_PART_MEMORY] = "memory",
                                                          [EXP_PART_TLB] = "TLBs",
                                                          [EXP_PART_STORES] = "stores" };
    const size_t level = part == EXP_PART_L2 ? 1 : v->n_levels - 1; /* the last stands for the middle ones, too */

    return names[part] ? names[part] : v->level[level];
}

/* Says the parts of at least 1 % in value[], the greatest first, with `before` in front if there are any. */
static void say_greatest(const struct exp_verdict *v, double value[EXP_N_CLOCK_PARTS], const char *before, FILE *out)
{
    for (size_t n = 0; n < EXP_N_CLOCK_PARTS; n++) {
        size_t most = 0;

        for (size_t i = 1; i < EXP_N_CLOCK_PARTS; i++)
            most = value[i] > value[most] ? i : most;
        if (!(value[most] >= 1))
            return;
        fprintf(out, "%s%s%s %.0f %%", n ? ", " : before, most >= EXP_PART_L2 ? "waiting for " : "", part_name(v, most),
                value[most]);
        value[most] = 0;
    }
}

/* Says the largest parts of the cycles of `of`, in the layers of x. */
static void say_parts_of_clock(const struct exp_verdict *v, const struct exp_verdict_variant *x,
                               const struct exp_verdict_variant *of, FILE *out)
{
    double percent[EXP_N_CLOCK_PARTS];

    for (size_t i = 0; i < EXP_N_CLOCK_PARTS; i++)
        percent[i] = clock_percent(v, x, of, M_simulated_computing_cycles + i);
    fprintf(out, "%s", of->name);
    say_greatest(v, percent, ": ", out);
}

/* Says where a variant takes fewer cycles than the reference, and where more. */
static void say_differences(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    const double whole = clock_sum(v, x, &v->reference, M_simulated_cycles),
                 sum = clock_sum(v, x, x, M_simulated_cycles);
    double fewer[EXP_N_CLOCK_PARTS], more[EXP_N_CLOCK_PARTS];

    for (size_t i = 0; i < EXP_N_CLOCK_PARTS; i++) {
        const enum measure part = (enum measure)(M_simulated_computing_cycles + i);

        more[i] = 100 * (clock_sum(v, x, x, part) - clock_sum(v, x, &v->reference, part)) / whole;
        fewer[i] = -more[i];
    }
    fprintf(out, "%s takes %.0f %% %s simulated cycles than %s", x->name, fabs(100 * (sum / whole - 1)),
            sum > whole ? "more" : "fewer", v->reference.name);
    say_greatest(v, fewer, ": less for ", out);
    say_greatest(v, more, "; more for ", out);
    fprintf(out, ". ");
}

/* Says why: the differences, and the parts of both variants' cycles. */
static void say_why(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    const struct exp_verdict_variant *base = &v->reference;

    fprintf(out, EXP_LABEL, "why");
    say_differences(v, x, out);
    fprintf(out,
            "%.0f %% of %s's cycles are im2col, packing and clearing, of which it waits for memory %.0f %%; %.0f %% of "
            "%s's. ",
            clock_percent(v, x, base, M_simulated_around_cycles), base->name,
            100 * clock_sum(v, x, base, M_simulated_around_memory_cycles) /
                fmax(1, clock_sum(v, x, base, M_simulated_around_cycles)),
            clock_percent(v, x, x, M_simulated_around_cycles), x->name);
    say_parts_of_clock(v, x, base, out);
    fprintf(out, "; ");
    say_parts_of_clock(v, x, x, out);
    fprintf(out, "\n");
}

double verdict_half_width(const struct exp_ratio *r)
{
    return ceil(100 * (r->high - r->value)) / 100;
}

/* Says the speed-up by simulated cycles: with its interval, if replays were sampled. */
static void say_unchecked(const struct exp_verdict *v, const struct exp_verdict_variant *x, const char *part, FILE *out)
{
    const struct exp_ratio r = verdict_by_cycles(v, x);

    fprintf(out, EXP_LABEL "%.2f ", "simulated", r.value);
    if (!isnan(r.low))
        fprintf(out, "+- %.2f ", verdict_half_width(&r));
    fprintf(out, "%s%s%s; unproven, see below\n", estimate_words(M_simulated_cycles), part,
            verdict_is_open(&r) ? "; open: the interval holds 1" : "");
}

static void say_cycles(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    const size_t n = verdict_count_known(v, x, M_simulated_cycles);
    char part[64] = "";

    if (n < v->n_layers)
        exp_say(part, sizeof part, ", in %zu of %zu layers", n, v->n_layers);
    if (verdict_is_checked(v, x))
        say_checked(v, x, M_simulated_cycles, out);
    else
        say_unchecked(v, x, part, out);
    if (n < v->n_layers && x->why_no_cycles)
        fprintf(out, EXP_LABEL "the others have no cycles: %s\n", "simulated", x->why_no_cycles);
    say_why(v, x, out);
}

static bool is_estimated(const struct exp_verdict *v, const struct exp_verdict_variant *x)
{
    return verdict_has_estimates(v) && !isnan(verdict_estimate(v, x, M_waiting_cycles));
}

void verdict_say_estimates(const struct exp_verdict *v, const struct exp_verdict_variant *x, FILE *out)
{
    if (verdict_has_cycles(v, x)) {
        say_cycles(v, x, out);
        return;
    }
    if (verdict_has_clock(v) && x->why_no_cycles && verdict_is_simulated(v, x))
        fprintf(out, EXP_LABEL "not available: %s\n", "simulated", x->why_no_cycles);
    if (!is_estimated(v, x))
        return;
    if (!verdict_is_checked(v, x)) {
        fprintf(out, EXP_LABEL "%.2f %s, %.2f %s; unproven, see below\n", "estimated",
                verdict_estimate(v, x, M_issue_cycles), estimate_words(M_issue_cycles),
                verdict_estimate(v, x, M_waiting_cycles), estimate_words(M_waiting_cycles));
        return;
    }
    say_checked(v, x, M_issue_cycles, out);
    say_checked(v, x, M_waiting_cycles, out);
}

void verdict_say_unproven(const struct exp_verdict *v, FILE *out)
{
    const char *before = v->why_no_check ? ": " : "", *why = v->why_no_check ? v->why_no_check : "";
    bool are_cycles = false, are_estimates = false;

    for (size_t i = 0; i < v->n_variants; i++) {
        const struct exp_verdict_variant *x = &v->variant[i];

        are_cycles = are_cycles || (!verdict_is_checked(v, x) && verdict_has_cycles(v, x));
        are_estimates = are_estimates || (!verdict_is_checked(v, x) && !verdict_has_cycles(v, x) && is_estimated(v, x));
    }
    if (are_cycles)
        fprintf(out,
                "\nNo time has confirmed these simulated cycles%s%s. `make validate` says how far such cycles are from "
                "those that a Zen 3 counted.\n",
                before, why);
    if (are_estimates)
        fprintf(out, "\nEstimates come from a model that no time has confirmed on %s%s%s. %s\n", v->machine, before,
                why, v->estimates_elsewhere);
}
