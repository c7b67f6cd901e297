/* The first figure of an experiment: the time of each layer with each algorithm, and the parts of the time. */
#include "experiments/show/page_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/show/layers.h"
#include "experiments/show/page_bars.h"

const struct exp_page_run_part exp_page_run_parts[EXP_PAGE_RUN_PARTS] = {
    { M_simulated_computing_cycles, "computing", "computing", 0 },
    { M_simulated_packing_cycles, "packing", "packing", 0 },
    { M_simulated_calls_cycles, "calls and loop ends", "calls and loop ends", 0 },
    { M_simulated_wait_l2_cycles, "waiting for ", "waiting for L2", 2 },
    { M_simulated_wait_l3_cycles, "waiting for ", "waiting for L3", 3 },
    { M_simulated_wait_memory_cycles, "waiting for memory", "waiting for memory", 0 },
    { M_simulated_wait_tlb_cycles, "waiting for TLBs", "waiting for TLBs", 0 },
    { M_simulated_wait_stores_cycles, "waiting for stores", "waiting for stores", 0 },
};

/* How a chart's values are made. */
struct source {
    const struct exp_page_run *r;
    bool is_timed; /* else by simulated cycles */
    enum measure measure;
    double scale;
    char part_title[EXP_PAGE_BAR_PARTS][64];
};

static bool has_measure(const struct exp_page_run *r, enum measure m)
{
    const struct exp_layers_row *row = r->layers.row;

    for (size_t i = 0; i < r->layers.table.n_rows; i++) {
        if (row[i].of[m].number > 0)
            return true;
    }
    return false;
}

const char *exp_page_shown_as(const struct exp_page_layer *l, const struct exp_layers_row *row, size_t i)
{
    const struct exp_algo *a = exp_algo_find(row[i].algo);
    bool has_chosen = false;

    if (row[i].is_chosen)
        return exp_algo_chosen()->name;
    for (size_t k = l->first; k < l->first + l->n; k++)
        has_chosen = has_chosen || row[k].is_chosen;
    return a && a->when == EXP_ALGO_MEMBER && has_chosen ? NULL : row[i].algo;
}

/* ---- intervals ---- */

/* Finds the rounds of an algorithm and layer, as [*n] of ns from malloc. */
static uint64_t *rounds_of(const struct exp_page_run *r, size_t layer, const char *algo, size_t *n)
{
    const struct exp_sample_row *row = r->samples.row;
    size_t first, all = exp_page_rows_of_layer(&r->samples, &exp_samples_table, r->layer[layer].index, &first);
    uint64_t *ns = exp_new(all + 1, sizeof *ns);

    *n = 0;
    for (size_t i = first; i < first + all; i++) {
        if (!strcmp(row[i].algo, algo))
            ns[(*n)++] = row[i].time_ns;
    }
    return ns;
}

/* Sets the interval of a bar from the rounds of the bar's layers. */
static void set_interval(struct exp_page_bar *b, const struct exp_pair *pair, size_t n, double scale)
{
    const struct exp_ratio r = exp_ratio_of(pair, n); /* without a Base: of 1 ns over the sum */

    if (r.low > 0 && r.high > 0) {
        b->low = fmin(scale / r.high, b->value);
        b->high = fmax(scale / r.low, b->value);
    }
}

/* ---- layers ---- */

static void fill_bar(struct exp_page_bar *b, const struct source *s, const struct value *of, double macs)
{
    b->value = of[s->measure].number * s->scale;
    b->why = of[s->measure].why;
    b->rate = s->is_timed ? 2 * macs / of[s->measure].number : macs / of[s->measure].number;
    for (size_t i = 0; i < EXP_PAGE_BAR_PARTS; i++)
        b->part[i] = of[exp_page_run_parts[i].measure].number > 0 ? of[exp_page_run_parts[i].measure].number : 0;
    if (!s->is_timed)
        b->speedup.value = of[M_simulated_speedup].number;
    else
        b->speedup = measure_speedup(of);
    /* The core's clock turns simulated cycles into time. */
    if (s->is_timed && of[M_taken_cycles].number > 0 && of[M_measured_is_machine].number > 0)
        b->simulated = b->value * of[M_simulated_cycles].number / of[M_taken_cycles].number;
}

static void add_row(struct exp_page_bar_group *g, const struct source *s, size_t layer, size_t i)
{
    const struct exp_layers_row *row = s->r->layers.row;
    const char *name = exp_page_shown_as(&s->r->layer[layer], row, i);
    struct exp_page_bar *b;
    size_t n;

    if (!name || exp_page_bars_find(g, name))
        return;
    b = exp_page_bars_bar(g, name);
    fill_bar(b, s, row[i].of, row[i].of[M_macs].number);
    if (s->is_timed) {
        uint64_t *ns = rounds_of(s->r, layer, row[i].algo, &n);
        const struct exp_pair pair = { NULL, ns, n, measure_slowed(row[i].of) };

        set_interval(b, &pair, 1, s->scale);
        free(ns);
    }
}

