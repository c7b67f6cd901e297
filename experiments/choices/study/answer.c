/* The answer, and the targets. */
#include "experiments/choices/study/study.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- schedules ---- */

/* The table has these rules in this order: rules that know measured times come last. */
static const enum exp_study_rule told[] = { EXP_STUDY_BY_CSA, EXP_STUDY_ALWAYS_WS, EXP_STUDY_BY_CSA2,
                                            EXP_STUDY_BY_SHAPE, EXP_STUDY_BY_SECOND };

enum { N_TOLD = sizeof told / sizeof told[0] };

static const struct exp_study_range nothing = { INFINITY, -INFINITY };

static void widen(struct exp_study_range *r, double x)
{
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

/* Returns the tally of a rule in a source and state, by number, sources of all tiles. */
static struct exp_study_tally tally(const struct exp_study_work *w, size_t i, enum exp_study_rule rule,
                                    enum exp_study_part part)
{
    return exp_study_tally_of(&w->source[i / CSA2_N_STATES], rule, i % CSA2_N_STATES, part);
}

static void print_table(const struct exp_study_work *w, FILE *out)
{
    fprintf(out, "| times |");
    for (size_t k = 0; k < N_TOLD; k++)
        fprintf(out, " %s |", exp_study_rules[told[k]].title);
    fprintf(out, "\n|---|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES; i++) {
        if (!tally(w, i, EXP_STUDY_BY_CSA, EXP_STUDY_ALL).all.n)
            continue;
        fprintf(out, "| %s, %s |", w->source[i / CSA2_N_STATES].name, exp_study_state_names[i % CSA2_N_STATES]);
        for (size_t k = 0; k < N_TOLD; k++) {
            struct exp_study_tally t = tally(w, i, told[k], EXP_STUDY_ALL);

            fprintf(out, " %.0f %% (%.1f %%) |", t.right_percent, t.regret_percent);
        }
        fprintf(out, "\n");
    }
}

/*
 * Prints csa2 beside the constant on layers that csa2 was not fitted to: share of right choices, regret, choices of IS.
 */
static void print_held_out(const struct exp_study_work *w, FILE *out)
{
    fprintf(out, "| times | layers | always WS | csa2 | csa2 chooses IS in |\n|---|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES; i++) {
        struct exp_study_tally ws = tally(w, i, EXP_STUDY_ALWAYS_WS, EXP_STUDY_HELD_OUT);
        struct exp_study_tally csa2 = tally(w, i, EXP_STUDY_BY_CSA2, EXP_STUDY_HELD_OUT);

        if (csa2.all.n)
            fprintf(out, "| %s, %s | %zu | %.0f %% (%.2f %%) | %.0f %% (%.2f %%) | %zu |\n",
                    w->source[i / CSA2_N_STATES].name, exp_study_state_names[i % CSA2_N_STATES], csa2.all.n,
                    ws.right_percent, ws.regret_percent, csa2.right_percent, csa2.regret_percent,
                    csa2.all.n_chosen[CSA_IS]);
    }
}

/* Compares CSA with the constants, and csa2 with a constant on layers outside the fit. */
static void add_recording(struct exp_study_schedules *x, const struct exp_study_work *w, size_t i)
{
    const struct exp_study_tally csa = tally(w, i, EXP_STUDY_BY_CSA, EXP_STUDY_ALL);
    const struct exp_study_tally ws = tally(w, i, EXP_STUDY_ALWAYS_WS, EXP_STUDY_ALL);
    const struct exp_study_tally csa2 = tally(w, i, EXP_STUDY_BY_CSA2, EXP_STUDY_HELD_OUT);
    const size_t n_is = tally(w, i, EXP_STUDY_ALWAYS_IS, EXP_STUDY_ALL).all.n_right;
    const double gain = tally(w, i, EXP_STUDY_ALWAYS_WS, EXP_STUDY_HELD_OUT).regret_percent - csa2.regret_percent;

    x->n_held_out += csa2.all.n > 0;
    x->n_faster += csa2.all.n && gain > EXP_STUDY_GAIN_PERCENT;
    x->n_slower += csa2.all.n && gain < -EXP_STUDY_GAIN_PERCENT;
    if (!csa.all.n)
        return;
    x->n++;
    x->n_better += csa.all.n_right > ws.all.n_right && csa.all.n_right > n_is;
    widen(&x->csa, csa.right_percent);
    widen(&x->ws, ws.right_percent);
    widen(&x->second, tally(w, i, EXP_STUDY_BY_SECOND, EXP_STUDY_ALL).right_percent);
}

struct exp_study_schedules exp_study_schedules_of(const struct exp_study_work *w)
{
    struct exp_study_schedules x = { .csa = nothing, .ws = nothing, .second = nothing };

    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES; i++)
        add_recording(&x, w, i);
    return x;
}

