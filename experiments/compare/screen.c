/* The screen of two compared runs: the better run, and the layers behind the difference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/compare/compare.h"

/* The metrics of a headline: the first that both runs have counts. */
static const struct subject_metric {
    const char *name, *better, *worse, *unit;
    double one; /* in the unit of the metric */
} metrics[] = {
    { "speedup", "are faster", "are slower", "ms", 1e6 },
    { "simulated_cycles", "are faster", "are slower", "million cycles", 1e6 },
    { "l1_misses", "have fewer", "have more", "thousand misses", 1e3 },
};

enum { N_METRICS = sizeof metrics / sizeof metrics[0], TIME = 0, CYCLES = 1 };

struct subject {
    const struct exp_two_runs *c;
    const struct exp_compare_cell *cell; /* of the model; NULL: both runs have none of the metrics */
    const struct subject_metric *metric;
};

static bool is_base(const struct exp_compare_cell *x)
{
    return !strcmp(x->algo, exp_algo_base()->name);
}

static double size_of(const struct exp_compare_cell *x)
{
    return !x->is_certain || isnan(x->change_percent) ? 0 : fabs(x->change_percent);
}

/* Finds the model's cell with the largest certain change; Base counts where there is no other algorithm. */
static const struct exp_compare_cell *find_largest(const struct exp_two_runs *c, const char *metric)
{
    const struct exp_compare_cell *most = NULL;

    for (size_t i = 0; i < c->n; i++) {
        const struct exp_compare_cell *x = &c->cell[i];

        if (x->index || strcmp(x->metric->name, metric) != 0)
            continue;
        if (!most || (is_base(most) && !is_base(x)) || (is_base(most) == is_base(x) && size_of(x) > size_of(most)))
            most = x;
    }
    return most;
}

static struct subject subject_of(const struct exp_two_runs *c)
{
    struct subject s = { .c = c };

    for (size_t i = 0; i < N_METRICS && !s.cell; i++) {
        s.metric = &metrics[i];
        s.cell = find_largest(c, s.metric->name);
    }
    return s;
}

static bool is_layer_of(const struct subject *s, const struct exp_compare_cell *x)
{
    return x->index && x->metric == s->cell->metric && !strcmp(x->algo, s->cell->algo);
}

/* ---- sentences ---- */

/* Returns the geometric mean over the layers of A's number over B's: above 1, B is better. */
static double mean_of(const struct subject *s)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->c->n; i++) {
        const struct exp_compare_cell *x = &s->c->cell[i];

        if (!is_layer_of(s, x) || !(x->a > 0 && x->b > 0))
            continue;
        sum += log(x->a / x->b);
        n++;
    }
    return n ? exp(sum / (double)n) : (double)NAN;
}

static void say_layers(const struct subject *s, char *text, size_t bytes)
{
    const struct exp_compare_tally t = exp_compare_tally(s->c, s->cell);
    const double mean = mean_of(s);
    const bool is_better = exp_compare_side_of(s->cell) > 0;
    const size_t most = is_better ? t.better : t.worse, others = is_better ? t.worse : t.better;

    exp_say_more(text, bytes, ": of %zu layers, %zu %s", t.n, most, is_better ? s->metric->better : s->metric->worse);
    if (others)
        exp_say_more(text, bytes, ", %zu %s", others, is_better ? s->metric->worse : s->metric->better);
    if (!isnan(mean))
        exp_say_more(text, bytes, "; the geometric mean of A over B is %.2f", mean);
    exp_say_more(text, bytes, ".");
}

/* Says by how much B differs from A: in percent, or as a factor where the number at least doubled or halved. */
static void say_difference(const struct subject *s, char *text, size_t bytes)
{
    const double a = s->cell->a, b = s->cell->b, percent = 100 * (b / a - 1);
    const bool is_near = b < 2 * a && a < 2 * b;
    const char *algo = s->cell->algo;

    if (s->metric == &metrics[N_METRICS - 1] && is_near)
        exp_say(text, bytes, "By simulation, B has %.1f %% %s load misses in the first level than A with %s",
                fabs(percent), percent > 0 ? "more" : "fewer", algo);
    else if (s->metric == &metrics[N_METRICS - 1])
        exp_say(text, bytes, "By simulation, B has %.2f times the load misses of A in the first level with %s", b / a,
                algo);
    else if (is_near)
        exp_say(text, bytes, "%sB is %.1f %% %s than A with %s", s->metric == &metrics[TIME] ? "" : "By simulation, ",
                100 * fabs(a / b - 1), a > b ? "faster" : "slower", algo);
    else
        exp_say(text, bytes, "%sB is %.2f times as fast as A with %s",
                s->metric == &metrics[TIME] ? "" : "By simulation, ", a / b, algo);
}

static void say_headline(const struct subject *s, char *text, size_t bytes)
{
    if (!s->cell) {
        exp_say(text, bytes, "The runs have neither times nor simulated cycles or misses in common.");
    } else if (s->metric == &metrics[TIME] && !s->cell->is_certain) {
        exp_say(text, bytes, "No time of the whole model differs for certain between A and B.");
    } else if (!(size_of(s->cell) > 0)) {
        exp_say(text, bytes, "A and B are equal in simulated %s.",
                s->metric == &metrics[CYCLES] ? "cycles" : "misses of the first level");
    } else {
        say_difference(s, text, bytes);
        say_layers(s, text, bytes);
    }
}

