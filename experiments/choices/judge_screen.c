/* The screen of a judgement: the answer in 25 lines. */
#include "experiments/choices/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of choices by the measure of the screen: the clock, if there are times; else Eq. 6 with simulated loads. */
struct sums {
    const struct exp_choice_sum *csa, *csa2;
};

static bool is_timed(const struct exp_judge_report *r)
{
    return r->model[r->n_models - 1].clock.sum.n > 0;
}

static struct sums sums_of(const struct exp_judge_report *r, const struct exp_judge_model *m)
{
    return is_timed(r) ? (struct sums){ &m->clock.sum, &m->clock.csa2 }
                       : (struct sums){ &m->total.sum[EXP_EQ6_CYCLES], &m->total.csa2 };
}

static const struct exp_judge_model *all_of(const struct exp_judge_report *r)
{
    return &r->model[r->n_models - 1];
}

/* ---- the headline and the notes ---- */

/* Names all seven, or of many models the first seven. */
void exp_judge_say_models(const struct exp_judge_report *r, FILE *out)
{
    enum { MOST = 7 };
    const size_t n = r->n_models - 1, shown = n <= MOST ? n : MOST;

    if (r->has_whole_set)
        fprintf(out, "all %zu models", n);
    for (size_t i = 0; i < shown && !r->has_whole_set; i++)
        fprintf(out, "%s%s", !i ? "" : i + 1 == n ? " and " : ", ", r->model[i].name);
    if (n > shown && !r->has_whole_set)
        fprintf(out, " and %zu others", n - shown);
}

/* Returns the variant of the best constant rule. */
static size_t best_constant(const struct exp_choice_sum *s)
{
    size_t best = 0;

    for (size_t i = 1; i < EXP_N_VARIANTS; i++)
        best = s->n_best[i] > s->n_best[best] ? i : best;
    return best;
}

/* Compares the right choices with a constant's. Open choices may be right or wrong. */
static const char *how_often(const struct exp_choice_sum *s, size_t n_constant)
{
    const size_t more = s->n_right > n_constant ? s->n_right - n_constant : n_constant - s->n_right;

    if (more && more <= s->n_open)
        return "and it is open whether more or less often than";
    return s->n_right > n_constant ? "more often than" : more ? "less often than" : "as often as";
}

void exp_judge_say_headline(const struct exp_judge_report *r, char *text, size_t bytes)
{
    const struct sums s = sums_of(r, all_of(r));
    const size_t best = best_constant(s.csa), n_constant = s.csa->n_best[best];

    exp_say(text, bytes,
            "CSA chose the %s schedule in %zu of %zu layers%s, %s a constant: always %s (%s) is right in %zu",
            is_timed(r) ? "faster" : "better", s.csa->n_right, s.csa->n, is_timed(r) ? "" : " by Eq. 6",
            how_often(s.csa, n_constant), exp_variants[best].what, exp_variants[best].title, n_constant);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        if (i != best)
            exp_say_more(text, bytes, ", always %s (%s) in %zu", exp_variants[i].what, exp_variants[i].title,
                         s.csa->n_best[i]);
    }
    if (s.csa->n_open)
        exp_say_more(text, bytes, "; open in %zu: the intervals of samples overlap", s.csa->n_open);
    exp_say_more(text, bytes, is_timed(r) ? "." : ". No time has confirmed this.");
}

static void say_choices(const struct exp_choice_sum *s, struct exp_screen *screen)
{
    char text[256] = "CSA chose";

    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_say_more(text, sizeof text, "%s %s in %zu", i ? " and" : "", exp_variants[i].title, s->n_chosen[i]);
    exp_say_more(text, sizeof text, " of %zu layers", s->n);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        if (s->n_chosen[i] == s->n)
            exp_say(text, sizeof text, "CSA chose %s in all layers: the rule itself is a constant on this machine",
                    exp_variants[i].title);
    }
    exp_screen_note(screen, "why", "%s", text);
}

/* Writes a cost beyond the best cost. */
static char *extra_of(double cost, double best)
{
    const double percent = 100 * (cost - best) / best;

    if (isinf(percent))
        return exp_format("any number of %%");
    if (!(percent > 0))
        return exp_format("0 %%");
    return percent < 0.01 ? exp_format("below 0.01 %%") : exp_format(percent < 10 ? "%.2g %%" : "%.0f %%", percent);
}

