/*
 * The algorithm that simulated cycles choose in each layer of an experiment, beside the fastest algorithm: picks.csv.
 * layers.csv has the plans of all algorithms: schedule, tiles, micro-kernel.
 */
#include "experiments/choices/choice.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/show/report.h"

/* A row of picks.csv. */
struct pick {
    uint64_t layer_index;
    const char *layer, *picked, *fastest;

    struct value simulated, taken, fastest_taken, lost_percent;
};

#define ROW struct pick

static const struct rec_field fields[] = {
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { { "picked", "", "the algorithm with the fewest simulated_cycles", "replay" },
      REC_OR(ROW, picked, simulated.why) },
    { { "simulated_cycles", "cycles", "of the one that is picked", "replay" }, REC_VALUE(ROW, simulated) },
    { { "taken_cycles", "cycles", "by it (layers.csv)", "perf_event, clock" }, REC_VALUE(ROW, taken) },
    { { "fastest", "", "the algorithm with the fewest taken_cycles", "" }, REC_OR(ROW, fastest, fastest_taken.why) },
    { { "fastest_cycles", "cycles", "taken by that", "perf_event, clock" }, REC_VALUE(ROW, fastest_taken) },
    { { "lost_percent", "%", "what the pick takes more", "" }, REC_VALUE(ROW, lost_percent) },
};

const struct rec_table exp_picks_table = REC_TABLE("picks.csv", fields, ROW);

/* Returns the choice among the algorithms of a layer; cases[n_algos] are of the layer. */
static struct exp_choice choice_of(const struct exp_report *r, const struct exp_case *cases)
{
    const struct exp_setup *s = r->e->setup;
    struct exp_choice choice = { .n = r->e->n_algos };

    for (size_t a = 0; a < choice.n; a++) {
        const struct exp_cycles x = exp_cycles(s, &cases[a]);

        choice.by[a] = value_or(x.sum, x.why);
        choice.cost[a] = exp_cycles_taken(s, &cases[a], r->why_elsewhere);
    }
    if (!exp_choice_lacks_number(&choice))
        exp_choose(&choice);
    return choice;
}

static ROW row_of(const struct exp_report *r, size_t layer)
{
    const struct exp_case *cases = &r->e->cases[layer * r->e->n_algos];
    const struct exp_choice choice = choice_of(r, cases);
    const char *reason = exp_choice_lacks_cost(&choice);
    const size_t best = exp_choice_best(&choice);
    const struct value taken = value_or(choice.cost[choice.chosen].number, reason);
    const struct value fastest = value_or(choice.cost[best].number, reason);

    return (ROW){ .layer_index = cases->layer->index,
                  .layer = cases->layer->name,
                  .picked = cases[choice.chosen].algo->name,
                  .fastest = cases[best].algo->name,
                  .simulated = value_or(choice.by[choice.chosen].number, exp_choice_lacks_number(&choice)),
                  .taken = taken,
                  .fastest_taken = fastest,
                  .lost_percent = value_or(100 * (taken.number / fastest.number - 1), reason) };
}

int exp_picks_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv = exp_report_open(r, dir, &exp_picks_table.file, "one layer");

    for (size_t l = 0; l < r->e->model->n_layers; l++) {
        const ROW row = row_of(r, l);

        rec_put(csv, &exp_picks_table, &row);
    }
    return exp_csv_close(csv, why);
}

void exp_picks_say(const struct exp_report *r, char *text, size_t bytes)
{
    const struct exp_experiment *e = r->e;
    size_t n_picked[EXP_CHOICE_MOST] = { 0 };
    struct exp_choice_sum sum = { 0 };
    bool is_begun = false;

    assert(bytes > 0);
    *text = '\0';
    for (size_t l = 0; l < e->model->n_layers; l++) {
        const struct exp_choice choice = choice_of(r, &e->cases[l * e->n_algos]);

        if (exp_choice_lacks_number(&choice))
            continue;
        n_picked[choice.chosen]++;
        exp_choice_add(&sum, &choice);
    }
    for (size_t a = 0; a < e->n_algos; a++) {
        if (n_picked[a])
            exp_say_more(text, bytes, "%s %s in %zu",
                         is_begun ? "," : "By simulated cycles the fastest:", e->cases[a].algo->name, n_picked[a]);
        is_begun |= n_picked[a] > 0;
    }
    if (is_begun)
        exp_say_more(text, bytes, " of %zu layers (picks.csv).", e->model->n_layers);
    if (is_begun && sum.best > 0)
        exp_say_more(text, bytes, " Measured, they take %.1f %% more cycles than the fastest of each layer.",
                     exp_choice_regret_percent(&sum));
}
