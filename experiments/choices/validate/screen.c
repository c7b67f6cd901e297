/* The screen of a validation: the answer in 25 lines. */
#include "experiments/choices/validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/bench/case/cycles.h"

char *exp_validate_headline(const struct exp_validate_cycles *c, const struct exp_setup *setup)
{
    char *text, *fit;

    if (!c->n)
        return exp_format("No simulated cycles stand beside cycles of the real machine: %s.",
                          *setup->why_no_cycles ? setup->why_no_cycles : "no row has both");
    fit = isnan(c->fit)
              ? exp_copy_text("")
              : exp_format(", a fit without caches (multiply-adds, loads, stores, a constant) by %.1f %%", c->fit);
    text =
        isnan(c->constant)
            ? exp_format("Simulated cycles differ from those of the real machine by %.1f %% in the median of %zu rows.",
                         c->median, c->n)
            : exp_format("Simulated cycles differ from those of the real machine by %.1f %% in the median of %zu "
                         "rows; a constant for each multiply-add differs by %.1f %%%s.",
                         c->median, c->n, c->constant, fit);
    free(fit);
    return text;
}

/* ---- notes ---- */

static void say_counts(const struct exp_agreement_report *r, struct exp_screen *s)
{
    size_t n_alone, n_whole;
    const size_t alone = exp_validate_count_reached(r, EXP_CACHES_ALONE, &n_alone);
    const size_t whole = exp_validate_count_reached(r, EXP_AS_MACHINE, &n_whole);

    if (n_whole)
        exp_screen_note(s, "why",
                        "prefetchers matter: the machine reaches %zu of %zu targets of counts, caches alone %zu of "
                        "%zu",
                        whole, n_whole, alone, n_alone);
}

/* Says the choices by simulated cycles, beside constants. */
static void say_choices(const struct exp_validate_cycles *c, struct exp_screen *s)
{
    const struct exp_choice_sum *side = &c->side;
    char *schedules = NULL;

    if (!side->n)
        return;
    if (c->schedule.n)
        schedules = exp_format("; the faster schedule in %zu of %zu (CSA %zu, csa2 %zu, always IS %zu, always WS %zu)",
                               c->schedule.n_right, c->schedule.n, c->n_right_csa, c->n_right_csa2,
                               c->schedule.n_best[CSA_IS], c->schedule.n_best[CSA_WS]);
    exp_screen_note(s, "choices",
                    "the faster of Base and SConv is right in %zu of %zu pairs (always Base %zu, always SConv %zu)%s",
                    side->n_right, side->n, side->n_best[0], side->n_best[1], schedules ? schedules : "");
    free(schedules);
}

static void say_trust(const struct exp_validate_cycles *c, struct exp_screen *s)
{
    char *equals = isnan(c->equals) ? exp_copy_text("no two of these convolutions are equal")
                                    : exp_format("equal convolutions by %.1f %% on the real machine", c->equals);

    if (c->n)
        exp_screen_note(s, "trust", "nine rows of ten differ by less than %.0f %%; %s", c->p90, equals);
    free(equals);
}

/* ---- the table ---- */

struct row {
    size_t quantity;
    struct exp_agreement machine, alone;
};

/* Puts cycles first, then the largest errors. */
static int by_error(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const size_t cycles = ctr_quantity_index("cycles");

    if ((x->quantity == cycles) != (y->quantity == cycles))
        return x->quantity == cycles ? -1 : 1;
    return (x->machine.median_size < y->machine.median_size) - (x->machine.median_size > y->machine.median_size);
}

static void print_percent(double percent, const char *format, struct exp_screen *s)
{
    char text[32] = "-";

    if (!isnan(percent))
        exp_say(text, sizeof text, format, percent);
    exp_screen_cell(s, EXP_PLAIN, "%s", text);
}

static void print_table(const struct exp_agreement_report *r, struct exp_screen *s)
{
    struct row *rows = exp_new(ctr_n_quantities() + 1, sizeof *rows);
    const struct exp_selection all = { NULL, NULL };
    size_t n = 0;

    for (size_t q = 0; q < ctr_n_quantities(); q++) {
        rows[n] = (struct row){ q, exp_agreement_of(r->points, &all, q, EXP_AS_MACHINE),
                                exp_agreement_of(r->points, &all, q, EXP_CACHES_ALONE) };
        n += rows[n].machine.n > 0 && !isnan(rows[n].machine.median_size);
    }
    qsort(rows, n, sizeof *rows, by_error);
    if (n) {
        exp_screen_row(s, "simulated less measured");
        exp_screen_cell(s, EXP_PLAIN, "rows");
        exp_screen_cell(s, EXP_PLAIN, "median row");
        exp_screen_cell(s, EXP_PLAIN, "sum");
        exp_screen_cell(s, EXP_PLAIN, "caches alone: median row");
        exp_screen_cell(s, EXP_PLAIN, "sum");
    }
    for (size_t i = 0; i < n; i++) {
        const struct exp_agreement *alone = &rows[i].alone;

        exp_screen_row(s, "%s", ctr_quantity_at(rows[i].quantity)->name);
        exp_screen_cell(s, EXP_PLAIN, "%zu", rows[i].machine.n);
        print_percent(rows[i].machine.median_size, "%.1f %%", s);
        print_percent(rows[i].machine.percent, "%+.1f %%", s);
        print_percent(alone->n ? alone->median_size : (double)NAN, "%.1f %%", s);
        print_percent(alone->n ? alone->percent : (double)NAN, "%+.1f %%", s);
    }
    free(rows);
}

void exp_validate_fill_screen(const struct exp_agreement_report *r, const struct exp_validate_cycles *c,
                              const struct exp_setup *setup, struct exp_screen *s)
{
    char *headline = exp_validate_headline(c, setup);

    exp_screen_say(s, EXP_STRONG, "%s", headline);
    free(headline);
    say_counts(r, s);
    say_choices(c, s);
    say_trust(c, s);
    print_table(r, s);
}