char *exp_study_headline(const struct exp_study_work *w)
{
    const struct exp_study_schedules x = exp_study_schedules_of(w);
    char *credit, *text;

    if (!x.n)
        return exp_format("No times of these layers are recorded, nor were any taken: nothing is known of the "
                          "schedules.");
    credit = x.n_better
                 ? exp_format("chooses schedules better than a constant in %zu of %zu recordings", x.n_better, x.n)
                 : exp_format("deserves no credit for the schedules");
    text = exp_format("By the clock, CSA's cost model %s: CSA is right in %.0f to %.0f %% of the layers, and the "
                      "constant rule \"always weight stationary\" in %.0f to %.0f %%.",
                      credit, x.csa.low, x.csa.high, x.ws.low, x.ws.high);
    free(credit);
    return text;
}

static void say_schedules(const struct exp_study_work *w, FILE *out)
{
    const struct exp_study_schedules x = exp_study_schedules_of(w);
    char *headline = exp_study_headline(w);

    fprintf(out, "%s\n", headline);
    free(headline);
    if (!x.n)
        return;
    fprintf(out,
            "\nRight in so many layers by the clock; in brackets the regret, the time that wrong choices cost. The "
            "last two columns are what the recordings allow: the choice of somebody who knows what most layers of the "
            "same shape did, and of somebody who looks at the recording's second measure. Where every shape occurs "
            "once, the first of these is right by definition.\n\n");
    print_table(w, out);
    fprintf(out,
            "\nDoes csa2? On layers that it was not fitted to, its schedules are faster than always weight stationary "
            "by more than %.1f %% in %zu of %zu recordings, and slower by more than that in %zu. In brackets the "
            "regret.\n\n",
            EXP_STUDY_GAIN_PERCENT, x.n_faster, x.n_held_out, x.n_slower);
    print_held_out(w, out);
}

/* ---- lines ---- */

struct exp_study_range exp_study_lines_of(const struct exp_study_work *w, enum exp_study_equation equation,
                                          struct exp_study_range *rank)
{
    struct exp_study_range ratio = nothing;

    *rank = nothing;
    for (size_t i = 0; i < w->n_terms * CSA_N_SCHEDULES; i++) {
        struct exp_study_agreement a = exp_study_agreement_of(&w->terms[i / CSA_N_SCHEDULES], equation,
                                                              i % CSA_N_SCHEDULES, EXP_STUDY_WITHOUT_NOTHING);

        if (!(a.simulated > 0))
            continue;
        widen(&ratio, a.predicted / a.simulated);
        widen(rank, a.rank);
    }
    return ratio;
}

static void say_equation(const struct exp_study_work *w, enum exp_study_equation equation, FILE *out)
{
    struct exp_study_range rank, ratio = exp_study_lines_of(w, equation, &rank);

    if (ratio.low > ratio.high)
        fprintf(out, "lines where the replay counts none");
    else
        fprintf(out, "%.2f to %.2f times as many (rank correlation over the layers at least %.2f)", ratio.low,
                ratio.high, rank.low);
}

