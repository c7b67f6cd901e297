/* The chart of two compared runs: for each layer and algorithm a pale bar of A and a full bar of B. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/compare/compare.h"
#include "experiments/show/layers.h"
#include "experiments/show/page_bars.h"

/* What the bars may show: the first metric that both runs have. */
static const struct kind {
    const char *metric, *title, *unit, *rate_unit, *means;
    double scale;  /* of a number, in the unit */
    double work;   /* of a multiply-add, in the unit of the rate */
    bool is_speed; /* B's ratio is A's number over B's, else B's over A's */
} kinds[] = {
    { "speedup", "How long does it take in A and in B?", "ms", "GFLOP/s", "as fast as A", 1e-6, 2, true },
    { "simulated_cycles", "How many cycles does it take in A and in B, by simulation?", "million cycles",
      "multiply-adds per cycle", "as fast as A", 1e-6, 1, true },
    { "l1_misses", "How many loads miss the first level in A and in B, by simulation?", "thousand misses",
      "multiply-adds per miss", "as many as A", 1e-3, 1, false },
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0], NAME_BYTES = 64 };

struct chart {
    const struct exp_two_runs *c;
    const struct kind *kind;
    struct exp_page_bars bars;
    char (*id)[NAME_BYTES]; /* of the groups' sections */
    char all[NAME_BYTES];
};

const char *exp_compare_section(const struct exp_two_runs *c, uint64_t index, char *text, size_t bytes)
{
    uint64_t last = 0;
    size_t n = 0;

    assert(c && text);
    for (size_t i = 0; i < c->n && last != index; i++) {
        if (c->cell[i].index > last) {
            last = c->cell[i].index;
            n++;
        }
    }
    exp_say(text, bytes, "layer-%llu", (unsigned long long)index);
    return last == index && n <= EXP_COMPARE_SECTIONS ? text : NULL;
}

static bool is_shown(const struct chart *h, const struct exp_compare_cell *x)
{
    return !strcmp(x->metric->name, h->kind->metric);
}

static const struct kind *find_kind(const struct exp_two_runs *c)
{
    for (size_t k = 0; k < N_KINDS; k++) {
        for (size_t i = 0; i < c->n; i++) {
            if (!strcmp(c->cell[i].metric->name, kinds[k].metric))
                return &kinds[k];
        }
    }
    return NULL;
}

/* Returns the multiply-adds of a layer, or of all compared layers, with an algorithm. */
static double macs_of(const struct chart *h, const struct exp_compare_cell *x)
{
    const struct exp_layers_row *row = h->c->a.layers.row;
    double sum = 0;

    for (size_t i = 0; i < h->c->n; i++) {
        const struct exp_compare_cell *y = &h->c->cell[i];

        if (!is_shown(h, y) || !y->index || strcmp(x->algo, y->algo) || (x->index && x->index != y->index))
            continue;
        for (size_t k = 0; k < h->c->a.layers.table.n_rows; k++) {
            if (row[k].layer_index == y->index && !strcmp(row[k].algo, y->algo)) {
                sum += row[k].of[M_macs].number;
                break;
            }
        }
    }
    return sum;
}

/* Returns B's ratio. The rounds of two runs are independent: the interval's logarithms add up as squares. */
static struct exp_ratio ratio_of(const struct chart *h, const struct exp_compare_cell *x)
{
    struct exp_ratio r = exp_ratio_none();
    const struct exp_ratio *a = &x->rate_a, *b = &x->rate_b;

    r.value = h->kind->is_speed ? x->a / x->b : x->b / x->a;
    r.low = r.value * exp(-hypot(log(b->low / b->value), log(a->high / a->value)));
    r.high = r.value * exp(hypot(log(b->high / b->value), log(a->low / a->value)));
    return r;
}

static void add_bar(struct exp_page_bar_group *g, const struct chart *h, const struct exp_compare_cell *x, bool is_b,
                    double macs)
{
    const struct exp_ratio *rate = is_b ? &x->rate_b : &x->rate_a;
    const double number = is_b ? x->b : x->a;
    struct exp_page_bar *b = exp_page_bars_bar(g, x->algo);

    b->run = is_b ? "B" : "A";
    b->is_pale = !is_b;
    b->value = number * h->kind->scale;
    b->rate = h->kind->work * macs / number;
    b->low = b->value * rate->value / rate->high;
    b->high = b->value * rate->value / rate->low;
    if (is_b)
        b->speedup = ratio_of(h, x);
}

