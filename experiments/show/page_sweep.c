/* The chapter of a sweep: sliders for the settings of VARY, and then all that chapters without an experiment have. */
#include "experiments/show/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/show/page_bars.h"

/* The columns of sweep.csv for charts. */
static const struct {
    const char *column, *title, *unit;
    double scale;
} numbers[] = {
    { "l1_load_misses", "L1 misses", "k", 1e-3 },
    { "l2_load_misses", "L2 misses", "k", 1e-3 },
    { "l3_load_misses", "L3 misses", "k", 1e-3 },
    { "memory_read_lines", "memory lines", "k", 1e-3 },
    { "cost", "cost", "M", 1e-6 },
};

enum { N_NUMBERS = sizeof numbers / sizeof numbers[0], KEYS = 8, NAME_BYTES = 160 };

/* A page stays small: a chart has at most this many points, and about this many numbers. */
enum { POINTS = 1000, NUMBERS = 60000 };

/* A row of sweep.csv. */
struct row {
    const char *algo; /* as the chart shows the row; NULL: not shown */
    size_t layer, config;
};

struct sweep {
    struct exp_page_csv csv;
    struct row *row; /* [csv.table.n_rows] */
    struct {
        size_t first; /* row */
        double macs;
    } * layer; /* [n_layers] */
    size_t n_layers, n_shown;
    const char *key[KEYS], **value, *title[N_NUMBERS], *unit[N_NUMBERS];
    size_t number[N_NUMBERS]; /* the shown ones of numbers[] */
    struct exp_page_points points;
};

/* ---- reading ---- */

static const char *cell(const struct sweep *s, size_t row, const char *column)
{
    return exp_page_csv_cell(&s->csv, row, column);
}

/* Finds the keys of VARY: the columns between the configuration and the first column of every sweep. */
static void find_keys(struct sweep *s)
{
    static const char *const after[] = { "chosen", "csa" };
    bool is_key = false;

    for (size_t c = 0; c < s->csv.table.n_columns; c++) {
        const char *name = s->csv.table.column[c];

        is_key = is_key && strcmp(name, after[0]) != 0 && strcmp(name, after[1]) != 0;
        if (is_key && s->points.n_keys < KEYS)
            s->key[s->points.n_keys++] = name;
        is_key = is_key || !strcmp(name, "config");
    }
    s->points.key = s->key;
}

static void find_numbers(struct sweep *s)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        size_t r = 0;

        while (r < s->csv.table.n_rows && isnan(exp_page_csv_number(&s->csv, r, numbers[i].column)))
            r++;
        if (r == s->csv.table.n_rows)
            continue;
        s->title[s->points.n_views] = numbers[i].title;
        s->unit[s->points.n_views] = numbers[i].unit;
        s->number[s->points.n_views++] = i;
    }
    s->points.view = s->title;
    s->points.unit = s->unit;
}

static bool is_same_layer(const struct sweep *s, size_t a, size_t b)
{
    return !strcmp(cell(s, a, "model"), cell(s, b, "model")) &&
           !strcmp(cell(s, a, "layer_index"), cell(s, b, "layer_index"));
}

/* Returns the name under which a chart shows a row: the group's for CSA's choice among the members. */
static const char *shown_as(const struct sweep *s, size_t row, bool has_chosen)
{
    const char *algo = cell(s, row, "algo");
    const struct exp_algo *a;

    exp_algo_meet(algo);
    a = exp_algo_find(algo);
    if (exp_page_csv_number(&s->csv, row, "chosen") > 0)
        return exp_algo_chosen()->name;
    return a && a->when == EXP_ALGO_MEMBER && has_chosen ? NULL : algo;
}

static void read_rows(struct sweep *s)
{
    const size_t n = s->csv.table.n_rows;
    bool has_chosen = false;

    s->row = exp_new(n + 1, sizeof *s->row);
    s->layer = exp_new(n + 1, sizeof *s->layer);
    for (size_t r = 0; r < n; r++)
        has_chosen = has_chosen || exp_page_csv_number(&s->csv, r, "chosen") > 0;
    for (size_t r = 0; r < n; r++) {
        const double config = exp_page_csv_number(&s->csv, r, "config");

        if (!r || !is_same_layer(s, r - 1, r)) {
            s->layer[s->n_layers].first = r;
            s->layer[s->n_layers++].macs = exp_page_csv_number(&s->csv, r, "macs");
        }
        s->row[r] = (struct row){ .algo = config >= 1 ? shown_as(s, r, has_chosen) : NULL,
                                  .layer = s->n_layers - 1,
                                  .config = config >= 1 ? (size_t)fmin(config, POINTS + 1) - 1 : 0 };
        s->points.n_points = s->row[r].config >= s->points.n_points ? s->row[r].config + 1 : s->points.n_points;
    }
}

static void find_points(struct sweep *s)
{
    s->value = exp_new(s->points.n_points * s->points.n_keys + 1, sizeof *s->value);
    for (size_t i = 0; i < s->points.n_points * s->points.n_keys; i++)
        s->value[i] = "";
    for (size_t r = 0; r < s->csv.table.n_rows; r++) {
        for (size_t k = 0; k < s->points.n_keys; k++)
            s->value[s->row[r].config * s->points.n_keys + k] = cell(s, r, s->key[k]);
    }
    s->points.value = s->value;
}

/* ---- bars ---- */