static void say_lines(const struct exp_study_work *w, FILE *out)
{
    fprintf(out, "Does it count the right lines? Beside the lines that the replay counts, Eq. 14 (those from L2) has ");
    say_equation(w, EXP_STUDY_EQ14, out);
    fprintf(out, ", Eq. 13 (from L3) ");
    say_equation(w, EXP_STUDY_EQ13, out);
    fprintf(out, ", and Eq. 7 (from memory) ");
    say_equation(w, EXP_STUDY_EQ7, out);
    fprintf(out, ", because it takes each packed copy of an element for a line from memory.\n");
}

/* ---- effects that CSA leaves out ---- */

static void say_left_out(const struct exp_study_work *w, FILE *out)
{
    fprintf(out, "What does it leave out? Its plans through caches that differ in one thing, cycles by Eq. 6 with "
                 "simulated counts over those of the caches as they are");
    for (size_t i = 1; i < EXP_STUDY_N_LEFT_OUT; i++) {
        struct exp_study_range r = nothing;

        for (size_t k = 0; k < EXP_STUDY_N_PLANNED * CSA_N_SCHEDULES; k++)
            widen(&r, exp_study_left_out_cycles(w->left_out[k / CSA_N_SCHEDULES], i, k % CSA_N_SCHEDULES));
        fprintf(out, "%s \"%s\" %.2f to %.2f", i > 1 ? "," : ":", exp_study_left_out[i].title, r.low, r.high);
    }
    fprintf(out, ".\n");
}

/* ---- tiles ---- */

static void say_tilings(const struct exp_study_work *w, FILE *out)
{
    fprintf(out, "Does it choose good tiles?");
    for (size_t k = 0; k < w->n_tilings; k++) {
        const struct exp_study_tilings *t = &w->tilings[k];

        fprintf(out,
                " %s, by %s: CSA's are at %.0f %% of the speed of the best ones found, and the rank correlation of Eq. "
                "6 over the tilings of a layer is %.2f",
                t->name, t->is_timed ? "the clock" : "Eq. 6 with simulated counts",
                exp_study_speed_of(t, EXP_STUDY_HALVING, EXP_STUDY_ALL).percent,
                exp_study_rank(t, offsetof(struct exp_study_run, csa_cycles), EXP_STUDY_ALL));
        if (t->is_timed)
            fprintf(out, "; csa2's are at %.0f %%, with %.2f, on layers that it was not fitted to",
                    exp_study_speed_of(t, EXP_STUDY_CSA2S, EXP_STUDY_HELD_OUT).percent,
                    exp_study_rank(t, offsetof(struct exp_study_run, csa2_cycles), EXP_STUDY_HELD_OUT));
        fprintf(out, ".");
    }
    fprintf(out, "\n");
}

/* ---- micro-kernels ---- */

/* Returns the last record of a type. */
static size_t last_of(enum conv_type type)
{
    size_t last = 0;

    for (size_t i = 0; i < EXP_STUDY_N_RATES; i++)
        last = exp_study_rates[i].type == type ? i : last;
    return last;
}

/* Returns the first record of f32 with vectors as wide as another record's. */
static size_t f32_of(size_t other)
{
    size_t i = 0;

    while (exp_study_rates[i].issue.mac_columns != exp_study_rates[other].issue.mac_columns)
        i++;
    return i;
}

/* Says what became of packing and of the gain from one record to another. Returns whether both rose. */
static bool say_change(const struct exp_study_work *w, size_t from, size_t to, enum exp_study_misses misses, FILE *out)
{
    const struct exp_study_both *slow = &w->micro[from].cycles[misses], *fast = &w->micro[to].cycles[misses];

    fprintf(
        out,
        "packing is %.0f to %.0f %% of Base and %.0f to %.0f %% of SConv, and Base takes %.2f to %.2f times SConv's "
        "cycles",
        slow->base_packing_percent, fast->base_packing_percent, slow->sconv_packing_percent,
        fast->sconv_packing_percent, slow->speedup, fast->speedup);
    return fast->speedup > slow->speedup && fast->base_packing_percent > slow->base_packing_percent;
}

