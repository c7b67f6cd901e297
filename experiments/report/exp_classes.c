#include "experiments/report/exp_classes.h"

#include "experiments/report/exp_report_file.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"

/* A row is about a group: some cases, summed. */
struct group {
    const char *layer, *algo;
    size_t layer_index;
    double macs;
    struct sim_cell tensor[CONV_N_TENSORS];
};

static void add_case(struct group *g, const struct exp_case *c)
{
    g->macs += conv_macs(&c->layer->problem);
    for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
        struct sim_cell cell = sim_stats_tag(&c->simulated.stats, t);

        sim_cell_add(&g->tensor[t], &cell);
    }
}

struct classes_row {
    size_t layer_index;
    const char *layer, *algo;
    double macs;
    const char *level, *tensor;
    uint64_t misses;
    struct sim_level_counts of; /* them */
};

#define ROW struct classes_row

/* clang-format off */
static const struct rec_field fields[] = {
    { { "layer_index", "", "position in the table, from 1; 0: the whole model", "" }, REC_AT(ROW, layer_index) },
    { { "layer", "", "name of the layer; all: the whole model", "" }, REC_AT(ROW, layer) },
    { { "algo", "", "an algorithm; for the whole model also sconv: per layer, the schedule that CSA chose", "" },
      REC_AT(ROW, algo) },
    { EXP_COLUMN_MACS, REC_AT(ROW, macs) },
    { { "level", "", "cache level of the machine file", "" }, REC_AT(ROW, level) },
    { { "tensor", "", "what the line belongs to; tensors without misses are left out", "" }, REC_AT(ROW, tensor) },
    { { "misses", "lines", "line reads and writes that the level did not have: the sum of the next three", "replay" },
      REC_AT(ROW, misses) },
    { { "compulsory_misses", "lines", "the level was never asked for the line before", "replay" },
      REC_AT(ROW, of.compulsory_misses) },
    { { "capacity_misses", "lines", "a fully associative LRU cache of the same size misses it as well", "replay" },
      REC_AT(ROW, of.capacity_misses) },
    { { "conflict_misses", "lines", "such a cache would not miss it", "replay" }, REC_AT(ROW, of.conflict_misses) },
};
/* clang-format on */

const struct rec_table exp_classes_table = REC_TABLE("classes.csv", fields, ROW);

static void put_row(struct exp_csv *csv, const struct group *g, const char *level, unsigned tensor,
                    const struct sim_level_counts *k)
{
    const ROW row = { g->layer_index,
                      g->layer,
                      g->algo,
                      g->macs,
                      level,
                      conv_tensor_name((enum conv_tensor)tensor),
                      k->read_misses + k->write_misses,
                      *k };

    rec_put(csv, &exp_classes_table, &row);
}

static void put_group(struct exp_csv *csv, const struct group *g, const struct sim_machine *m)
{
    for (size_t l = 0; l < m->n_levels; l++) {
        for (unsigned t = 0; t < CONV_N_TENSORS; t++) {
            const struct sim_level_counts *k = &g->tensor[t].level[l];

            if (m->level[l].is_classified && k->read_misses + k->write_misses)
                put_row(csv, g, m->level[l].name, t, k);
        }
    }
}

/* Algorithms of which a layer was not replayed have no total, so no row. */
static void put_totals(struct exp_csv *csv, const struct exp_report *r)
{
    struct exp_total total[EXP_N_ALGO_RECORDS];
    size_t n = exp_totals(r->e, total);

    for (size_t i = 0; i < n; i++) {
        struct group g = { .layer = "all", .algo = total[i].algo };

        if (total[i].why_not_simulated)
            continue;
        for (size_t c = 0; c < r->e->n_cases; c++) {
            if (exp_total_covers(&total[i], &r->e->cases[c]))
                add_case(&g, &r->e->cases[c]);
        }
        put_group(csv, &g, &r->e->setup->classified);
    }
}

int exp_classes_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err =
        exp_report_open(&csv, r, dir, &exp_classes_table.file,
                        "misses of one tensor at one level, in one layer or the whole model, with one algorithm", why);

    if (err)
        return err;
    put_totals(csv, r);
    for (size_t i = 0; i < r->e->n_cases; i++) {
        const struct exp_case *c = &r->e->cases[i];
        struct group g = { .layer = c->layer->name, .algo = c->algo->name, .layer_index = c->layer->index };

        if (c->simulated.why_not)
            continue;
        add_case(&g, c);
        put_group(csv, &g, &r->e->setup->classified);
    }
    return exp_csv_close(csv, why);
}
