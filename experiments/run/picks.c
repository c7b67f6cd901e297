/*
 * What simulated cycles would choose in each layer, among the algorithms of an experiment, beside what was fastest:
 * picks.csv. An algorithm's plan, with schedule, tiles and kernel, is in layers.csv.
 */
#include "experiments/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/record.h"

struct pick {
    uint64_t layer_index;
    const char *layer, *picked, *fastest;
    double simulated, taken, fastest_taken;
    const char *why_no_pick, *why_not_taken;
};

static double lost_percent(const void *row)
{
    const struct pick *p = row;

    return 100 * (p->taken / p->fastest_taken - 1);
}

#define ROW struct pick

static const struct rec_field fields[] = {
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { { "picked", "", "the algorithm with the fewest simulated_cycles", "replay" }, REC_OR(ROW, picked, why_no_pick) },
    { { "simulated_cycles", "cycles", "of the one that is picked", "replay" }, REC_OR(ROW, simulated, why_no_pick) },
    { { "taken_cycles", "cycles", "by it (layers.csv)", "perf_event, clock" }, REC_OR(ROW, taken, why_not_taken) },
    { { "fastest", "", "the algorithm with the fewest taken_cycles", "" }, REC_OR(ROW, fastest, why_not_taken) },
    { { "fastest_cycles", "cycles", "taken by that", "perf_event, clock" }, REC_OR(ROW, fastest_taken, why_not_taken) },
    { { "lost_percent", "%", "what the pick takes more", "" }, REC_DERIVED_OR(ROW, lost_percent, why_not_taken) },
};

const struct rec_table exp_picks_table = REC_TABLE("picks.csv", fields, ROW);

/* Takes a case into its layer's row. */
static void consider(ROW *row, const struct exp_report *r, const struct exp_case *c)
{
    const struct value taken_cycles = exp_cycles_taken(r->e->setup, c, r->why_elsewhere);
    const char *why_not = exp_cycles_why_not(r->e->setup, c), *why_not_taken = taken_cycles.why;
    const double taken = taken_cycles.number;

    if (!row->why_not_taken)
        row->why_not_taken = why_not_taken;
    if (!row->why_no_pick)
        row->why_no_pick = why_not;
    if (!why_not_taken && !(row->fastest_taken <= taken)) {
        row->fastest = c->algo->name;
        row->fastest_taken = taken;
    }
    if (!why_not && !(row->simulated <= exp_cycles(c).sum)) {
        row->picked = c->algo->name;
        row->simulated = exp_cycles(c).sum;
        row->taken = taken;
    }
}

/* Returns a row for each layer; from malloc. */
static ROW *pick(const struct exp_report *r)
{
    const struct exp_experiment *e = r->e;
    ROW *row = exp_new(e->model->n_layers, sizeof *row);

    for (size_t l = 0; l < e->model->n_layers; l++)
        row[l] = (ROW){ .layer_index = e->model->layer[l].index,
                        .layer = e->model->layer[l].name,
                        .simulated = (double)NAN,
                        .taken = (double)NAN,
                        .fastest_taken = (double)NAN };
    for (size_t i = 0; i < e->n_cases; i++)
        consider(&row[e->cases[i].layer - e->model->layer], r, &e->cases[i]);
    for (size_t l = 0; l < e->model->n_layers; l++) /* without a pick there is nothing to compare */
        row[l].why_not_taken = row[l].why_no_pick ? row[l].why_no_pick : row[l].why_not_taken;
    return row;
}

int exp_picks_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv = exp_report_open(r, dir, &exp_picks_table.file, "one layer");
    ROW *row = pick(r);

    for (size_t l = 0; l < r->e->model->n_layers; l++)
        rec_put(csv, &exp_picks_table, &row[l]);
    free(row);
    return exp_csv_close(csv, why);
}

void exp_picks_say(const struct exp_report *r, char *text, size_t bytes)
{
    ROW *row = pick(r);
    const size_t n = r->e->model->n_layers;
    double picked = 0, fastest = 0;
    bool is_begun = false;

    snprintf(text, bytes, "%s", "");
    for (size_t i = 0; i < exp_algo_count(); i++) {
        size_t n_picked = 0;

        for (size_t l = 0; l < n; l++)
            n_picked += !row[l].why_no_pick && !strcmp(row[l].picked, exp_algo_at(i)->name);
        if (n_picked)
            exp_say_more(text, bytes, "%s %s in %zu",
                         is_begun ? "," : "By simulated cycles the fastest:", exp_algo_at(i)->name, n_picked);
        is_begun |= n_picked > 0;
    }
    for (size_t l = 0; l < n; l++) {
        picked += row[l].why_not_taken ? 0 : row[l].taken;
        fastest += row[l].why_not_taken ? 0 : row[l].fastest_taken;
    }
    if (is_begun)
        exp_say_more(text, bytes, " of %zu layers (picks.csv).", n);
    if (is_begun && fastest > 0)
        exp_say_more(text, bytes, " Measured, they take %.1f %% more cycles than the fastest of each layer.",
                     100 * (picked / fastest - 1));
    free(row);
}
