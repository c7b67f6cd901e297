/* The jury's answer for people. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/choices/jury/jury.h"

/* Alvarenga and others, ConvBench, 2024 (arXiv:2407.10730), abstract. */
#define PUBLISHED_PERCENT 93.6
#define PUBLISHED_SHAPES "9,243"

static const char tuned[] = "sconv_tuned";

static const char *chosen(void)
{
    return exp_algo_chosen()->name;
}

/* Returns the sentences of the answer, from malloc. */
static char *headline(const struct exp_jury_report *r)
{
    const struct exp_jury_sum *csa = exp_jury_sum_of(r, "all", chosen()), *best = exp_jury_sum_of(r, "all", tuned);
    char *of_tuned, *text;

    if (!csa && !best)
        return exp_copy_text("No shape has a speed-up over Base.");
    of_tuned = best ? exp_format("%suned in %.1f %% (%.2f times)", csa ? ", t" : "T", best->faster_percent.number,
                                 best->geomean.number)
                    : exp_copy_text("");
    text = exp_format("%s%s.", r->is_timed ? "" : "By simulated cycles alone: ", of_tuned);
    if (csa) {
        free(text);
        text =
            exp_format("%sf %" PRIu64 " shapes, SConv as CSA chose is faster than im2col + GEMM in %.1f %% (geometric "
                       "mean %.2f times)%s.",
                       r->is_timed ? "O" : "By simulated cycles alone, o", csa->n, csa->faster_percent.number,
                       csa->geomean.number, of_tuned);
    }
    free(of_tuned);
    return text;
}

/* Returns the sentence about CSA's choices of schedules, from malloc; NULL: no two schedules differ. */
static char *schedules_words(const struct exp_jury_report *r)
{
    const double percent = r->n_schedules ? 100.0 / (double)r->n_schedules : 0;

    return r->n_schedules
               ? exp_format("CSA chose the faster%s of IS and WS in %.1f %% of the %zu shapes where the two differ by "
                            "over 3 %% (always WS: %.1f, always IS: %.1f)",
                            r->is_timed ? "" : " (by simulation)", percent * (double)r->n_csa_right, r->n_schedules,
                            percent * (double)r->n_ws_faster, percent * (double)(r->n_schedules - r->n_ws_faster))
               : NULL;
}

static void print_notes(const struct exp_jury_report *r, FILE *out)
{
    const struct exp_jury *j = r->jury;
    char *schedules = schedules_words(r);

    fprintf(out, "ConvBench's paper has SConv faster in %.1f %% of %s shapes (arXiv:2407.10730, on its own machine).\n",
            PUBLISHED_PERCENT, PUBLISHED_SHAPES);
    if (schedules)
        fprintf(out, "%s.\n", schedules);
    free(schedules);
    if (j->why_untimed)
        fprintf(out, "Nothing is timed: %s.\n", j->why_untimed);
    if (j->why_elsewhere && !j->why_untimed)
        fprintf(out, "Times are this computer's, and no cycles of the simulated machine: %s.\n", j->why_elsewhere);
    if (j->n_disturbed)
        fprintf(out, "Timing of %zu of %zu layers was disturbed (%s); the same command tries these layers again.\n",
                j->n_disturbed, j->n_judged, j->disturbed);
    for (size_t i = 0; i < j->model->n_layers; i++) {
        if (j->layer[i].why)
            fprintf(out, "left out: layer '%s': %s\n", j->layer[i].layer->name, j->layer[i].why);
    }
}

/* Prints a number, or "-" as wide as `format` makes a number. */
static void print_number(struct value v, const char *format, FILE *out)
{
    char text[64];

    snprintf(text, sizeof text, format, 1.0);
    if (v.why)
        fprintf(out, "%*s", (int)strlen(text), "-");
    else
        fprintf(out, format, v.number);
}

static void print_kinds(const struct exp_jury_report *r, FILE *out)
{
    fprintf(out, "\n%-13s %-16s %6s %8s %8s %8s %8s %8s %9s %6s %9s %s\n", "kind", "algorithm", "shapes", "faster %",
            "geomean", "p10", "median", "p90", "simulated", "losses", "explained", "most frequent cause");
    for (const struct exp_jury_sum *s = r->sum; s < r->sum + r->n_sums; s++) {
        fprintf(out, "%-13s %-16s %6" PRIu64, s->kind, s->algo, s->n);
        print_number(s->faster_percent, " %8.1f", out);
        print_number(s->geomean, " %8.2f", out);
        print_number(s->p10, " %8.2f", out);
        print_number(s->median, " %8.2f", out);
        print_number(s->p90, " %8.2f", out);
        print_number(s->simulated_geomean, "  %8.2f", out);
        fprintf(out, " %6" PRIu64 " %9" PRIu64 " %s\n", s->n_lost, s->n_explained, s->cause);
    }
}

