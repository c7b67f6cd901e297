/* The chapter of a network: the time of each step, and then all that chapters without an experiment have. */
#include "experiments/show/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/algo.h"
#include "experiments/show/page_bars.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

enum { LONG_TABLE = 12, CELL_BYTES = 160, N_COLUMNS = 9 };

/* Parts of the estimated cycles, at the places of the parts of an experiment's cycles. */
static const struct {
    size_t part;
    const char *column, *title;
} parts[] = {
    { 0, "estimated_issue_cycles", "computing" },
    { 3, "estimated_wait_l2_cycles", "waiting for L2" },
    { 4, "estimated_wait_l3_cycles", "waiting for L3" },
    { 5, "estimated_wait_memory_cycles", "waiting for memory" },
};

/* nodes.csv, and the rows of a run of the network. */
struct steps {
    struct exp_page_csv nodes, network;
    bool is_timed; /* else by estimated cycles */
    const char *cost_column, *unit, *rate_unit;
    const char *best; /* the algorithm of the lowest cost */
    double all, roof; /* the cost of the best algorithm; the best rate of its steps */
};

/* ---- numbers ---- */

static const char *algo_of(const struct steps *s, size_t row)
{
    return exp_page_csv_cell(&s->nodes, row, "algo");
}

static double number(const struct steps *s, size_t row, const char *column)
{
    return exp_page_csv_number(&s->nodes, row, column);
}

static double cost_of(const struct steps *s, size_t row)
{
    return number(s, row, s->cost_column);
}

/* Returns multiply-adds in a ns or cycle; NaN: the step has no multiply-adds. */
static double rate_of(const struct steps *s, size_t row)
{
    const double macs = number(s, row, "macs"), cost = cost_of(s, row);

    return macs > 0 && cost > 0 ? macs / cost : (double)NAN;
}

/* Returns the saving of a step at the best rate. */
static double saving_of(const struct steps *s, size_t row)
{
    return s->roof > 0 ? fmax(cost_of(s, row) - number(s, row, "macs") / s->roof, 0) : (double)NAN;
}

/* Tells whether two rows are of the same step. */
static bool is_same_step(const struct steps *s, size_t a, size_t b)
{
    static const char *const keys[] = { "model", "fused", "step", "node" };

    for (size_t i = 0; i < N(keys); i++) {
        if (strcmp(exp_page_csv_cell(&s->nodes, a, keys[i]), exp_page_csv_cell(&s->nodes, b, keys[i])) != 0)
            return false;
    }
    return true;
}

static double sum_of(const struct steps *s, const char *algo)
{
    double sum = 0;

    for (size_t i = 0; i < s->nodes.table.n_rows; i++)
        sum += strcmp(algo_of(s, i), algo) ? 0 : cost_of(s, i);
    return sum;
}

/* Finds the fastest algorithm and the best rate of the steps with at least a hundredth of the cost. */
static void find_best(struct steps *s)
{
    s->all = (double)INFINITY;
    for (size_t i = 0; i < s->nodes.table.n_rows; i++) {
        if ((!i || strcmp(algo_of(s, i), algo_of(s, i - 1)) != 0) && sum_of(s, algo_of(s, i)) < s->all) {
            s->best = algo_of(s, i);
            s->all = sum_of(s, s->best);
        }
    }
    for (size_t i = 0; i < s->nodes.table.n_rows && s->best; i++) {
        if (!strcmp(algo_of(s, i), s->best) && cost_of(s, i) >= 0.01 * s->all)
            s->roof = fmax(s->roof, rate_of(s, i));
    }
}

static bool has_numbers(const struct steps *s, const char *column)
{
    for (size_t i = 0; i < s->nodes.table.n_rows; i++) {
        if (number(s, i, column) > 0)
            return true;
    }
    return false;
}

/* Chooses measured times, else estimated cycles. Returns false without both. */
static bool choose(struct steps *s)
{
    s->is_timed = has_numbers(s, "measured_time_ns");
    s->cost_column = s->is_timed ? "measured_time_ns" : "estimated_cycles";
    s->unit = s->is_timed ? "ms" : "million cycles";
    s->rate_unit = s->is_timed ? "multiply-adds per ns" : "multiply-adds per cycle";
    if (s->is_timed || has_numbers(s, s->cost_column))
        find_best(s);
    return s->best != NULL;
}

