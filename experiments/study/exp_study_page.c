#include "experiments/study/exp_study_page.h"

#include <math.h>

#include "experiments/base/exp_error.h"
#include "experiments/study/exp_study_answer.h"

/* ---- targets ---- */

static void print_target(FILE *out, const char *what, const char *where, double value, const char *unit, double bound,
                         bool is_least, const char *why)
{
    bool reached = is_least ? value >= bound : value <= bound;

    fprintf(out, "| %s | %s | %.2f%s | %s %.2f%s | %s |\n", what, where, value, unit, is_least ? "at least" : "at most",
            bound, unit, reached ? "reached" : why);
}

static void print_schedule_targets(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    struct exp_study_tally t = exp_study_tally_of(s, EXP_STUDY_BY_CSA2, state, EXP_STUDY_ALL);
    struct exp_study_tally shape = exp_study_tally_of(s, EXP_STUDY_BY_SHAPE, state, EXP_STUDY_ALL);
    struct exp_study_tally other = exp_study_tally_of(s, EXP_STUDY_BY_OTHER, state, EXP_STUDY_ALL);
    char where[64], why[256];

    if (!t.n)
        return;
    exp_say(where, sizeof where, "%s, %s", s->name, exp_study_state_names[state]);
    exp_say(why, sizeof why,
            "missed: the recording's own second measure agrees in %.1f %% only; the median layer of the same shape is "
            "right "
            "in %.1f %%",
            other.right_percent, shape.right_percent);
    print_target(out, "csa2's schedule is the faster one", where, t.right_percent, " %", 90, true, why);
    exp_say(why, sizeof why,
            "missed: choosing by the second measure costs %.2f %%, by the median layer of the same shape %.2f %%",
            other.regret_percent, shape.regret_percent);
    print_target(out, "its regret", where, t.regret_percent, " %", 0.5, false, why);
}

static void print_spread_targets(const struct exp_study_source *s, enum csa2_state state, const char *where, FILE *out)
{
    struct exp_spread spread = exp_study_accuracy_of(s, state, EXP_STUDY_OTHERS).spread;
    struct exp_spread same = exp_study_repeats_of(s, state);
    char why[160] = "missed: no shape is there three times, which would say how far its layers are apart";

    if (!spread.n)
        return;
    if (same.n)
        exp_say(why, sizeof why, "missed: layers of one shape are at %.2f to %.2f of their own median (p10 to p90)",
                same.p10, same.p90);
    print_target(out, "predicted / measured, layers not fitted to: p10", where, spread.p10, "", 0.88, true, why);
    print_target(out, "the same: p90", where, spread.p90, "", 1.12, false, why);
}

static void print_hybrid_target(const struct exp_study_hybrid *h, const char *where, FILE *out)
{
    char why[384];

    exp_say(why, sizeof why,
            "missed: choosing by the same shape's median layer would reach %.1f %%, by a second measure %.1f %%",
            100 * h->best / h->by_shape, 100 * h->best / h->by_other);
    if (h->worst)
        exp_say_more(why, sizeof why, "; %.0f %% of what is lost is one shape's, that of %s (%zu layers)",
                     100 * h->worst_share, h->worst->name, h->n_worst);
    print_target(out, "SConv or Base by prediction, speed of the better one", where, 100 * h->best / h->chosen, " %",
                 99, true, why);
}

static void print_source_targets(const struct exp_study_page *p, size_t k, enum csa2_state state, FILE *out)
{
    const struct exp_study_source *s = &p->work->source[k];
    struct exp_study_hybrid h = exp_study_hybrid_of(s, &p->work->base[k], state, EXP_STUDY_OTHERS);
    char where[64];

    exp_say(where, sizeof where, "%s, %s", s->name, exp_study_state_names[state]);
    print_schedule_targets(s, state, out);
    print_spread_targets(s, state, where, out);
    if (h.n)
        print_hybrid_target(&h, where, out);
}

static void print_tiling_targets(const struct exp_study_tilings *t, FILE *out)
{
    char why[160];

    if (t->measure != EXP_STUDY_BY_CLOCK)
        return;
    exp_say(why, sizeof why, "missed: the fastest and the median rounds have a rank correlation of %.2f themselves",
            exp_study_other_rank(t, EXP_STUDY_OTHERS));
    print_target(out, "csa2's order of a layer's tilings: rank correlation", t->name,
                 exp_study_csa2_rank(t, EXP_STUDY_OTHERS), "", 0.7, true, why);
    exp_say(why, sizeof why, "missed: the tilings that are best by their median rounds are at %.2f %%",
            exp_study_other_speed(t, EXP_STUDY_OTHERS).percent);
    print_target(out, "csa2's tiling, speed of the best found", t->name,
                 exp_study_csa2_speed(t, EXP_STUDY_OTHERS).percent, " %", 97, true, why);
}

static bool has_timed(const struct exp_study_page *p)
{
    for (size_t i = 0; i < p->work->n_tilings; i++) {
        if (p->work->tilings[i].measure == EXP_STUDY_BY_CLOCK)
            return true;
    }
    return false;
}

static void print_targets(const struct exp_study_page *p, FILE *out)
{
    fprintf(out, "| target | where | value | wanted | |\n|---|---|---:|---:|---|\n");
    for (size_t i = 0; i < p->work->n_sources * CSA2_N_STATES; i++) {
        if (!p->work->source[i / CSA2_N_STATES].is_other_tile)
            print_source_targets(p, i / CSA2_N_STATES, (enum csa2_state)(i % CSA2_N_STATES), out);
    }
    for (size_t i = 0; i < p->work->n_tilings; i++)
        print_tiling_targets(&p->work->tilings[i], out);
    if (!has_timed(p))
        fprintf(out,
                "\nThe order of tilings and the speed of csa2's are known by the clock only: `make study TIMING=1`.\n");
}

void exp_study_page_summary(const struct exp_study_page *p, FILE *out)
{
    exp_study_answer_print(p->work, out);
    fprintf(out, "\n");
    print_targets(p, out);
}

/* ---- the page ---- */

void exp_study_page_print(const struct exp_study_page *p, FILE *out)
{
    fprintf(out, "# Does the cost model deserve the credit?\n\n");
    exp_study_answer_print(p->work, out);
    fprintf(out, "\n%s\n\n## What was to be reached\n\n", p->what);
    print_targets(p, out);
    fprintf(out, "\n## Schedules by the clock\n\n![choices](study_choices.png)\n\n");
    exp_study_choices_print(p->work->source, p->work->n_sources, out);
    fprintf(out, "\n## CSA's lines, equation by equation\n\nCaches alone, cold, all layers.\n\n");
    exp_study_terms_print(p->work->terms, p->work->n_terms, out);
    fprintf(out, "\n");
    exp_study_ablation_print(p->work->ablation, EXP_STUDY_N_PLANNED, out);
    fprintf(out, "\n## Tilings\n\n![tilings](study_tilings.png)\n\n");
    exp_study_tilings_print(p->work->tilings, p->work->n_tilings, out);
    fprintf(out, "\n## What the caches are like\n\n");
    exp_study_sensitivity_print(p->work->sensitivity, exp_study_varied, out);
    fprintf(out, "\n## A faster micro-kernel\n\n![micro-kernels](study_micro_kernels.png)\n\n");
    exp_study_micro_print(p->work->micro, exp_study_varied, out);
    fprintf(out, "\n## SConv or Base\n\n");
    exp_study_hybrid_print(p->work->source, p->work->base, p->work->n_sources, out);
    fprintf(out, "\n![rates](study_rates.png)\n");
}
