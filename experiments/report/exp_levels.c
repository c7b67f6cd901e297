#include "experiments/report/exp_levels.h"

#include <math.h>

#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"
#include "experiments/report/exp_report_file.h"

#define ROW struct exp_levels_row

/* clang-format off */
static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { { "algo", "", "an algorithm, or sconv: per layer, the schedule that CSA chose", "" }, REC_AT(ROW, algo) },
    { { "level", "", "of the machine's file, the innermost first", "" }, REC_AT(ROW, level) },
    { { "stands_for", "",
        "which level of CSA's this is: l1, l2 or l3, as in the columns of other tables; empty: none of them", "" },
      REC_AT(ROW, stands_for) },
    { { "simulated_load_misses", "loads", "load misses of the level, summed over the layers", "replay" },
      REC_NAN_OR(ROW, as_it_is.misses, why_not) },
    { { "simulated_miss_percent", "%", "of all loads", "replay" }, REC_NAN_OR(ROW, as_it_is.percent, why_not) },
    { { "simulated_misses_per_1000_macs", "loads", "per 1000 multiply-adds", "replay" },
      REC_NAN_OR(ROW, as_it_is.per_1000_macs, why_not) },
    { { "simulated_alone_load_misses", "loads",
        "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that",
        "replay" },
      REC_NAN_OR(ROW, alone.misses, why_not) },
    { { "simulated_alone_miss_percent", "%", "of all loads", "replay" }, REC_NAN_OR(ROW, alone.percent, why_not) },
    { { "simulated_alone_misses_per_1000_macs", "loads", "per 1000 multiply-adds", "replay" },
      REC_NAN_OR(ROW, alone.per_1000_macs, why_not) },
};
/* clang-format on */

const struct rec_table exp_levels_table = REC_TABLE("levels.csv", fields, ROW);

static struct exp_levels_view view_of(const struct exp_total *t, double misses, double loads)
{
    if (t->why_not_simulated)
        return (struct exp_levels_view){ (double)NAN, (double)NAN, (double)NAN };
    return (struct exp_levels_view){ misses, 100 * misses / loads, exp_per_1000_macs(misses, t->macs) };
}

static void put_row(struct exp_csv *csv, const struct exp_report *r, const struct exp_total *t, size_t level)
{
    static const char *const names[EXP_N_NAMED_LEVELS + 1] = { "l1", "l2", "l3", "" };
    const struct sim_machine *m = &r->e->setup->machine;
    const ROW row = {
        .model = r->e->model->name,
        .algo = t->algo,
        .level = m->level[level].name,
        .stands_for = names[exp_name_of_level(m, level)],
        .as_it_is = view_of(t, t->simulated_at[level], t->simulated_loads),
        .alone = view_of(t, t->alone_at[level], t->alone_loads),
        .why_not = t->why_not_simulated ? t->why_not_simulated : "no loads",
    };

    rec_put(csv, &exp_levels_table, &row);
}

int exp_levels_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_total total[EXP_N_ALGO_RECORDS];
    size_t n = exp_totals(r->e, total);
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &exp_levels_table.file, "one level and algorithm, all layers", why);

    if (err)
        return err;
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < r->e->setup->machine.n_levels; l++)
            put_row(csv, r, &total[i], l);
    }
    return exp_csv_close(csv, why);
}