/* ---- the table ---- */

static void put_number(char *text, double value)
{
    exp_page_print_number(text, CELL_BYTES, value, EXP_PAGE_DECIMAL);
}

static void write_row(struct exp_page_writer *w, const struct steps *s, size_t row)
{
    char text[N_COLUMNS][CELL_BYTES];
    struct exp_page_cell cell[N_COLUMNS];
    static const char *const words[] = { "step", "node", "does", "output" };

    for (size_t i = 0; i < N(words); i++)
        exp_say(text[i], CELL_BYTES, "%s", exp_page_csv_cell(&s->nodes, row, words[i]));
    put_number(text[4], 1e-6 * cost_of(s, row));
    put_number(text[5], 100 * cost_of(s, row) / s->all);
    put_number(text[6], rate_of(s, row));
    put_number(text[7], 100 * rate_of(s, row) / s->roof);
    put_number(text[8], rate_of(s, row) > 0 ? 1e-6 * saving_of(s, row) : (double)NAN);
    for (size_t i = 0; i < N_COLUMNS; i++)
        cell[i] = (struct exp_page_cell){ text[i], NULL };
    exp_page_row(w, cell, N_COLUMNS);
}

/* A row of nodes.csv in the order of the table. */
struct ranked {
    double saves, cost;
    size_t row;
};

/* Compares for qsort: the largest saving first, then the largest cost. */
static int by_saving(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const int order = (x->saves < y->saves) - (x->saves > y->saves);

    return order ? order : (x->cost < y->cost) - (x->cost > y->cost);
}

static void write_table(struct exp_page_writer *w, const struct steps *s)
{
    const struct exp_page_column columns[N_COLUMNS] = { { "step", "", "position in the order of the run", false },
                                                        { "node", "", NULL, false },
                                                        { "does", "", NULL, false },
                                                        { "output", "", NULL, false },
                                                        { s->is_timed ? "time" : "estimate", s->unit, NULL, true },
                                                        { "share", "%", NULL, true },
                                                        { "rate", s->rate_unit, NULL, true },
                                                        { "of the best rate", "%", NULL, true },
                                                        { "would save at the best rate", s->unit, NULL, true } };
    struct ranked *ranked = exp_new(s->nodes.table.n_rows, sizeof *ranked);
    char caption[320], roof[48];
    size_t n = 0;

    for (size_t i = 0; i < s->nodes.table.n_rows; i++) {
        if (!strcmp(algo_of(s, i), s->best))
            ranked[n++] = (struct ranked){ rate_of(s, i) > 0 ? saving_of(s, i) : 0, cost_of(s, i), i };
    }
    qsort(ranked, n, sizeof *ranked, by_saving);
    put_number(roof, s->roof);
    exp_say(
        caption, sizeof caption,
        "%s by step with %s, the largest saving first. The best rate, %s %s, is the best of the steps with at least "
        "1 %% of the %s.",
        s->is_timed ? "Time" : "Estimated cycles", exp_page_algo_title(s->best), roof, s->rate_unit,
        s->is_timed ? "time" : "cycles");
    exp_page_table_begin(w, &(struct exp_page_table){ caption, columns, N_COLUMNS, n > LONG_TABLE, false });
    for (size_t i = 0; i < n; i++)
        write_row(w, s, ranked[i].row);
    exp_page_table_end(w);
    free(ranked);
}

/* ---- the chart ---- */

static void add_bar(struct exp_page_bar_group *g, const struct steps *s, size_t row, double base)
{
    struct exp_page_bar *b = exp_page_bars_bar(g, algo_of(s, row));

    b->value = 1e-6 * cost_of(s, row);
    b->rate = rate_of(s, row);
    b->speedup.value = base / cost_of(s, row);
    for (size_t i = 0; i < N(parts); i++)
        b->part[parts[i].part] = fmax(number(s, row, parts[i].column), 0);
}