enum { SHOWN_LOSSES = 20 };

static void print_losses(const struct exp_jury_report *r, FILE *out)
{
    fprintf(out, "\n%zu losses of over 5 %%", r->n_losses);
    if (r->is_timed)
        fprintf(out, ", %zu called slower by the simulation, too", r->n_explained);
    fprintf(out, "; the largest, with the cause of most cycles beyond Base's:\n");
    for (size_t i = 0; i < r->n_losses && i < SHOWN_LOSSES; i++) {
        const struct exp_jury_loss *l = &r->loss[i];

        fprintf(out, "%-24s %-13s %-16s %5.2f", l->layer, l->kind, l->algo, l->speedup);
        print_number(l->simulated_speedup, ", simulated %5.2f", out);
        fprintf(out, ": %s", l->cause);
        print_number(l->cause_percent, ", %+.0f %% of Base's cycles", out);
        fprintf(out, "\n");
    }
}

/* Returns the median of an algorithm's signed errors of cycles over a kind of shapes (NULL: all), in percent; NaN: none. */
static double median_error(const struct exp_jury_report *r, const char *kind, const struct exp_algo *algo)
{
    double *error = exp_new(r->n_rows + 1, sizeof *error), median;
    size_t n = 0;

    for (const struct exp_jury_row *x = r->row; x < r->row + r->n_rows; x++) {
        if (!strcmp(x->algo, algo->name) && (!kind || !strcmp(x->kind, kind)) && value_is_known(x->error_percent))
            error[n++] = x->error_percent.number;
    }
    median = exp_spread_of(error, n).median;
    free(error);
    return median;
}

/* Prints the median signed errors of cycles: kinds of shapes by algorithms. */
static void print_errors(const struct exp_jury_report *r, FILE *out)
{
    const struct exp_jury *j = r->jury;

    if (r->target[EXP_TARGET_MEDIAN].is.why)
        return;
    fprintf(out, "\n%-13s", "median error");
    for (size_t a = 0; a < j->n_algos; a++)
        fprintf(out, " %12s", j->layer->by[a].algo->name);
    for (size_t k = 0; k <= EXP_JURY_N_KINDS; k++) {
        const char *kind = k < EXP_JURY_N_KINDS ? exp_jury_kinds[k].name : NULL;

        fprintf(out, "\n%-13s", kind ? kind : "all");
        for (size_t a = 0; a < j->n_algos; a++)
            print_number(value_if_finite(median_error(r, kind, j->layer->by[a].algo), "-"), " %+10.1f %%", out);
    }
    fprintf(out, "\n");
}

void exp_jury_print(const struct exp_jury_report *r, FILE *out)
{
    char *text = headline(r);

    assert(r->jury && out);
    fprintf(out, "%s\n", text);
    free(text);
    print_notes(r, out);
    print_kinds(r, out);
    print_losses(r, out);
    fprintf(out,
            "\nSimulated cycles beside cycles taken; a target is reached only if the best baseline is beaten by more "
            "than chance (sign test, p < 0.05)\n");
    exp_targets_print(r->target, out);
    print_errors(r, out);
}

/* ---- the screen ---- */

static void note_targets(const struct exp_jury_report *r, struct exp_screen *s)
{
    const struct exp_target_result *t = r->target, *side = &t[EXP_TARGET_SIDE], *schedule = &t[EXP_TARGET_SCHEDULE],
                                   *regret = &t[EXP_TARGET_REGRET];

    if (t->is.why)
        return;
    exp_screen_note(s, "cycles", "simulated: off by %.1f %% (median) and %.0f %% (p90); %s: by %.1f and %.0f %%",
                    t->is.number, t[EXP_TARGET_P90].is.number, t->rival, t->rival_is.number,
                    t[EXP_TARGET_P90].rival_is.number);
    if (!side->is.why && !schedule->is.why)
        exp_screen_note(s, "choices", "side of Base: %.0f %% right (%s %.0f); IS or WS: %.0f %% (%s %.0f)",
                        side->is.number, side->rival, side->rival_is.number, schedule->is.number, schedule->rival,
                        schedule->rival_is.number);
    if (!regret->is.why)
        exp_screen_note(s, "regret", "the simulation's pick: %.1f %% a layer (%s %.1f), %.1f %% of the sum (%s %.1f)",
                        regret->is.number, regret->rival, regret->rival_is.number, regret[1].is.number, regret[1].rival,
                        regret[1].rival_is.number);
}