/* Says the saving of the best algorithm against Base. */
static void say_saving(struct exp_page_bar_group *g, const char *unit)
{
    const struct exp_page_bar *base = exp_page_bars_find(g, exp_algo_base()->name), *best = base;
    char saved[48], times[48];

    g->saves = (double)NAN;
    if (!base || !(base->value > 0))
        return;
    for (size_t i = 0; i < g->n_bars; i++)
        best = g->bar[i].value < best->value ? &g->bar[i] : best;
    g->saves = base->value - best->value;
    exp_page_print_number(saved, sizeof saved, g->saves, EXP_PAGE_DECIMAL);
    exp_page_print_number(times, sizeof times, base->value / best->value, EXP_PAGE_DECIMAL);
    if (best == base)
        exp_say(g->note, sizeof g->note, "nothing is faster than %s", exp_page_algo_title(base->algo));
    else
        exp_say(g->note, sizeof g->note, "%s saves %s %s: %s\xc3\x97", exp_page_algo_title(best->algo), saved, unit,
                times);
}

static const char log_title[] = "oneDNN, as the log says";

/* Adds a log's time for the layers of a group. */
static void add_given(struct exp_page_bar_group *g, const struct source *s, double ns, double macs)
{
    const struct exp_page_bar *base = exp_page_bars_find(g, exp_algo_base()->name);
    const double its = base ? base->value : (double)NAN;
    struct exp_page_bar *b;

    if (!(ns > 0))
        return;
    if (!s->is_timed) {
        exp_say_more(g->note, sizeof g->note, "; in the log %.3g ms", 1e-6 * ns);
        return;
    }
    b = exp_page_bars_bar(g, log_title);
    b->value = ns * s->scale;
    b->rate = 2 * macs / ns;
    b->speedup.value = its / b->value;
}

static void add_layer(struct exp_page_bars *c, const struct source *s, size_t layer)
{
    const struct exp_layers_row *row = s->r->layers.row;
    const struct exp_page_layer *l = &s->r->layer[layer];
    struct exp_page_bar_group *g = exp_page_bars_group(c, l->name);

    g->target = exp_page_of_layer(s->r, layer);
    for (size_t i = l->first; i < l->first + l->n; i++)
        add_row(g, s, layer, i);
    say_saving(g, c->unit);
    if (l->n)
        add_given(g, s, row[l->first].of[M_given_time_ns].number, row[l->first].of[M_macs].number);
}

/* ---- the model ---- */

size_t exp_page_row_shown_as(const struct exp_page_run *r, size_t layer, const char *shown)
{
    const struct exp_page_layer *l = &r->layer[layer];

    for (size_t i = l->first; i < l->first + l->n; i++) {
        const char *name = exp_page_shown_as(l, r->layers.row, i);

        if (name && !strcmp(name, shown))
            return i;
    }
    return r->layers.table.n_rows;
}

/* Adds a layer's parts and simulated time to the sums of a model. */
static void add_to_sums(struct exp_page_bar *sum, const struct source *s, const struct value *of)
{
    struct exp_page_bar b = { .simulated = (double)NAN };

    fill_bar(&b, s, of, 0);
    for (size_t i = 0; i < EXP_PAGE_BAR_PARTS; i++)
        sum->part[i] += b.part[i];
    sum->simulated += b.simulated;
}

/* Sets the parts, the interval and the simulated time of a model's bar, if all layers have a row. */
static void fill_sums(struct exp_page_bar *b, const struct source *s)
{
    const struct exp_page_run *r = s->r;
    const struct exp_layers_row *row = r->layers.row;
    struct exp_pair *pair = exp_new(r->n_layers, sizeof *pair);
    uint64_t **ns = exp_new(r->n_layers, sizeof *ns);
    size_t n = 0, i = 0;

    memset(b->part, 0, sizeof b->part);
    b->simulated = 0;
    while (n < r->n_layers && (i = exp_page_row_shown_as(r, n, b->algo)) < r->layers.table.n_rows) {
        add_to_sums(b, s, row[i].of);
        ns[n] = rounds_of(r, n, row[i].algo, &pair[n].n_rounds);
        pair[n].algo_ns = ns[n];
        pair[n].slowed = measure_slowed(row[i].of);
        n++;
    }
    if (s->is_timed && n == r->n_layers)
        set_interval(b, pair, n, s->scale);
    if (n < r->n_layers)
        b->simulated = (double)NAN;
    for (size_t k = 0; k < n; k++)
        free(ns[k]);
    free(ns);
    free(pair);
}