/* Adds the bars of a step, whose first row is given. */
static void add_step(struct exp_page_bars *c, const struct steps *s, size_t first)
{
    struct exp_page_bar_group *g = exp_page_bars_group(c, exp_page_csv_cell(&s->nodes, first, "node"));
    double base = (double)NAN;
    char text[CELL_BYTES];

    exp_say(g->note, sizeof g->note, "%s, %s", exp_page_csv_cell(&s->nodes, first, "does"),
            exp_page_csv_cell(&s->nodes, first, "output"));
    g->saves = (double)NAN;
    for (size_t i = first; i < s->nodes.table.n_rows; i++) {
        if (!is_same_step(s, first, i) || exp_page_bars_find(g, algo_of(s, i)))
            continue;
        if (!strcmp(algo_of(s, i), exp_algo_base()->name))
            base = cost_of(s, i);
        add_bar(g, s, i, base);
        if (strcmp(algo_of(s, i), s->best) != 0)
            continue;
        put_number(text, 100 * cost_of(s, i) / s->all);
        exp_say_more(g->note, sizeof g->note, "; %s %%", text);
        if (!(rate_of(s, i) > 0))
            continue;
        g->saves = 1e-6 * saving_of(s, i);
        put_number(text, g->saves);
        exp_say_more(g->note, sizeof g->note, ", would save %s %s", text, s->unit);
    }
}

/* Adds the network's own times, which hold all steps. */
static void add_network(struct exp_page_bars *c, const struct steps *s)
{
    struct exp_page_bar_group *g = exp_page_bars_group(c, "The whole network");
    const char *fused = exp_page_csv_cell(&s->nodes, 0, "fused");

    g->is_total = true;
    g->saves = (double)NAN;
    for (size_t i = 0; i < s->network.table.n_rows; i++) {
        const double cost = exp_page_csv_number(&s->network, i, s->cost_column);
        const double macs = exp_page_csv_number(&s->network, i, "macs");
        struct exp_page_bar *b;

        if (!(cost > 0) || strcmp(exp_page_csv_cell(&s->network, i, "fused"), fused) != 0)
            continue;
        b = exp_page_bars_bar(g, exp_page_csv_cell(&s->network, i, "algo"));
        b->value = 1e-6 * cost;
        b->rate = macs > 0 ? macs / cost : (double)NAN;
        b->speedup.value =
            exp_page_csv_number(&s->network, i, s->is_timed ? "measured_speedup_vs_base" : "estimated_speedup_vs_base");
        if (s->is_timed) {
            b->speedup.low = exp_page_csv_number(&s->network, i, "measured_speedup_low");
            b->speedup.high = exp_page_csv_number(&s->network, i, "measured_speedup_high");
        }
    }
}

static void write_chart(struct exp_page_writer *w, const struct steps *s)
{
    struct exp_page_bars c = {
        .title = s->is_timed ? "Which step takes the time, and what does it wait for?"
                             : "Which step takes the cycles, by simulation, and what does it wait for?",
        .caption = "Steps in the order of the run. A step's share, and the saving at the best rate of the network, are "
                   "those of the fastest algorithm. The lower bar is what the step waits for, estimated by simulation "
                   "as if all loads wait, as parts of the upper bar.",
        .unit = s->unit,
        .rate_unit = s->rate_unit,
        .saves_title = "what a step would save",
        .roof = s->roof,
        .roof_title = "the best rate",
    };

    for (size_t i = 0; i < N(parts); i++)
        c.part_title[parts[i].part] = parts[i].title;
    add_network(&c, s);
    for (size_t i = 0; i < s->nodes.table.n_rows; i++) {
        size_t before = 0;

        while (before < i && !is_same_step(s, before, i))
            before++;
        if (before == i)
            add_step(&c, s, i);
    }
    exp_page_bars_write(w, &c);
    exp_page_bars_release(&c);
}

/* ---- the chapter ---- */

static int read_steps(struct steps *s, const struct exp_page_folder *f, struct exp_why *why)
{
    int err = exp_page_csv_read(&s->nodes, f->path, "nodes.csv", why);

    if (!err)
        err = exp_page_csv_read(&s->network, f->path, "network.csv", why);
    for (size_t i = 0; i < s->network.table.n_rows && !err; i++)
        exp_algo_meet(exp_page_csv_cell(&s->network, i, "algo"));
    return err;
}

int exp_page_network_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    struct steps s = { .roof = 0 };
    int err = read_steps(&s, f, why);

    exp_page_other_begin(w, f);
    if (!err && choose(&s)) {
        write_chart(w, &s);
        write_table(w, &s);
    }
    exp_page_csv_release(&s.nodes);
    exp_page_csv_release(&s.network);
    return err ? err : exp_page_other_end(w, f, why);
}
