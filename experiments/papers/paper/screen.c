/* The screen of the paper: its numbers of all models beside ours, the largest difference first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/paper/paper.h"

/* The numbers of the table. */
static const struct line {
    const char *says, *figure, *metric; /* figure "": any */
} lines[] = {
    { "speed-up of the convolutions", "Table 2", "conv_speedup" },
    { "speed-up of whole models", "Table 2", "model_speedup" },
    { "largest speed-up of a convolution", "", "max_conv_speedup" },
    { "convolutions faster with SConv", "", "conv_wins_percent" },
    { "pointwise ones faster with SConv", "", "pointwise_wins_percent" },
    { "im2col and packing, of Base's time", "", "base_packing_share_percent_avg" },
    { "packing, of SConv's time", "", "sconv_packing_share_percent_avg" },
    { "packing time, Base / SConv", "", "packing_time_improvement_avg" },
    { "L1 miss rate, Base / SConv", "", "l1_miss_improvement" },
    { "L2 misses, Base / SConv", "", "l2_miss_improvement_avg" },
    { "L3 misses, Base / SConv", "", "l3_miss_improvement_avg" },
};

enum { N_LINES = sizeof lines / sizeof lines[0] };

static bool is_of_line(const struct exp_paper_result *r, const struct line *l)
{
    return r->claim && r->claim->use == EXP_PAPER_COMPARED && r->view && !isnan(r->ours) && !isnan(r->paper) &&
           strcmp(exp_paper_view_arch(r->view), "P10") != 0 && strcmp(r->published.arch, "P10") != 0 &&
           !exp_paper_is_of_one_model(&r->published) && !strcmp(r->published.metric, l->metric) &&
           (!*l->figure || !strcmp(r->published.figure, l->figure));
}

/* Finds our number of a line: the first source with a number is the best source. NULL: no number. */
static const struct exp_paper_result *find_result(const struct exp_paper_findings *f, const struct line *l)
{
    for (size_t i = 0; i < f->n; i++) {
        if (is_of_line(&f->result[i], l))
            return &f->result[i];
    }
    return NULL;
}

struct row {
    const struct line *line;
    const struct exp_paper_result *result;
};

/* Returns how far our number is from the paper's: the logarithm of the quotient. */
static double distance_of(const struct exp_paper_result *r)
{
    if (r->ours > 0 && r->paper > 0)
        return fabs(log(r->ours / r->paper));
    return r->ours == r->paper ? 0 : (double)INFINITY;
}

static int by_distance(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const double of_x = distance_of(x->result), of_y = distance_of(y->result);

    return of_x == of_y ? (x->line > y->line) - (x->line < y->line) : (of_x < of_y) - (of_x > of_y);
}

static void put_number(double x, const char *unit, struct exp_screen *screen)
{
    char *text;
    size_t bytes;
    FILE *out = exp_memory_open(&text, &bytes);

    exp_paper_put_unit(x, unit, out);
    fclose(out);
    exp_screen_cell(screen, EXP_PLAIN, "%s", text);
    free(text);
}

/* Says what our number is: the heading of a view ends in "(simulated, cold)". */
static void put_kind(const struct exp_paper_view *v, struct exp_screen *screen)
{
    const char *kind = strrchr(v->heading, '(');

    kind = kind ? kind + 1 : "";
    exp_screen_cell(screen, EXP_PLAIN, "%.*s", (int)strcspn(kind, ")"), kind);
}

static void put_table(const struct exp_paper_findings *f, struct exp_screen *screen)
{
    static const enum exp_tone tones[] = { EXP_GOOD, EXP_PLAIN, EXP_BAD, EXP_PLAIN };
    struct row row[N_LINES];
    size_t n = 0;

    for (size_t i = 0; i < N_LINES; i++) {
        row[n] = (struct row){ &lines[i], find_result(f, &lines[i]) };
        n += row[n].result != NULL;
    }
    qsort(row, n, sizeof *row, by_distance);
    exp_screen_row(screen, "number");
    exp_screen_cell(screen, EXP_PLAIN, "paper");
    exp_screen_cell(screen, EXP_PLAIN, "ours");
    exp_screen_cell(screen, EXP_PLAIN, "verdict");
    exp_screen_cell(screen, EXP_PLAIN, "ours is");
    for (size_t i = 0; i < n; i++) {
        const struct exp_paper_result *r = row[i].result;

        exp_screen_row(screen, "%s", row[i].line->says);
        put_number(r->paper, r->claim->unit, screen);
        put_number(r->ours, r->claim->unit, screen);
        exp_screen_cell(screen, tones[r->verdict], "%s", *r->verdict_name ? r->verdict_name : "other models");
        put_kind(r->view, screen);
    }
}

/* Counts the comparisons by verdict. */
static void say_tally(const struct exp_paper_findings *f, struct exp_screen *screen)
{
    size_t n[EXP_PAPER_NOT_JUDGED + 1] = { 0 };

    if (!f->has_whole_set) {
        exp_screen_note(screen, "trust", "the paper's numbers are of all layers of its seven models, ours are not");
        return;
    }
    for (size_t i = 0; i < f->n; i++) {
        const struct exp_paper_result *r = &f->result[i];

        if (r->claim && r->claim->use == EXP_PAPER_COMPARED && !isnan(r->ours))
            n[r->verdict]++;
    }
    exp_screen_note(screen, "numbers",
                    "%zu of our numbers agree with the paper's, %zu point the same way, %zu differ, and %zu cannot be "
                    "judged",
                    n[EXP_PAPER_AGREES], n[EXP_PAPER_SAME_WAY], n[EXP_PAPER_DIFFERS], n[EXP_PAPER_NOT_JUDGED]);
}

/* Names the sources without a number, and the reason of each. */
static void say_missing(const struct exp_paper_findings *f, struct exp_screen *screen)
{
    static const char *const views[] = { "here", "zen3" };

    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        const struct exp_paper_view *v = exp_paper_view_find(views[i]);

        if (*f->part[v->setting].why)
            exp_screen_note(screen, "trust", "%s has no numbers: %s", v->heading, f->part[v->setting].why);
    }
}

void exp_paper_screen(const struct exp_paper_findings *f, struct exp_screen *screen)
{
    char *headline = exp_paper_headline(f);

    exp_screen_title(screen, "The SConv paper's numbers beside ours, %zu model%s", f->models->n,
                     f->models->n == 1 ? "" : "s");
    exp_screen_say(screen, EXP_STRONG, "%s", headline);
    say_tally(f, screen);
    say_missing(f, screen);
    put_table(f, screen);
    free(headline);
}