void exp_compare_headline(const struct exp_two_runs *c, char *text, size_t bytes)
{
    const struct subject s = subject_of(c);

    say_headline(&s, text, bytes);
}

/* Says the same metric of the other algorithms. */
static void say_others(const struct subject *s, struct exp_screen *screen)
{
    char text[512] = "";

    for (size_t i = 0; i < s->c->n; i++) {
        const struct exp_compare_cell *x = &s->c->cell[i];

        if (x->index || x == s->cell || x->metric != s->cell->metric || isnan(x->change_percent))
            continue;
        exp_say_more(text, sizeof text, "%s%s %+.1f %% (%s)", *text ? ", " : "", x->algo, x->change_percent, x->b_is);
    }
    exp_screen_note(screen, "beside", "%s", text);
}

/* Names the simulated number with the largest change. */
static void say_simulated(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_compare_cell *most = NULL;
    size_t n_equal = 0, n = 0;

    for (size_t i = 0; i < s->c->n; i++) {
        const struct exp_compare_cell *x = &s->c->cell[i];

        if (x->index || x->metric->kind != EXP_COMPARE_EXACT)
            continue;
        n++;
        n_equal += x->a == x->b;
        most = !most || size_of(x) > size_of(most) ? x : most;
    }
    if (n && n_equal == n)
        exp_screen_note(screen, "counts", "all %zu sums of simulated or predicted numbers are equal", n);
    else if (n)
        exp_screen_note(screen, "counts",
                        "%zu of %zu sums of simulated or predicted numbers differ, most of all %s of %s: %+.1f %%",
                        n - n_equal, n, most->metric->name, most->algo, most->change_percent);
}

static void say_trust(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_compare_cell *x = s->cell;

    if (x && s->metric == &metrics[TIME])
        exp_screen_note(screen, "trust", "%s%.2g%s",
                        isnan(x->p_adjusted) ? "one of the runs has no rounds, p is " : "a permutation test: p is ",
                        x->p_adjusted, "; a small p says that the runs differ, not why");
    for (size_t i = 0; i < s->c->n_notes && i < 2; i++)
        exp_screen_note(screen, "note", "%s", s->c->note[i]);
    if (s->c->n_notes > 2)
        exp_screen_note(screen, "note", "%zu further notes stand in the output (MORE=1)", s->c->n_notes - 2);
}

/* ---- the table ---- */

static int by_difference(const void *a, const void *b)
{
    const struct exp_compare_cell *x = *(const struct exp_compare_cell *const *)a,
                                  *y = *(const struct exp_compare_cell *const *)b;
    const double of_x = fabs(x->b - x->a), of_y = fabs(y->b - y->a);

    return of_x == of_y ? (x->index > y->index) - (x->index < y->index) : (of_x < of_y) - (of_x > of_y);
}

static void put_table(const struct subject *s, struct exp_screen *screen)
{
    const struct exp_compare_cell **layer = exp_new(s->c->n, sizeof *layer);
    size_t n = 0;

    for (size_t i = 0; i < s->c->n; i++) {
        if (is_layer_of(s, &s->c->cell[i]))
            layer[n++] = &s->c->cell[i];
    }
    qsort(layer, n, sizeof(const void *), by_difference);
    exp_screen_row(screen, "layer, %s", s->cell->algo);
    exp_screen_cell(screen, EXP_PLAIN, "A %s", s->metric->unit);
    exp_screen_cell(screen, EXP_PLAIN, "B %s", s->metric->unit);
    exp_screen_cell(screen, EXP_PLAIN, "B - A");
    exp_screen_cell(screen, EXP_PLAIN, "B is");
    for (size_t i = 0; i < n; i++) {
        const int side = exp_compare_side_of(layer[i]);

        exp_screen_row(screen, "%s", layer[i]->layer);
        exp_screen_number(screen, EXP_PLAIN, layer[i]->a / s->metric->one);
        exp_screen_number(screen, EXP_PLAIN, layer[i]->b / s->metric->one);
        exp_screen_number(screen, EXP_PLAIN, (layer[i]->b - layer[i]->a) / s->metric->one);
        exp_screen_cell(screen, side > 0 ? EXP_GOOD : side < 0 ? EXP_BAD : EXP_PLAIN, "%s", layer[i]->b_is);
    }
    free(layer);
}

void exp_compare_screen(const struct exp_two_runs *c, const struct exp_compare_conditions *q, struct exp_screen *screen)
{
    const struct subject s = subject_of(c);
    char text[512];

    exp_screen_title(screen, "A %s, B %s", c->a.path, c->b.path);
    say_headline(&s, text, sizeof text);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    exp_compare_say_met(c, q, screen);
    if (s.cell)
        say_others(&s, screen);
    say_simulated(&s, screen);
    say_trust(&s, screen);
    if (s.cell && s.cell->a != s.cell->b)
        put_table(&s, screen);
}
