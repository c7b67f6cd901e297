/* The chart of two compared runs: for each layer and algorithm a pale bar of A and a full bar of B. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
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

const char *exp_compare_section(const struct exp_two_runs *c, uint64_t index, char *text, size_t bytes)
{
    assert(c && text);
    exp_say(text, bytes, "layer-%llu", (unsigned long long)index);
    return bsearch(&index, c->section, c->n_sections, sizeof index, exp_by_first_member) ? text : NULL;
}

/* The cells of the chart's metric: of the model, and then of each layer, in A's order. */
struct chart {
    const struct exp_two_runs *c;
    const struct kind *kind;
    const struct exp_compare_cell **cell; /* [n] */
    double *macs;                         /* [n] */
    size_t n;
    struct exp_page_bars bars;
    char (*id)[NAME_BYTES]; /* of the groups' sections */
};

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

/* Lists the cells of the layers from..to; the model has number 0. */
static struct chart chart_of(const struct exp_two_runs *c, uint64_t from, uint64_t to)
{
    struct chart h = { .c = c, .kind = find_kind(c), .cell = exp_new(c->n + 1, sizeof(const void *)) };

    for (size_t i = 0; h.kind && i < c->n; i++) {
        const struct exp_compare_cell *x = &c->cell[i];

        if (!strcmp(x->metric->name, h.kind->metric) && x->index >= from && x->index <= to)
            h.cell[h.n++] = x;
    }
    return h;
}

/* Returns the cell behind the cells of a layer that begin with `first`. */
static size_t end_of(const struct chart *h, size_t first)
{
    size_t end = first;

    while (end < h->n && h->cell[end]->index == h->cell[first]->index)
        end++;
    return end;
}

/* Sets the multiply-adds of each cell: rows and cells have one order. A cell of the model has the sum of the layers. */
static void find_macs(struct chart *h)
{
    const struct exp_layers_row *row = h->c->a.layers.row;
    const size_t n_rows = h->c->a.layers.table.n_rows, n_model = h->n && !h->cell[0]->index ? end_of(h, 0) : 0;

    h->macs = exp_new(h->n + 1, sizeof *h->macs);
    for (size_t i = n_model, r = 0; i < h->n; i++) {
        while (r < n_rows && (row[r].layer_index != h->cell[i]->index || strcmp(row[r].algo, h->cell[i]->algo) != 0))
            r++;
        h->macs[i] = r < n_rows ? row[r].of[M_macs].number : (double)NAN;
        for (size_t k = 0; k < n_model; k++)
            h->macs[k] += strcmp(h->cell[k]->algo, h->cell[i]->algo) ? 0 : h->macs[i];
    }
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

/* Returns the cell with the largest difference, of the cells first..end - 1. */
static const struct exp_compare_cell *find_largest(const struct chart *h, size_t first, size_t end)
{
    const struct exp_compare_cell *most = h->cell[first];

    for (size_t i = first; i < end; i++)
        most = fabs(h->cell[i]->b - h->cell[i]->a) > fabs(most->b - most->a) ? h->cell[i] : most;
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

/* A layer, and the largest difference in the layer. */
struct ranked {
    uint64_t index;
    double difference;
};

/* Compares for qsort: the largest difference first, then in the order of layers. */
static int by_difference(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const int order = (x->difference < y->difference) - (x->difference > y->difference);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

void exp_compare_choose_sections(struct exp_two_runs *c)
{
    const struct chart h = chart_of(c, 1, UINT64_MAX);
    struct ranked *layer = exp_new(h.n + 1, sizeof *layer);
    size_t n = 0;

    for (size_t i = 0; i < h.n; i = end_of(&h, i)) {
        const struct exp_compare_cell *most = find_largest(&h, i, end_of(&h, i));

        layer[n++] = (struct ranked){ most->index, fabs(most->b - most->a) };
    }
    qsort(layer, n, sizeof *layer, by_difference);
    c->n_sections = n < EXP_COMPARE_SECTIONS ? n : EXP_COMPARE_SECTIONS;
    c->section = exp_new(c->n_sections + 1, sizeof *c->section);
    for (size_t i = 0; i < c->n_sections; i++)
        c->section[i] = layer[i].index;
    qsort(c->section, c->n_sections, sizeof *c->section, exp_by_first_member);
    free(layer);
    free(h.cell);
}

void exp_compare_say_layer(const struct exp_two_runs *c, uint64_t index, char *text, size_t bytes)
{
    const struct chart h = chart_of(c, index, index);

    assert(c && text);
    exp_say(text, bytes, "no number of the chart");
    if (h.n)
        say_difference(&h, find_largest(&h, 0, h.n), text, bytes);
    free(h.cell);
}

/* Adds the bars of a layer, or of the model, from the cells first..end - 1. */
static void add_group(struct chart *h, size_t first, size_t end)
{
    const struct exp_compare_cell *of = h->cell[first], *most = find_largest(h, first, end);
    struct exp_page_bar_group *g = exp_page_bars_group(&h->bars, of->index ? of->layer : "All compared layers");

    g->is_total = !of->index;
    if (of->index)
        g->target = exp_compare_section(h->c, of->index, h->id[h->bars.n_groups - 1], NAME_BYTES);
    for (size_t i = first; i < end; i++) {
        add_bar(g, h, h->cell[i], false, h->macs[i]);
        add_bar(g, h, h->cell[i], true, h->macs[i]);
    }
    g->saves = fabs(most->b - most->a) * h->kind->scale;
    say_difference(h, most, g->note, sizeof g->note);
}

void exp_compare_chart(struct exp_page_writer *w, const struct exp_two_runs *c)
{
    struct chart h = chart_of(c, 0, UINT64_MAX);

    assert(w && c);
    if (!h.n) {
        free(h.cell);
        return;
    }
    find_macs(&h);
    h.id = exp_new(h.n, sizeof *h.id);
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
    for (size_t i = 0; i < h.n; i = end_of(&h, i))
        add_group(&h, i, end_of(&h, i));
    exp_page_bars_write(w, &h.bars);
    exp_page_bars_release(&h.bars);
    free(h.id);
    free(h.macs);
    free(h.cell);
}
