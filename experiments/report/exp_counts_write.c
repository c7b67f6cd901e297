/* plans.csv and counts.csv of recorded counts: their columns, and what writes them. exp_counts_files.h. */
#include "counters/group/ctr_quantity.h"
#include "experiments/report/exp_cells.h"
#include "experiments/report/exp_counts_files.h"
#include "experiments/setup/exp_case.h"

#define PLAN struct exp_plans_row

static const struct rec_field plan_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(PLAN, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(PLAN, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(PLAN, layer) },
    { EXP_COLUMN_MACS, REC_AT(PLAN, macs) },
    { EXP_COLUMN_ALGO, REC_AT(PLAN, algo) },
    { { "plan", "", "what ran: kernel, schedule and tiles, or blocking, and how windows are read", "" },
      REC_AT(PLAN, plan) },
};

const struct rec_table exp_plans_table = REC_TABLE("plans.csv", plan_fields, PLAN);

#define COUNT struct exp_counts_row

static const struct rec_field count_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(COUNT, model) },
    { { "caches", "", "at the start of the layer: cold, warm or network", "" }, REC_AT(COUNT, caches) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(COUNT, layer_index) },
    { EXP_COLUMN_ALGO, REC_AT(COUNT, algo) },
    { { "quantity", "", "one of those that all CPUs share", "" }, REC_AT(COUNT, quantity) },
    { { "count", "", "of one run", "counters" }, REC_OR(COUNT, count, why_no_count) },
};

const struct rec_table exp_counts_table = REC_TABLE("counts.csv", count_fields, COUNT);

void exp_counts_document(FILE *out)
{
    exp_csv_document(&exp_plans_table.file, out);
    exp_csv_document(&exp_counts_table.file, out);
}

static int write_plans(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_plans_table.file, "what was counted (counts.csv)", why);

    if (err)
        return err;
    for (size_t i = 0; i < s->e->n_cases; i++) {
        const struct exp_case *c = &s->e->cases[i];
        const struct exp_layer *layer = c->layer;
        char text[EXP_PLAN_TEXT_BYTES];
        const PLAN row = {
            s->e->model->name, layer->index, layer->name, conv_macs(&layer->problem), c->algo->name, text
        };

        exp_plan_text(&c->plan, text);
        rec_put(csv, &exp_plans_table, &row);
    }
    return exp_csv_close(csv, why);
}

static void put_count(const struct exp_counts_source *s, struct exp_csv *csv, const struct exp_case *c, size_t q)
{
    const enum exp_count count = EXP_COMMON + (enum exp_count)q;
    const char *why = exp_case_why_no_count(c, count);
    const COUNT row = { .model = s->e->model->name,
                        .caches = exp_cache_state_name(s->cache),
                        .layer_index = c->layer->index,
                        .algo = c->algo->name,
                        .quantity = ctr_quantity_at(q)->name,
                        .count = why ? 0 : (uint64_t)(c->measured.count[count] + 0.5),
                        .why_no_count = why };

    rec_put(csv, &exp_counts_table, &row);
}

static int write_counts(const struct exp_counts_source *s, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_counts_table.file, "counts of what plans.csv says", why);

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
