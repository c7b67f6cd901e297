/* The screen of the study: the answer in 25 lines. */
#include "experiments/choices/study/study.h"

#include <math.h>
#include <stdlib.h>

/* ---- notes ---- */

static void say_more_lines(char *text, size_t bytes, const struct exp_study_work *w, enum exp_study_equation equation,
                           const char *from)
{
    struct exp_study_range rank, ratio = exp_study_lines_of(w, equation, &rank);

    if (ratio.low <= ratio.high)
        exp_say_more(text, bytes, "%s %.2f to %.2f times the lines from %s", *text ? "," : "", ratio.low, ratio.high,
                     from);
}

static void say_lines(const struct exp_study_work *w, struct exp_screen *s)
{
    char text[256] = "";

    say_more_lines(text, sizeof text, w, EXP_STUDY_EQ14, "L2");
    say_more_lines(text, sizeof text, w, EXP_STUDY_EQ13, "L3");
    say_more_lines(text, sizeof text, w, EXP_STUDY_EQ7, "memory");
    if (*text)
        exp_screen_note(s, "why", "CSA predicts%s that a replay counts", text);
}

static void say_rival(const struct exp_study_schedules *x, struct exp_screen *s)
{
    if (x->n_held_out)
        exp_screen_note(s, "rival",
                        "csa2 saves over %.1f %% of the constant's time in %zu of %zu recordings, and loses as much in "
                        "%zu (layers outside its fit)",
                        EXP_STUDY_GAIN_PERCENT, x->n_faster, x->n_held_out, x->n_slower);
}

static void say_tiles(const struct exp_study_work *w, struct exp_screen *s)
{
    char text[256] = "";

    for (size_t k = 0; k < w->n_tilings; k++) {
        const struct exp_study_tilings *t = &w->tilings[k];

        exp_say_more(text, sizeof text, "%s %.0f %% on %s by %s", k ? "," : "",
                     exp_study_speed_of(t, EXP_STUDY_HALVING, EXP_STUDY_ALL).percent, t->name,
                     t->is_timed ? "the clock" : "Eq. 6");
    }
    if (*text)
        exp_screen_note(s, "tiles", "CSA's tiles reach, of the speed of the best tiles found,%s", text);
}

/* The second measure of a recording bounds what a rule can reach. */
static void say_trust(const struct exp_study_schedules *x, struct exp_screen *s)
{
    if (x->second.low <= x->second.high)
        exp_screen_note(s, "trust",
                        "the two measures of a recording agree on the faster schedule in %.0f to %.0f %% of "
                        "the layers",
                        x->second.low, x->second.high);
}

/* ---- the table ---- */

static const struct {
    enum exp_study_rule rule;
    const char *title;
} columns[] = { /* CSA and the constants come first */ { EXP_STUDY_BY_CSA, "CSA" },
                { EXP_STUDY_ALWAYS_WS, "always WS" },
                { EXP_STUDY_ALWAYS_IS, "always IS" },
                { EXP_STUDY_BY_CSA2, "csa2" },
                { EXP_STUDY_BY_SHAPE, "same shape" } };

enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

struct row {
    const struct exp_study_source *source;
    enum csa2_state state;
    struct exp_study_tally of[N_COLUMNS];
};

/* Puts the recordings first in which CSA's wrong choices cost most. */
static int by_regret(const void *a, const void *b)
{
    const double x = ((const struct row *)a)->of->regret_percent, y = ((const struct row *)b)->of->regret_percent;

    return (x < y) - (x > y);
}

static size_t find_rows(const struct exp_study_work *w, struct row *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_sources * CSA2_N_STATES; i++) {
        struct row *row = &rows[n];

        *row = (struct row){ .source = &w->source[i / CSA2_N_STATES], .state = i % CSA2_N_STATES };
        for (size_t k = 0; k < N_COLUMNS; k++)
            row->of[k] = exp_study_tally_of(row->source, columns[k].rule, row->state, EXP_STUDY_ALL);
        n += row->of->all.n > 0;
    }
    return n;
}

/* Prints CSA's share green above both constants, and red below the better constant. */
static void print_row(const struct row *row, struct exp_screen *s)
{
    const size_t ws = row->of[1].all.n_right, is = row->of[2].all.n_right, constant = is > ws ? is : ws;
    const size_t csa = row->of->all.n_right;
    const enum exp_tone tone = csa > constant ? EXP_GOOD : csa < constant ? EXP_BAD : EXP_PLAIN;

    exp_screen_row(s, "%s, %s", row->source->name, exp_study_state_names[row->state]);
    exp_screen_cell(s, EXP_PLAIN, "%zu", row->of->all.n);
    for (size_t k = 0; k < N_COLUMNS; k++)
        exp_screen_cell(s, k ? EXP_PLAIN : tone, "%.0f %% (%.1f)", row->of[k].right_percent, row->of[k].regret_percent);
}

static void print_table(const struct exp_study_work *w, struct exp_screen *s)
{
    struct row *rows = exp_new(w->n_sources * CSA2_N_STATES + 1, sizeof *rows);
    const size_t n = find_rows(w, rows);

    qsort(rows, n, sizeof *rows, by_regret);
    if (n) {
        exp_screen_row(s, "right (time lost, %%)");
        exp_screen_cell(s, EXP_PLAIN, "layers");
    }
    for (size_t k = 0; k < N_COLUMNS && n; k++)
        exp_screen_cell(s, EXP_PLAIN, "%s", columns[k].title);
    for (size_t i = 0; i < n; i++)
        print_row(&rows[i], s);
    free(rows);
}

void exp_study_fill_screen(const struct exp_study_work *w, struct exp_screen *s)
{
    const struct exp_study_schedules x = exp_study_schedules_of(w);
    char *headline = exp_study_headline(w);
    size_t n_layers = 0;

    for (size_t i = 0; i < w->models->n; i++)
        n_layers += w->models->model[i].n_layers;
    exp_screen_title(s, "%s, %zu convolutions, one thread",
                     w->models->n > 1 ? "several models" : w->models->model->name, n_layers);
    exp_screen_say(s, EXP_STRONG, "%s", headline);
    free(headline);
    say_lines(w, s);
    say_rival(&x, s);
    say_tiles(w, s);
    say_trust(&x, s);
    print_table(w, s);
}