static void say_cost(const struct exp_judge_report *r, struct exp_screen *screen)
{
    const struct sums s = sums_of(r, all_of(r));
    char *csa = extra_of(s.csa->chosen, s.csa->best), *csa2 = extra_of(s.csa2->chosen, s.csa2->best), text[256] = "";

    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        char *constant = extra_of(s.csa->cost[i], s.csa->best);

        exp_say_more(text, sizeof text, ", always %s %s", exp_variants[i].title, constant);
        free(constant);
    }
    exp_screen_note(screen, "cost", "CSA takes %s more %s than the better schedules%s, csa2 %s", csa,
                    is_timed(r) ? "time" : "cycles", text, csa2);
    exp_screen_note(screen, "rival", "csa2, a model of time%s, is right in %zu layers",
                    is_timed(r) ? "" : " and not of Eq. 6", s.csa2->n_right);
    free(csa);
    free(csa2);
}

static void say_traffic(const struct exp_judge_report *r, struct exp_screen *screen)
{
    char text[256] = "CSA's schedule moves the fewest lines";

    for (enum exp_yardstick y = EXP_L1_L2_LINES; y <= EXP_L3_MEMORY_LINES; y++) {
        char border[40];

        exp_border_name(r->machine, (size_t)y - EXP_L1_L2_LINES, border, sizeof border);
        exp_say_more(text, sizeof text, "%s %s in %zu", y ? "," : "", border, all_of(r)->total.sum[y].n_right);
    }
    exp_screen_note(screen, "traffic", "%s layers", text);
}

static void say_trust(const struct exp_judge_report *r, struct exp_screen *screen)
{
    const struct exp_judge_model *all = all_of(r);

    if (!is_timed(r))
        exp_screen_note(
            screen, "trust",
            "Eq. 6 with simulated loads knows neither stores nor prefetchers; make experiment takes times%s",
            r->is_sampled ? "; replays are samples (SAMPLE=exact: all accesses)" : "");
    else
        exp_screen_note(screen, "trust",
                        "these are times of make experiment; SConv is faster than Base in %zu of %zu layers%s%s",
                        all->clock.n_pays, all->clock.sum.n, *all->why_not_timed ? "; " : "", all->why_not_timed);
}

/* ---- the table ---- */

/* A row: a model, or the layers of a shape. */
struct row {
    const char *name;
    const struct exp_layer *layer; /* of layers: the first; NULL: a model */
    struct sums of;                /* of a model */
    struct exp_choice_sum csa;
    size_t chosen, by_csa2; /* of layers: variants */
};

/* Puts the costliest choices first, then the rows whose schedules differ most. */
static int by_cost(const void *a, const void *b)
{
    const struct exp_choice_sum *x = &((const struct row *)a)->csa, *y = &((const struct row *)b)->csa;
    const double cost = (y->chosen - y->best) - (x->chosen - x->best);
    const double gap = fabs(y->cost[0] - y->cost[1]) - fabs(x->cost[0] - x->cost[1]);

    return cost > 0 ? 1 : cost < 0 ? -1 : (gap > 0) - (gap < 0);
}

static size_t add_models(const struct exp_judge_report *r, struct row *rows)
{
    size_t n = 0;

    for (size_t i = 0; i + 1 < r->n_models; i++) {
        const struct sums s = sums_of(r, &r->model[i]);

        if (s.csa->n)
            rows[n++] = (struct row){ .name = r->model[i].name, .of = s, .csa = *s.csa };
    }
    return n;
}

/* Adds the layers; layers of equal shape share a row. */
static size_t add_layers(const struct exp_judge_report *r, struct row *rows)
{
    size_t n = 0;

    for (size_t l = 0; l < r->n_verdicts; l++) {
        const struct exp_judgement *v = &r->verdict[l];
        const struct exp_choice *choice = is_timed(r) ? &v->clock : &v->choice[EXP_EQ6_CYCLES];
        size_t i = 0;

        if (exp_choice_lacks_cost(choice))
            continue;
        while (i < n && !conv_problem_equal(&rows[i].layer->problem, &v->layer->problem))
            i++;
        if (i == n)
            rows[n++] = (struct row){ v->layer->name, v->layer, { NULL, NULL }, { 0 }, choice->chosen, v->by_csa2 };
        exp_choice_add(&rows[i].csa, choice);
    }
    return n;
}