/* Finds the cell of a layer (0: the model) with the largest difference; NULL: there is none. */
static const struct exp_compare_cell *find_largest(const struct chart *h, uint64_t index)
{
    const struct exp_compare_cell *most = NULL;

    for (size_t i = 0; i < h->c->n; i++) {
        const struct exp_compare_cell *x = &h->c->cell[i];

        if (is_shown(h, x) && x->index == index && (!most || fabs(x->b - x->a) > fabs(most->b - most->a)))
            most = x;
    }
    return most;
}

static void say_difference(const struct chart *h, const struct exp_compare_cell *x, char *text, size_t bytes)
{
    const struct exp_ratio r = ratio_of(h, x);
    char more[32], ratio[32], low[32], high[32];

    exp_say(text, bytes, "no difference");
    if (x->a == x->b)
        return;
    exp_page_print_number(more, sizeof more, fabs(x->b - x->a) * h->kind->scale, EXP_PAGE_DECIMAL);
    exp_page_print_number(ratio, sizeof ratio, r.value, EXP_PAGE_DECIMAL);
    exp_page_print_number(low, sizeof low, r.low, EXP_PAGE_DECIMAL);
    exp_page_print_number(high, sizeof high, r.high, EXP_PAGE_DECIMAL);
    exp_say(text, bytes, "%s: B has %s %s %s, %s\xc3\x97", exp_page_algo_title(x->algo), more, h->kind->unit,
            x->b > x->a ? "more" : "less", ratio);
    if (r.high > r.low)
        exp_say_more(text, bytes, " [%s, %s]", low, high);
    exp_say_more(text, bytes, ": %s", x->b_is);
}

void exp_compare_say_layer(const struct exp_two_runs *c, uint64_t index, char *text, size_t bytes)
{
    const struct chart h = { .c = c, .kind = find_kind(c) };
    const struct exp_compare_cell *x = h.kind ? find_largest(&h, index) : NULL;

    assert(c && text);
    exp_say(text, bytes, "no number of the chart");
    if (x)
        say_difference(&h, x, text, bytes);
}

/* Adds the bars of a layer, or of the model, from the cell `first` on. */
static void add_group(struct chart *h, size_t first)
{
    const struct exp_compare_cell *cell = h->c->cell, *most;
    struct exp_page_bar_group *g = exp_page_bars_group(&h->bars, cell[first].index ? cell[first].layer : h->all);

    g->is_total = !cell[first].index;
    if (!g->is_total)
        g->target = exp_compare_section(h->c, cell[first].index, h->id[h->bars.n_groups - 1], NAME_BYTES);
    for (size_t i = first; i < h->c->n; i++) {
        if (!is_shown(h, &cell[i]) || cell[i].index != cell[first].index)
            continue;
        add_bar(g, h, &cell[i], false, macs_of(h, &cell[i]));
        add_bar(g, h, &cell[i], true, macs_of(h, &cell[i]));
    }
    most = find_largest(h, cell[first].index);
    g->saves = fabs(most->b - most->a) * h->kind->scale;
    say_difference(h, most, g->note, sizeof g->note);
}

static bool is_first(const struct chart *h, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (is_shown(h, &h->c->cell[i]) && h->c->cell[i].index == h->c->cell[at].index)
            return false;
    }
    return is_shown(h, &h->c->cell[at]);
}

void exp_compare_chart(struct exp_page_writer *w, const struct exp_two_runs *c)
{
    struct chart h = { .c = c, .kind = find_kind(c) };

    assert(w && c);
    if (!h.kind)
        return;
    h.id = exp_new(c->n, sizeof *h.id);
    h.bars = (struct exp_page_bars){ .title = h.kind->title,
                                     .unit = h.kind->unit,
                                     .rate_unit = h.kind->rate_unit,
                                     .saves_title = "the difference",
                                     .roof = (double)NAN,
                                     .over = "A",
                                     .means = h.kind->means };
    h.bars.caption = h.kind == &kinds[0]
                         ? "Of each pair, the pale bar is A and the full bar is B: the mean of the fastest quarter of "
                           "the rounds, with the interval that holds 95 % of the means of random halves of the rounds. "
                           "Beside a layer: the algorithm with the largest difference, B's speed over A's with the "
                           "interval of both, and whether a test calls B better. A click opens the layer."
                         : "Of each pair, the pale bar is A and the full bar is B. Beside a layer: the algorithm with "
                           "the largest difference, and whether B is better. A click opens the layer.";
    exp_say(h.all, sizeof h.all, "All compared layers");
    for (size_t i = 0; i < c->n; i++) {
        if (is_first(&h, i))
            add_group(&h, i);
    }
    exp_page_bars_write(w, &h.bars);
    exp_page_bars_release(&h.bars);
    free(h.id);
}
