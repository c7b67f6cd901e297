/* The study's page: the answer, the targets, and the tables. */
#include "experiments/choices/study/study.h"

#include <math.h>

/* Prints a number; - if there is none. */
static void print_number(double value, const char *after, FILE *out)
{
    if (isfinite(value))
        fprintf(out, "%.2f%s", value, after);
    else
        fprintf(out, "-%s", after);
}

/* Ends the head of a table of n columns: n_words columns of words, then columns of numbers. */
static void end_head(size_t n_words, size_t n, FILE *out)
{
    fprintf(out, "\n|");
    for (size_t i = 0; i < n; i++)
        fprintf(out, i < n_words ? "---|" : "---:|");
    fprintf(out, "\n");
}

/* ---- schedules ---- */

static void print_rules(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    for (enum exp_study_rule rule = 0; rule < EXP_STUDY_N_RULES; rule++) {
        struct exp_study_tally t = exp_study_tally_of(s, rule, state, EXP_STUDY_ALL);
        struct exp_study_tally held_out = exp_study_tally_of(s, rule, state, EXP_STUDY_HELD_OUT);

        if (!t.all.n)
            continue;
        fprintf(out, "| %s, %s | %s | %zu | %.1f %% | %.1f %% of %zu | %.2f %% | %.1f %% | %.2f %% |\n", t.machine,
                t.caches, exp_study_rules[rule].title, t.all.n_chosen[CSA_IS], t.right_percent,
                t.decided_right_percent.number, t.decided.n, t.regret_percent, held_out.right_percent,
                held_out.regret_percent);
    }
}

static void print_accuracy(const struct exp_study_source *s, enum csa2_state state, FILE *out)
{
    for (enum exp_study_part part = EXP_STUDY_TRAINING; part <= EXP_STUDY_HELD_OUT; part++) {
        struct exp_study_accuracy a = exp_study_accuracy_of(s, state, part);

        if (!a.spread.n)
            continue;
        fprintf(out, "| %s, %s | %s | %zu | %.2f | %.2f | %.2f | ", s->name, exp_study_state_names[state],
                exp_study_part_names[part], a.spread.n, a.spread.p10, a.spread.median, a.spread.p90);
        print_number(a.rank, " |\n", out);
    }
}

static void print_costs(const struct exp_study_source *source, size_t n, FILE *out)
{
    fprintf(out, "\n| term | unit |");
    for (size_t k = 0; k < n; k++)
        fprintf(out, " %s |", source[k].name);
    fprintf(out, " what |\n|---|---|");
    for (size_t k = 0; k < n; k++)
        fprintf(out, "---:|");
    fprintf(out, "---|\n");
    for (size_t i = 0; i < CSA2_N_TERMS; i++) {
        fprintf(out, "| %s | %s |", csa2_term_at(i)->name, csa2_term_at(i)->unit);
        for (size_t k = 0; k < n; k++)
            fprintf(out, " %.2f |", source[k].model.cycles_of[i]);
        fprintf(out, " %s |\n", csa2_term_at(i)->what);
    }
}

/* Prints csa2's ties, and the ties that this run fits. */
static void print_ties(const struct exp_study_source *source, size_t n, FILE *out)
{
    const char *before = "Weight stationary is chosen where csa2 predicts input stationary to be faster by less than";

    fprintf(out, "\n");
    for (size_t i = 0; i < n * CSA2_N_STATES; i++) {
        const struct exp_study_source *s = &source[i / CSA2_N_STATES];
        enum csa2_state state = i % CSA2_N_STATES;
        double fitted = exp_study_tie_of(s, state);

        if (isnan(fitted))
            continue;
        fprintf(out, "%s %.0f %% (%s, %s; fitted anew: %.0f %%)", before, 100 * s->model.tie_share[state], s->name,
                exp_study_state_names[state], 100 * fitted);
        before = ",";
    }
    fprintf(out, "%s\n", *before == ',' ? "." : "");
}