static struct exp_page_bar *bar_of(struct exp_page_bar_group *g, const struct sweep *s, const char *algo)
{
    const size_t n = s->points.n_points * s->points.n_views;
    struct exp_page_bar *b = (struct exp_page_bar *)exp_page_bars_find(g, algo);

    if (b)
        return b;
    b = exp_page_bars_bar(g, algo);
    b->at = exp_new(n, sizeof *b->at);
    for (size_t i = 0; i < n; i++)
        b->at[i] = (double)NAN;
    return b;
}

/* Adds a row to the bar of the row's algorithm. */
static void add_row(struct exp_page_bar_group *g, const struct sweep *s, size_t row)
{
    struct exp_page_bar *b = s->row[row].algo ? bar_of(g, s, s->row[row].algo) : NULL;

    for (size_t v = 0; b && v < s->points.n_views; v++) {
        const double number =
            exp_page_csv_number(&s->csv, row, numbers[s->number[v]].column) * numbers[s->number[v]].scale;
        double *at = &b->at[v * s->points.n_points + s->row[row].config];

        *at = isnan(*at) ? number : *at + number;
    }
}

/* Takes the numbers of point 0, and the range of the points as what a group's sort looks at. */
static void finish_group(struct exp_page_bar_group *g, const struct sweep *s)
{
    g->saves = 0;
    for (size_t i = 0; i < g->n_bars; i++) {
        const double *at = g->bar[i].at;
        double least = at[0], most = at[0];

        g->bar[i].value = at[0];
        for (size_t k = 1; k < s->points.n_points; k++) {
            least = fmin(least, at[k]);
            most = fmax(most, at[k]);
        }
        g->saves = fmax(g->saves, most - least);
    }
}

static void add_layer(struct exp_page_bars *c, const struct sweep *s, size_t layer, char *name)
{
    const size_t first = s->layer[layer].first;
    const bool has_models =
        strcmp(cell(s, 0, "model"), cell(s, s->csv.table.n_rows - 1, "model")) != 0; /* models stand in order */
    struct exp_page_bar_group *g;

    exp_say(name, NAME_BYTES, "%s%s%s", has_models ? cell(s, first, "model") : "", has_models ? ": " : "",
            cell(s, first, "layer"));
    g = exp_page_bars_group(c, name);
    for (size_t r = first; r < s->csv.table.n_rows && s->row[r].layer == layer; r++)
        add_row(g, s, r);
    finish_group(g, s);
}

static void add_sum(struct exp_page_bars *c, const struct sweep *s, char *name)
{
    struct exp_page_bar_group *g;

    exp_say(name, NAME_BYTES, "All %zu layers", s->n_layers);
    g = exp_page_bars_group(c, name);
    g->is_total = true;
    for (size_t r = 0; r < s->csv.table.n_rows; r++)
        add_row(g, s, r);
    finish_group(g, s);
}

/* Returns the least work of a shown layer: the numbers of a page are limited. */
static double least_work(const struct sweep *s)
{
    const size_t of_layer = s->points.n_points * s->points.n_views * 3;
    const size_t most = NUMBERS / of_layer > 1 ? NUMBERS / of_layer : 1;
    double *macs = exp_new(s->n_layers, sizeof *macs), least;

    for (size_t i = 0; i < s->n_layers; i++)
        macs[i] = s->layer[i].macs;
    exp_stats_sort_up(macs, s->n_layers);
    least = most < s->n_layers ? macs[s->n_layers - most] : 0;
    free(macs);
    return least;
}

static void write_chart(struct exp_page_writer *w, struct sweep *s)
{
    struct exp_page_bars c = { .title = "How many loads miss, for each setting of VARY?",
                               .unit = s->unit[0],
                               .rate_unit = "",
                               .saves_title = "the range over all settings",
                               .roof = (double)NAN,
                               .points = &s->points };
    char(*name)[NAME_BYTES] = exp_new(s->n_layers + 1, sizeof *name), caption[400];
    const double least = least_work(s);

    exp_say(caption, sizeof caption,
            "Sliders choose among the %zu simulated settings, and bars keep one scale for all of them. Each layer is "
            "planned anew for each setting. k: thousand loads or lines. M: million cycles, or lines where the machine "
            "has no latencies.",
            s->points.n_points);
    c.caption = caption;
    add_sum(&c, s, name[s->n_layers]);
    for (size_t i = 0; i < s->n_layers && s->n_layers > 1; i++) {
        if (s->layer[i].macs >= least)
            add_layer(&c, s, i, name[i]);
    }
    exp_page_bars_write(w, &c);
    exp_page_bars_release(&c);
    free(name);
}

/* ---- the chapter ---- */

int exp_page_sweep_chart(struct exp_page_writer *w, const char *folder, struct exp_why *why)
{
    struct sweep s = { .n_layers = 0 };
    int err = exp_page_csv_read(&s.csv, folder, "sweep.csv", why);

    if (!err) {
        find_keys(&s);
        find_numbers(&s);
        read_rows(&s);
        if (s.points.n_keys && s.points.n_views && s.points.n_points <= POINTS) {
            find_points(&s);
            write_chart(w, &s);
        }
    }
    free(s.row);
    free(s.layer);
    free(s.value);
    exp_page_csv_release(&s.csv);
    return err;
}

int exp_page_sweep_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    int err;

    exp_page_other_begin(w, f);
    err = exp_page_sweep_chart(w, f->path, why);
    return err ? err : exp_page_other_end(w, f, why);
}