/* The paper's argument: the faster the micro-kernel, the more packing and misses decide, and the more SConv gains. */
static void say_argument(bool holds_hit, bool holds_wait, FILE *out)
{
    fprintf(out,
            "The faster the micro-kernel, the more slicing and packing on demand gain, as the paper argues? By these "
            "replays ");
    if (holds_hit && holds_wait)
        fprintf(out, "yes.\n");
    else if (holds_hit)
        fprintf(out, "yes where caches keep up, and no where misses wait: narrow elements move fewer bytes, too.\n");
    else
        fprintf(out, "no.\n");
}

static void say_micro_kernels(const struct exp_study_work *w, FILE *out)
{
    const size_t f32 = last_of(CONV_F32), narrow = last_of(CONV_U8S8), wide = f32_of(narrow);
    bool holds_hit, holds_wait;

    fprintf(out,
            "Does packing decide when the micro-kernel gets faster? From %s to %s, replayed with all loads hitting: ",
            exp_study_rates[0].what, exp_study_rates[f32].what);
    say_change(w, 0, f32, EXP_STUDY_HIT, out);
    fprintf(out, ". From fp32 by %s to %s, if all loads hit: ", exp_study_rates[wide].what,
            exp_study_rates[narrow].what);
    holds_hit = say_change(w, wide, narrow, EXP_STUDY_HIT, out);
    fprintf(out, "; if all misses wait: ");
    holds_wait = say_change(w, wide, narrow, EXP_STUDY_WAIT, out);
    fprintf(out, ". ");
    say_argument(holds_hit, holds_wait, out);
}

void exp_study_answer_print(const struct exp_study_work *w, FILE *out)
{
    say_schedules(w, out);
    fprintf(out, "\n");
    say_lines(w, out);
    fprintf(out, "\n");
    say_left_out(w, out);
    fprintf(out, "\n");
    say_tilings(w, out);
    fprintf(out, "\n");
    say_micro_kernels(w, out);
}

/* ---- targets ---- */

/* Prints a target, and the words behind if it is missed. */
__attribute__((format(printf, 8, 9))) static void print_target(FILE *out, const char *what, const char *where,
                                                               double value, const char *unit, double bound,
                                                               bool is_least, const char *missed, ...)
{
    va_list words;

    fprintf(out, "| %s | %s | %.2f%s | %s %.2f%s | ", what, where, value, unit, is_least ? "at least" : "at most",
            bound, unit);
    va_start(words, missed);
    if (is_least ? value >= bound : value <= bound)
        fprintf(out, "reached");
    else
        vfprintf(out, missed, words);
    va_end(words);
    fprintf(out, " |\n");
}

static void print_schedule_targets(const struct exp_study_source *s, enum csa2_state state, const char *where,
                                   FILE *out)
{
    struct exp_study_tally t = exp_study_tally_of(s, EXP_STUDY_BY_CSA2, state, EXP_STUDY_ALL);
    struct exp_study_tally shape = exp_study_tally_of(s, EXP_STUDY_BY_SHAPE, state, EXP_STUDY_ALL);
    struct exp_study_tally second = exp_study_tally_of(s, EXP_STUDY_BY_SECOND, state, EXP_STUDY_ALL);
    if (!t.all.n)
        return;
    print_target(out, "csa2's schedule is the faster one", where, t.right_percent, " %", 90, true,
                 "missed: the recording's own second measure agrees in %.1f %% only; the median layer of the same "
                 "shape is right in %.1f %%",
                 second.right_percent, shape.right_percent);
    print_target(out, "its regret", where, t.regret_percent, " %", 0.5, false,
                 "missed: choosing by the second measure costs %.2f %%, by the median layer of the same shape %.2f %%",
                 second.regret_percent, shape.regret_percent);
}