static void note_targets_reached(const struct exp_jury_report *r, struct exp_screen *s)
{
    size_t n = 0, n_reached = 0;

    for (size_t t = 0; t < EXP_N_TARGETS; t++) {
        n += value_is_known(r->target[t].at_least) && value_is_known(r->target[t].is);
        n_reached += !strcmp(r->target[t].reached, "aim") || !strcmp(r->target[t].reached, "at least");
    }
    if (n)
        exp_screen_note(s, "targets", "%zu of %zu reached: in bounds, and better than the best baseline (p < 0.05)",
                        n_reached, n);
}

static void note_trust(const struct exp_jury_report *r, struct exp_screen *s)
{
    const struct exp_jury *j = r->jury;

    if (j->why_untimed)
        exp_screen_note(s, "trust", "not measured: %s", j->why_untimed);
    else if (j->n_disturbed)
        exp_screen_note(s, "trust", "%zu of %zu layers have no times, for they were disturbed: run it again",
                        j->n_disturbed, j->n_judged);
    if (j->why_elsewhere && !j->why_untimed)
        exp_screen_note(s, "trust", "times are of another machine than cycles: %s", j->why_elsewhere);
}

static void add_cells(struct exp_screen *s, const struct exp_jury_sum *x)
{
    if (!x) {
        for (int i = 0; i < 3; i++)
            exp_screen_cell(s, EXP_PLAIN, "-");
        return;
    }
    exp_screen_cell(s, EXP_PLAIN, "%.0f %%", x->faster_percent.number);
    exp_screen_cell(s, x->geomean.number < 1 ? EXP_BAD : EXP_GOOD, "%.2fx", x->geomean.number);
    exp_screen_cell(s, EXP_PLAIN, "%" PRIu64, x->n_lost);
}

static void print_table(const struct exp_jury_report *r, struct exp_screen *s)
{
    static const char *const heads[] = { "shapes", "CSA faster", "mean", "lost", "tuned faster", "mean", "lost" };

    exp_screen_row(s, "kind of shape");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        exp_screen_cell(s, EXP_PLAIN, "%s", heads[i]);
    for (size_t k = 0; k < EXP_JURY_N_KINDS; k++) {
        const char *kind = exp_jury_kinds[k].name;
        const struct exp_jury_sum *csa = exp_jury_sum_of(r, kind, chosen()), *best = exp_jury_sum_of(r, kind, tuned);

        if (!csa && !best)
            continue;
        exp_screen_row(s, "%s", exp_jury_kinds[k].words);
        exp_screen_cell(s, EXP_PLAIN, "%" PRIu64, best && (!csa || best->n > csa->n) ? best->n : csa->n);
        add_cells(s, csa);
        add_cells(s, best);
    }
}

/* Says what holds the losses back: of tuned SConv, else of SConv as CSA chose. */
static void note_losses(const struct exp_jury_report *r, struct exp_screen *s)
{
    const struct exp_jury_sum *best = exp_jury_sum_of(r, "all", tuned), *csa = exp_jury_sum_of(r, "all", chosen());
    const bool is_tuned = best && best->n_lost;
    const struct exp_jury_sum *x = is_tuned ? best : csa;

    char *by = r->is_timed && x ? exp_format(" (%" PRIu64 " by simulation, too)", x->n_explained) : exp_copy_text("");

    if (x && x->n_lost)
        exp_screen_note(s, "why", "%s loses over 5 %% in %" PRIu64 " shapes%s%s%s",
                        is_tuned ? "tuned" : "what CSA chose", x->n_lost, by, *x->cause ? ": " : "", x->cause);
    free(by);
}

void exp_jury_fill_screen(const struct exp_jury_report *r, struct exp_screen *s)
{
    char *text = headline(r), *schedules = schedules_words(r);

    assert(r->jury && s);
    exp_screen_say(s, EXP_STRONG, "%s", text);
    free(text);
    exp_screen_note(s, "paper", "faster in %.1f %% of %s shapes (ConvBench, arXiv:2407.10730), on a machine of its own",
                    PUBLISHED_PERCENT, PUBLISHED_SHAPES);
    if (schedules)
        exp_screen_note(s, "schedule", "%s", schedules);
    free(schedules);
    note_losses(r, s);
    note_targets(r, s);
    note_targets_reached(r, s);
    note_trust(r, s);
    print_table(r, s);
}