static void print_model(const struct row *row, struct exp_screen *screen)
{
    exp_screen_row(screen, "%s", row->name);
    exp_screen_cell(screen, EXP_PLAIN, "%zu", row->csa.n);
    exp_screen_cell(screen, EXP_PLAIN, "%zu", row->csa.n_right);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%zu", row->csa.n_best[i]);
    exp_screen_cell(screen, EXP_PLAIN, "%zu", row->of.csa2->n_right);
}

static void print_layers(const struct row *row, double unit, struct exp_screen *screen)
{
    const bool is_right = row->csa.n_right == row->csa.n;

    if (row->csa.n > 1)
        exp_screen_row(screen, "%s and %zu of its shape", row->name, row->csa.n - 1);
    else
        exp_screen_row(screen, "%s", row->name);
    exp_screen_cell(screen,
                    row->csa.n_open ? EXP_PLAIN
                    : is_right      ? EXP_GOOD
                                    : EXP_BAD,
                    "%s%s", exp_variants[row->chosen].title, row->csa.n_open ? ", open" : "");
    exp_screen_cell(screen, EXP_PLAIN, "%s", exp_variants[row->by_csa2].title);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%.3g", row->csa.cost[i] / unit);
}

static void print_head(bool are_models, const char *unit, struct exp_screen *screen)
{
    exp_screen_row(screen, are_models ? "model" : "layer");
    if (are_models)
        exp_screen_cell(screen, EXP_PLAIN, "layers");
    exp_screen_cell(screen, EXP_PLAIN, are_models ? "CSA right" : "CSA's");
    if (!are_models)
        exp_screen_cell(screen, EXP_PLAIN, "csa2's");
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        exp_screen_cell(screen, EXP_PLAIN, "%s%s", are_models ? "always " : exp_variants[i].title,
                        are_models ? exp_variants[i].title : unit);
    if (are_models)
        exp_screen_cell(screen, EXP_PLAIN, "csa2 right");
    exp_screen_cell(screen, EXP_PLAIN, "CSA costs");
}

static void print_table(const struct exp_judge_report *r, struct exp_screen *screen)
{
    const bool are_models = r->n_models > 2;
    struct row *rows = exp_new(r->n_verdicts + r->n_models, sizeof *rows);
    const size_t n = (are_models ? add_models : add_layers)(r, rows);
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, rows[i].csa.chosen);
    qsort(rows, n, sizeof *rows, by_cost);
    print_head(are_models, is_timed(r) ? " us" : most < 1e6 ? " kcycles" : " Mcycles", screen);
    for (size_t i = 0; i < n; i++) {
        char *extra = extra_of(rows[i].csa.chosen, rows[i].csa.best);

        if (are_models)
            print_model(&rows[i], screen);
        else
            print_layers(&rows[i], is_timed(r) || most < 1e6 ? 1e3 : 1e6, screen);
        exp_screen_cell(screen, EXP_PLAIN, "%s", extra);
        free(extra);
    }
    free(rows);
}

void exp_judge_fill_screen(const struct exp_judge_report *r, struct exp_screen *s)
{
    char headline[512], *models;
    size_t bytes;
    FILE *out = exp_memory_open(&models, &bytes);

    exp_judge_say_models(r, out);
    fclose(out);
    exp_screen_title(s, "%s, %zu convolutions, %s caches, simulated machine %s", models, r->n_verdicts,
                     exp_cache_state_name(r->caches), r->machine->name);
    free(models);
    exp_judge_say_headline(r, headline, sizeof headline);
    exp_screen_say(s, EXP_STRONG, "%s", headline);
    say_choices(sums_of(r, all_of(r)).csa, s);
    say_cost(r, s);
    say_traffic(r, s);
    say_trust(r, s);
    print_table(r, s);
}