static bool has_group(const struct exp_page_run *r)
{
    const struct exp_model_row *row = r->model.row;

    for (size_t i = 0; i < r->model.table.n_rows; i++) {
        if (!strcmp(row[i].algo, exp_algo_chosen()->name))
            return true;
    }
    return false;
}

/* Adds the bars of all layers together. */
static void add_model(struct exp_page_bars *c, const struct source *s, char *name, size_t bytes)
{
    const struct exp_model_row *row = s->r->model.row;
    const struct exp_layers_row *layer = s->r->layers.row;
    const bool hides_members = has_group(s->r);
    double given = 0, macs = 0;
    struct exp_page_bar_group *g;

    exp_say(name, bytes, "All %zu layers", s->r->n_layers);
    g = exp_page_bars_group(c, name);
    g->is_total = true;
    for (size_t i = 0; i < s->r->model.table.n_rows; i++) {
        const struct exp_algo *a = exp_algo_find(row[i].algo);
        struct exp_page_bar *b;

        if (a && a->when == EXP_ALGO_MEMBER && hides_members)
            continue;
        b = exp_page_bars_bar(g, row[i].algo);
        fill_bar(b, s, row[i].of, row[i].of[M_macs].number);
        fill_sums(b, s);
    }
    say_saving(g, c->unit);
    for (size_t i = 0; i < s->r->n_layers; i++) {
        given += layer[s->r->layer[i].first].of[M_given_time_ns].number;
        macs += layer[s->r->layer[i].first].of[M_macs].number;
    }
    add_given(g, s, given, macs);
}

/* ---- the chart ---- */

double exp_page_run_peak(const struct exp_page_run *r)
{
    static const char key[] = "FMA peak ", and[] = " GFLOP/s before and ";
    char said[600], *at;
    double before, after;

    exp_page_csv_said(&r->layers, "disturbance", said, sizeof said);
    at = strstr(said, key);
    if (!at)
        return (double)NAN;
    before = strtod(at + strlen(key), &at);
    after = strncmp(at, and, strlen(and)) ? before : strtod(at + strlen(and), NULL);
    return fmax(before, after);
}

static void set_part_titles(struct exp_page_bars *c, struct source *s)
{
    for (size_t i = 0; i < EXP_PAGE_RUN_PARTS; i++) {
        const char *level = exp_page_run_parts[i].level ? s->r->level[exp_page_run_parts[i].level - 1] : "";

        exp_say(s->part_title[i], sizeof s->part_title[i], "%s%s", exp_page_run_parts[i].title,
                level ? level : "the last level");
        c->part_title[i] = s->part_title[i];
    }
}

bool exp_page_times_write(struct exp_page_writer *w, const struct exp_page_run *r)
{
    const bool is_timed = has_measure(r, M_measured_time_ns), has_cycles = has_measure(r, M_simulated_cycles);
    struct source s = {
        .r = r, .is_timed = is_timed, .measure = is_timed ? M_measured_time_ns : M_simulated_cycles, .scale = 1e-6
    };
    struct exp_page_bars c = { .saves_title = "what the fastest saves", .roof = (double)NAN };
    char name[64], caption[640];

    if (!is_timed && !has_cycles)
        return false;
    c.title = !is_timed    ? "How many cycles does it take, by simulation, and what does it wait for?"
              : has_cycles ? "How long does it take, and what does it wait for?"
                           : "How long does it take?";
    c.unit = is_timed ? "ms" : "million cycles";
    c.rate_unit = is_timed ? "GFLOP/s" : "multiply-adds per cycle";
    if (is_timed) {
        c.roof = exp_page_run_peak(r);
        c.roof_title = "FMA peak, measured";
    }
    exp_say(
        caption, sizeof caption, "%s%s%s A layer's name leads to the layer's page.",
        is_timed ? "Measured time: the mean of the fastest quarter of the rounds, with the interval that holds 95 % "
                   "of the means of random halves of the rounds."
                 : "Simulated cycles, because no time was measured.",
        has_cycles ? " The lower bar is what the simulated core spends its cycles on, as parts of the upper bar." : "",
        has_cycles && is_timed ? " The thin mark is where the simulated time ends, if this computer is the "
                                 "simulated machine."
                               : "");
    c.caption = caption;
    set_part_titles(&c, &s);
    if (r->n_layers > 1 && r->model.table.n_rows)
        add_model(&c, &s, name, sizeof name);
    for (size_t i = 0; i < r->n_layers; i++) {
        if (r->layer[i].is_shown)
            add_layer(&c, &s, i);
    }
    exp_page_bars_write(w, &c);
    exp_page_bars_release(&c);
    return true;
}