static void print_spread_targets(const struct exp_study_source *s, enum csa2_state state, const char *where, FILE *out)
{
    struct exp_spread spread = exp_study_accuracy_of(s, state, EXP_STUDY_HELD_OUT).spread;
    struct exp_spread same = exp_study_repeats_of(s, state);
    char why[160] = "missed: no shape is there three times, which would say how far its layers are apart";

    if (!spread.n)
        return;
    if (same.n)
        exp_say(why, sizeof why, "missed: layers of one shape are at %.2f to %.2f of their own median (p10 to p90)",
                same.p10, same.p90);
    print_target(out, "predicted / measured, layers not fitted to: p10", where, spread.p10, "", 0.88, true, "%s", why);
    print_target(out, "the same: p90", where, spread.p90, "", 1.12, false, "%s", why);
}

static void print_hybrid_target(const struct exp_study_hybrid *h, const char *where, FILE *out)
{
    char worst[256] = "";

    if (h->worst)
        exp_say(worst, sizeof worst, "; %.0f %% of what is lost is one shape's, that of %s (%zu layers)",
                100 * h->worst_share, h->worst->name, h->n_worst);
    print_target(out, "SConv or Base by prediction, speed of the better one", where, 100 * h->sum.best / h->sum.chosen,
                 " %", 99, true,
                 "missed: choosing by the same shape's median layer would reach %.1f %%, by a second measure %.1f %%%s",
                 100 * h->sum.best / h->by_shape.chosen, 100 * h->sum.best / h->by_second.chosen, worst);
}

static void print_source_targets(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    struct exp_study_hybrid h = exp_study_hybrid_of(s, state, EXP_STUDY_HELD_OUT);
    char where[64];

    exp_say(where, sizeof where, "%s, %s", s->name, exp_study_state_names[state]);
    print_schedule_targets(s, state, where, out);
    print_spread_targets(s, state, where, out);
    if (h.sum.n)
        print_hybrid_target(&h, where, out);
}

static void print_tiling_targets(const struct exp_study_tilings *t, FILE *out)
{
    if (!t->is_timed)
        return;
    print_target(out, "csa2's order of a layer's tilings: rank correlation", t->name,
                 exp_study_rank(t, offsetof(struct exp_study_run, csa2_cycles), EXP_STUDY_HELD_OUT), "", 0.7, true,
                 "missed: the fastest and the median rounds have a rank correlation of %.2f themselves",
                 exp_study_rank(t, offsetof(struct exp_study_run, median_ns), EXP_STUDY_HELD_OUT));
    print_target(out, "csa2's tiling, speed of the best found", t->name,
                 exp_study_speed_of(t, EXP_STUDY_CSA2S, EXP_STUDY_HELD_OUT).percent, " %", 97, true,
                 "missed: the tilings that are best by their median rounds are at %.2f %%",
                 exp_study_speed_of(t, EXP_STUDY_BY_MEDIAN, EXP_STUDY_HELD_OUT).percent);
}

void exp_study_targets_print(const struct exp_study_work *w, FILE *out)
{
    bool is_timed = false;

    fprintf(out, "| target | where | value | wanted | |\n|---|---|---:|---:|---|\n");
    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES; i++) {
        if (!w->source[i / CSA2_N_STATES].is_other_tile)
            print_source_targets(&w->source[i / CSA2_N_STATES], i % CSA2_N_STATES, out);
    }
    for (size_t i = 0; i < w->n_tilings; i++) {
        print_tiling_targets(&w->tilings[i], out);
        is_timed |= w->tilings[i].is_timed;
    }
    if (!is_timed)
        fprintf(out,
                "\nThe order of tilings and the speed of csa2's are known by the clock only: `make study TIMING=1`.\n");
}

static double eq6_cycles(const struct exp_study_terms *t, enum csa_schedule schedule)
{
    return t->runs.n_layers ? exp_study_agreement_of(t, EXP_STUDY_EQ6, schedule, EXP_STUDY_WITHOUT_NOTHING).simulated
                            : (double)NAN;
}

double exp_study_left_out_cycles(const struct exp_study_terms *t, size_t left_out, enum csa_schedule schedule)
{
    return eq6_cycles(&t[left_out], schedule) / eq6_cycles(&t[0], schedule);
}
