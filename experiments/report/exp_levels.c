#include "experiments/report/exp_levels.h"

#include <math.h>

#include "experiments/base/exp_csv.h"
#include "experiments/replay/exp_totals.h"
#include "experiments/report/exp_cells.h"
#include "experiments/report/exp_report_file.h"

static const struct exp_csv_column columns[] = {
    EXP_COLUMN_MODEL,
    { "algo", "", "an algorithm, or sconv: per layer, the schedule that CSA chose", "" },
    { "level", "", "of the machine's file, the innermost first", "" },
    { "stands_for", "",
      "which level of CSA's this is: l1, l2 or l3, as in the columns of other tables; empty: none of them", "" },
    { "simulated_load_misses", "loads", "load misses of the level, summed over the layers", "replay" },
    { "simulated_miss_percent", "%", "of all loads", "replay" },
    { "simulated_misses_per_1000_macs", "loads", "per 1000 multiply-adds", "replay" },
    { "simulated_alone_load_misses", "loads",
      "by caches alone: LRU, the machine's sizes, nothing prefetched; simulated_ itself if the machine is that",
      "replay" },
    { "simulated_alone_miss_percent", "%", "of all loads", "replay" },
    { "simulated_alone_misses_per_1000_macs", "loads", "per 1000 multiply-adds", "replay" },
};

const struct exp_csv_file exp_levels_file = EXP_CSV_FILE("levels.csv", columns);

static void put_view(struct exp_csv *csv, size_t column, const struct exp_total *t, double misses, double loads)
{
    const double value[] = { misses, 100 * misses / loads, exp_per_1000_macs(misses, t->macs) };

    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        exp_csv_number(csv, columns[column + i].name, t->why_not_simulated ? (double)NAN : value[i],
                       t->why_not_simulated ? t->why_not_simulated : "no loads");
}

static void put_row(struct exp_csv *csv, const struct exp_report *r, const struct exp_total *t, size_t level)
{
    static const char *const names[EXP_N_NAMED_LEVELS + 1] = { "l1", "l2", "l3", "" };
    const struct sim_machine *m = &r->e->setup->machine;
    enum { IT_IS = 4, ALONE = 7 };

    exp_csv_string(csv, "model", r->e->model->name);
    exp_csv_string(csv, "algo", t->algo);
    exp_csv_string(csv, "level", m->level[level].name);
    exp_csv_string(csv, "stands_for", names[exp_name_of_level(m, level)]);
    put_view(csv, IT_IS, t, t->simulated_at[level], t->simulated_loads);
    put_view(csv, ALONE, t, t->alone_at[level], t->alone_loads);
    exp_csv_end_row(csv);
}

int exp_levels_write(const struct exp_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_total total[EXP_N_ALGO_RECORDS];
    size_t n = exp_totals(r->e, total);
    struct exp_csv *csv;
    int err = exp_report_open(&csv, r, dir, &exp_levels_file, "one level and algorithm, all layers", why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < r->e->setup->machine.n_levels; l++)
            put_row(csv, r, &total[i], l);
    }
    return exp_csv_close(csv, why, why_bytes);
}
