/* plans.csv and counts.csv of recorded counts: their columns, and what writes them. exp_counts_files.h. */
#include "counters/group/ctr_quantity.h"
#include "experiments/report/exp_cells.h"
#include "experiments/report/exp_counts_files.h"
#include "experiments/setup/exp_plan_text.h"

static const struct exp_csv_column plan_columns[EXP_COUNTS_N_PLAN_COLUMNS] = {
    [EXP_COUNTS_PLAN_MODEL] = EXP_COLUMN_MODEL,
    [EXP_COUNTS_PLAN_INDEX] = EXP_COLUMN_LAYER_INDEX,
    [EXP_COUNTS_PLAN_LAYER] = EXP_COLUMN_LAYER,
    [EXP_COUNTS_PLAN_MACS] = EXP_COLUMN_MACS,
    [EXP_COUNTS_PLAN_ALGO] = EXP_COLUMN_ALGO,
    [EXP_COUNTS_PLAN_PLAN] = { "plan", "",
                               "what ran: kernel, schedule and tiles, or blocking, and how windows are read", "" },
};

const struct exp_csv_file exp_counts_plan_file = EXP_CSV_FILE("plans.csv", plan_columns);

static const struct exp_csv_column count_columns[EXP_COUNTS_N_COUNT_COLUMNS] = {
    [EXP_COUNTS_MODEL] = EXP_COLUMN_MODEL,
    [EXP_COUNTS_CACHES] = { "caches", "", "at the start of the layer: cold, warm or network", "" },
    [EXP_COUNTS_INDEX] = EXP_COLUMN_LAYER_INDEX,
    [EXP_COUNTS_ALGO] = EXP_COLUMN_ALGO,
    [EXP_COUNTS_QUANTITY] = { "quantity", "", "one of those that all CPUs share", "" },
    [EXP_COUNTS_COUNT] = { "count", "", "of one run", "counters" },
};

const struct exp_csv_file exp_counts_count_file = EXP_CSV_FILE("counts.csv", count_columns);

void exp_counts_document(FILE *out)
{
    exp_csv_document(&exp_counts_plan_file, out);
    exp_csv_document(&exp_counts_count_file, out);
}

static int write_plans(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_counts_plan_file, "what was counted (counts.csv)", why);

    if (err)
        return err;
    for (size_t i = 0; i < s->e->n_cases; i++) {
        const struct exp_case *c = &s->e->cases[i];
        char text[EXP_PLAN_TEXT_BYTES];

        exp_plan_text(&c->plan, text);
        exp_csv_string(csv, "model", s->e->model->name);
        exp_csv_u64(csv, "layer_index", c->layer->index);
        exp_csv_string(csv, "layer", c->layer->name);
        exp_csv_double(csv, "macs", conv_macs(&c->layer->problem));
        exp_csv_string(csv, "algo", c->algo->name);
        exp_csv_string(csv, "plan", text);
        exp_csv_end_row(csv);
    }
    return exp_csv_close(csv, why);
}

static void put_count(const struct exp_counts_source *s, struct exp_csv *csv, const struct exp_case *c, size_t q)
{
    const enum exp_count count = EXP_COMMON + (enum exp_count)q;
    const char *why = exp_case_why_no_count(c, count);

    exp_csv_string(csv, "model", s->e->model->name);
    exp_csv_string(csv, "caches", exp_cache_state_name(s->cache));
    exp_csv_u64(csv, "layer_index", c->layer->index);
    exp_csv_string(csv, "algo", c->algo->name);
    exp_csv_string(csv, "quantity", ctr_quantity_at(q)->name);
    if (why)
        exp_csv_missing(csv, "count", why);
    else
        exp_csv_u64(csv, "count", (uint64_t)(c->measured.count[count] + 0.5));
    exp_csv_end_row(csv);
}

static int write_counts(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_counts_count_file, "counts of what plans.csv says", why);

    if (err)
        return err;
    for (size_t i = 0; i < s->e->n_cases; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++)
            put_count(s, csv, &s->e->cases[i], q);
    }
    return exp_csv_close(csv, why);
}

bool exp_counts_exist(const struct exp_experiment *e)
{
    for (size_t i = 0; i < e->n_cases; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++) {
            if (!exp_case_why_no_count(&e->cases[i], EXP_COMMON + (enum exp_count)q))
                return true;
        }
    }
    return false;
}

int exp_counts_write(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    int err = write_plans(s, dir, why);

    return err ? err : write_counts(s, dir, why);
}