static void print_tile(const struct exp_study_source *s, FILE *out)
{
    for (size_t i = 0; i < s->times.n; i++) {
        const struct conv_ukr *ukr = exp_study_schedule_time(&s->times.point[i], CSA_IS)->ukr;

        if (ukr) {
            fprintf(out, " of %zu windows x %zu filters", ukr->n_win, ukr->n_f);
            return;
        }
    }
}

/* Explains the names in the table. */
static void print_sources(const struct exp_study_source *source, size_t n, FILE *out)
{
    fprintf(out, "\nDecided: both measures say that the same schedule is faster. Micro-kernels and second measures:");
    for (size_t k = 0; k < n; k++) {
        fprintf(out, "%s %s, tiles", k ? ";" : "", source[k].name);
        print_tile(&source[k], out);
        fprintf(out, ", %s", source[k].other);
    }
    fprintf(out, ". A name with a tile, such as \"here 16x16\", is the same computer with that micro-kernel, windows x "
                 "filters: where there are as many of both, they do not decide for CSA.\n");
}

static void print_choices(const struct exp_study_work *w, FILE *out)
{
    const size_t n_recordings = w->n_sources * CSA2_N_STATES;
    size_t n_own = 0; /* sources of own tiles: they come first */

    while (n_own < w->n_sources && !w->source[n_own].is_other_tile)
        n_own++;
    fprintf(out, "| times | chosen by | IS in | right | right where decided | regret | right, layers not fitted to | "
                 "regret there |\n|---|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < n_recordings; i++)
        print_rules(&w->source[i / CSA2_N_STATES], i % CSA2_N_STATES, out);
    print_sources(w->source, n_own, out);
    fprintf(out, "\n| times | layers | runs | predicted / measured, p10 | median | p90 | rank correlation of log(IS / "
                 "WS) |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < n_recordings; i++)
        print_accuracy(&w->source[i / CSA2_N_STATES], i % CSA2_N_STATES, out);
    print_costs(w->source, n_own, out);
    print_ties(w->source, n_own, out);
    for (size_t k = 0; k < n_own; k++) {
        if (!(w->source[k].machine.issue.clock_ghz > 0))
            fprintf(out, "\nNothing says the clock of %s: what stands there as cycles are nanoseconds.\n",
                    w->source[k].name);
    }
}

/* ---- equations ---- */

static void print_equation(const struct exp_study_terms *t, enum exp_study_equation equation,
                           enum csa_schedule schedule, FILE *out)
{
    struct exp_study_agreement all = exp_study_agreement_of(t, equation, schedule, EXP_STUDY_WITHOUT_NOTHING);

    fprintf(out, "| %s, %s | %s | ", t->name, csa_schedule_name(schedule), exp_study_equations[equation].title);
    print_number(all.predicted / all.simulated, " | ", out);
    print_number(all.spread.p10, ", ", out);
    print_number(all.spread.median, ", ", out);
    print_number(all.spread.p90, " | ", out);
    print_number(all.rank, " | ", out);
    fprintf(out, "%zu |", all.n_one);
    for (enum exp_study_without w = EXP_STUDY_WITHOUT_PACKING; w < EXP_STUDY_N_WITHOUT; w++) {
        struct exp_study_agreement a = exp_study_agreement_of(t, equation, schedule, w);

        fprintf(out, " ");
        print_number(a.predicted / a.simulated, ", ", out);
        print_number(a.rank, " |", out);
    }
    fprintf(out, "\n");
}

static void print_terms(const struct exp_study_work *w, FILE *out)
{
    enum { N = CSA_N_SCHEDULES * EXP_STUDY_N_EQUATIONS };

    fprintf(out, "| caches, schedule | equation | predicted / simulated, summed | p10, median, p90 of the layers | "
                 "rank | one of the two is 0 | without packing: summed, rank | without outputs | without both |\n"
                 "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < w->n_terms * N; i++)
        print_equation(&w->terms[i / N], i % EXP_STUDY_N_EQUATIONS, i / EXP_STUDY_N_EQUATIONS % CSA_N_SCHEDULES, out);
}

/* Prints a row of a machine's plans in a schedule: of an equation; of EXP_STUDY_N_EQUATIONS: the cycles. */
static void print_left_out_row(const struct exp_study_terms *t, enum csa_schedule schedule, unsigned row, FILE *out)
{
    const enum exp_study_equation equation = row;
    const bool is_cycles = row == EXP_STUDY_N_EQUATIONS;

    fprintf(out, "| %s, %s | %s |", t->name, csa_schedule_name(schedule),
            is_cycles ? "cycles, as they are = 1" : exp_study_equations[equation].title);
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++) {
        struct exp_study_agreement x = { 0 };

        fprintf(out, " ");
        if (!is_cycles && t[i].runs.n_layers)
            x = exp_study_agreement_of(&t[i], equation, schedule, EXP_STUDY_WITHOUT_NOTHING);
        if (is_cycles || !(x.simulated > 0)) {
            print_number(is_cycles ? exp_study_left_out_cycles(t, i, schedule) : (double)NAN, " |", out);
        } else {
            print_number(x.predicted / x.simulated, ", ", out);
            print_number(x.rank, " |", out);
        }
    }
    fprintf(out, "\n");
}

static void print_left_out(const struct exp_study_work *w, FILE *out)
{
    enum { N = EXP_STUDY_N_EQUATIONS + 1 };

    fprintf(out, "What CSA does not know, one by one: its plans for a machine, replayed through caches that differ in "
                 "one thing. Predicted / simulated, summed over the sample; rank correlation over its layers. In the "
                 "last row of each: Eq. 6 with those counts.\n\n| planned for | equation |");
    for (size_t i = 0; i < EXP_STUDY_N_LEFT_OUT; i++)
        fprintf(out, " %s |", exp_study_left_out[i].title);
    end_head(2, 2 + EXP_STUDY_N_LEFT_OUT, out);
    for (unsigned i = 0; i < EXP_STUDY_N_PLANNED * CSA_N_SCHEDULES * N; i++)
        print_left_out_row(w->left_out[i / N / CSA_N_SCHEDULES], i / N % CSA_N_SCHEDULES, i % N, out);
}

/* ---- tilings, variants ---- */

static void print_speed(const struct exp_study_tilings *t, size_t n, size_t method, FILE *out)
{
    fprintf(out, "| %s |", exp_study_methods[method].title);
    for (size_t k = 0; k < n; k++) {
        enum exp_study_part part = t[k].is_timed ? EXP_STUDY_HELD_OUT : EXP_STUDY_ALL;
        struct exp_study_speed s = exp_study_speed_of(&t[k], method, part);

        fprintf(out, " %.1f %% (%.1f %%) |", s.percent, s.p10_percent);
    }
    fprintf(out, "\n");
}

static void print_orders(const struct exp_study_tilings *t, FILE *out)
{
    for (enum exp_study_part part = EXP_STUDY_TRAINING; part <= EXP_STUDY_HELD_OUT; part++) {
        struct exp_spread s = exp_study_tilings_spread(t, part);

        fprintf(out, "| %s, by %s | %s | %.2f | %.2f |", t->name, t->measure, exp_study_part_names[part],
                exp_study_rank(t, offsetof(struct exp_study_run, csa_cycles), part),
                exp_study_rank(t, offsetof(struct exp_study_run, csa2_cycles), part));
        if (t->is_timed)
            fprintf(out, " %.2f | %.2f, %.2f, %.2f |\n",
                    exp_study_rank(t, offsetof(struct exp_study_run, sim_cycles), part), s.p10, s.median, s.p90);
        else
            fprintf(out, " | |\n");
    }
}

static void print_tilings(const struct exp_study_work *w, FILE *out)
{
    const struct exp_study_tilings *t = w->tilings;

    fprintf(out, "Speed of each method's tiling, best found = 100 %%: geometric mean over the layers (in brackets: "
                 "what nine layers of ten exceed).\n\n| tilings by |");
    for (size_t k = 0; k < w->n_tilings; k++)
        fprintf(out, " %s, by %s |", t[k].name, t[k].measure);
    end_head(1, 1 + w->n_tilings, out);
    for (size_t i = 0; i < EXP_STUDY_N_METHODS; i++)
        print_speed(t, w->n_tilings, i, out);
    fprintf(out, "\nBy replay is by Eq. 6 with simulated counts, CSA's own yardstick. csa2 predicts time: only the "
                 "clock can judge it.\n\n"
                 "Median over the layers of the rank correlation over the tilings of one layer:\n\n| machine | layers "
                 "| Eq. 6 as CSA predicts it | csa2 | Eq. 6, simulated | csa2 / clock: p10, median, p90 |\n"
                 "|---|---|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < w->n_tilings; k++)
        print_orders(&t[k], out);
}

static void print_variants(const struct exp_study_work *w, FILE *out)
{
    const struct exp_choice_sum *s = w->sensitivity;

    fprintf(out,
            "Both schedules on variants of %s, CSA planning for each; by Eq. 6 with simulated counts.\n\n"
            "| caches | CSA chose IS | right | regret | IS / WS | cycles of the better one, as it is = 1 |\n"
            "|---|---:|---:|---:|---:|---:|\n",
            exp_study_varied);
    for (size_t i = 0; i < EXP_STUDY_N_VARIANTS; i++)
        fprintf(out, "| %s | %zu of %zu | %zu | %.2f %% | %.2f | %.2f |\n", exp_study_variants[i].title,
                s[i].n_chosen[CSA_IS], s[i].n, s[i].n_right, exp_choice_regret_percent(&s[i]),
                s[i].cost[CSA_IS] / s[i].cost[CSA_WS], s[i].best / s[0].best);
}

/* ---- SConv, Base and faster micro-kernels ---- */

static void print_hybrid(const struct exp_study_source *s, enum csa2_state state, enum exp_study_part part, FILE *out)
{
    struct exp_study_hybrid h = exp_study_hybrid_of(s, state, part);

    if (h.sum.n)
        fprintf(out, "| %s, %s | %s | %zu | %zu | %zu | %.1f %% | %.1f %% | %.1f %% | %.2f, %.2f, %.2f |\n", s->name,
                exp_study_state_names[state], exp_study_part_names[part], h.sum.n, h.sum.n_chosen[EXP_STUDY_SCONV],
                h.sum.n_right, 100 * h.sum.best / h.sum.cost[EXP_STUDY_BASE],
                100 * h.sum.best / h.sum.cost[EXP_STUDY_SCONV], 100 * h.sum.best / h.sum.chosen, h.base_spread.p10,
                h.base_spread.median, h.base_spread.p90);
}

static void print_hybrids(const struct exp_study_work *w, FILE *out)
{
    fprintf(out, "| times | layers | n | SConv predicted | right | speed of the oracle: always Base | always SConv | "
                 "by prediction | Base, predicted / measured: p10, median, p90 |\n"
                 "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < w->n_sources * CSA2_N_STATES; k++) {
        for (enum exp_study_part part = EXP_STUDY_TRAINING; part <= EXP_STUDY_HELD_OUT; part++)
            print_hybrid(&w->source[k / CSA2_N_STATES], k % CSA2_N_STATES, part, out);
    }
    fprintf(out, "\nA faster micro-kernel, nothing else: csa2's costs of the recorded machines, with the multiply-adds "
                 "scaled; all layers, cold.\n\n| costs of | multiply-adds per cycle | such as | packing, of Base | "
                 "packing, of SConv | Base / SConv |\n|---|---:|---|---:|---:|---:|\n");
    for (size_t k = 0; k < w->n_sources * EXP_STUDY_N_RATES; k++) {
        const struct exp_study_rate *rate = &exp_study_rates[k % EXP_STUDY_N_RATES];
        const double macs = exp_study_macs(rate);
        const struct exp_study_both r = exp_study_rate_of(&w->source[k / EXP_STUDY_N_RATES], macs);

        if (rate->type == CONV_F32 && r.base > 0)
            fprintf(out, "| %s | %.0f | %s | %.0f %% | %.0f %% | %.2f |\n", w->source[k / EXP_STUDY_N_RATES].name, macs,
                    rate->what, r.base_packing_percent, r.sconv_packing_percent, r.speedup);
    }
}

static void print_measured(FILE *out)
{
    struct exp_study_measured m;

    fprintf(out, "\nMeasured on a Granite Rapids, four networks, one thread, cold caches "
                 "(results/reference/gnr/study/README.md).\n\n| multiply-adds per cycle | micro-kernel | layers | "
                 "packing, of Base | packing, of SConv | Base / SConv |\n|---:|---|---:|---:|---:|---:|\n");
    for (size_t i = 0; exp_study_measured(i, &m); i++)
        fprintf(out, "| %.0f | %s: %s | %zu | %.0f %% | %.0f %% | %.2f |\n", exp_study_macs(&m.rate), m.rate.what,
                m.rate.ukr, m.n_layers, m.both.base_packing_percent, m.both.sconv_packing_percent, m.both.speedup);
}

static void print_micro(const struct exp_study_work *w, FILE *out)
{
    fprintf(
        out,
        "A faster micro-kernel, replayed: both algorithms on the caches of %s, a sample of %zu layers, cold, with the "
        "tiles of the micro-kernel that is named. Micro-kernels take their multiply-adds; im2col and packing take "
        "their loads or stores at %s's rates. Loads that miss hit all the same, or wait for their latency: the truth "
        "is between the two. Packing is that of the tiles' instruction set: MMA's moves 16 bytes at a time.\n\n"
        "| multiply-adds per cycle | such as | tiles of | if all hit: packing, of Base | packing, of SConv | Base / "
        "SConv | if all misses wait: packing, of Base | packing, of SConv | Base / SConv |\n"
        "|---:|---|---|---:|---:|---:|---:|---:|---:|\n",
        exp_study_varied, w->micro[0].n, exp_study_varied);
    for (size_t i = 0; i < EXP_STUDY_N_RATES; i++) {
        const struct exp_study_rate *r = &exp_study_rates[i];

        fprintf(out, "| %.0f | %s | %s, %s |", exp_study_macs(r), r->what, r->ukr, r->core);
        for (unsigned k = 0; k < EXP_STUDY_N_MISSES; k++) {
            const struct exp_study_both *c = &w->micro[i].cycles[k];

            fprintf(out, " %.0f %% | %.0f %% | %.2f |", c->base_packing_percent, c->sconv_packing_percent, c->speedup);
        }
        fprintf(out, "\n");
    }
    print_measured(out);
}

/* ---- the page ---- */

void exp_study_page_print(const struct exp_study_work *w, const char *what, FILE *out)
{
    fprintf(out, "# Does the cost model deserve the credit?\n\n");
    exp_study_answer_print(w, out);
    fprintf(out, "\n%s\n\n## What was to be reached\n\n", what);
    exp_study_targets_print(w, out);
    fprintf(out, "\n## Schedules by the clock\n\n![choices](study_choices.png)\n\n");
    print_choices(w, out);
    fprintf(out, "\n## CSA's lines, equation by equation\n\nCaches alone, cold, all layers.\n\n");
    print_terms(w, out);
    fprintf(out, "\n");
    print_left_out(w, out);
    fprintf(out, "\n## Tilings\n\n![tilings](study_tilings.png)\n\n");
    print_tilings(w, out);
    fprintf(out, "\n## What the caches are like\n\n");
    print_variants(w, out);
    fprintf(out, "\n## A faster micro-kernel\n\n![micro-kernels](study_micro_kernels.png)\n\n");
    print_micro(w, out);
    fprintf(out, "\n## SConv or Base\n\n");
    print_hybrids(w, out);
    fprintf(out, "\n![rates](study_rates.png)\n");
}
