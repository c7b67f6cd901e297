/* speedups.csv and speedups_pointwise.csv, for figures: exp_peers_files.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/peers/exp_peers_files.h"

/* clang-format off */
#define COLUMN(number, kind, name, ...) COLUMN_OF_##kind(name)
#define COLUMN_OF_BASE(name) /* what all are compared with */
#define COLUMN_OF_BASE_BY(name) { name, "", "speed-up over base, sweep", "clock" },
#define COLUMN_OF_SCONV COLUMN_OF_BASE_BY
#define COLUMN_OF_CODE COLUMN_OF_BASE_BY
#define COLUMN_OF_ONEDNN COLUMN_OF_BASE_BY

static const struct exp_csv_column sorted_columns[] = {
    { "rank_percent", "%", "position among the method's speed-ups, sorted in descending order", "" },
    EXP_EACH_PEER(COLUMN)
};
/* clang-format on */

const struct exp_csv_file exp_peers_speedups_file = EXP_CSV_FILE("speedups.csv", sorted_columns);
const struct exp_csv_file exp_peers_pointwise_file = EXP_CSV_FILE("speedups_pointwise.csv", sorted_columns);

/* Fills x with a method's speed-ups, sorted; returns how many there are. */
static size_t sorted_speedups(const struct exp_peers_report *r, enum exp_peer m, bool only_pointwise, double *x)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_rows; i++) {
        const struct exp_times *times = r->row[i].times[EXP_PEERS_SWEEP];
        double speedup = times[EXP_PEER_BASE].low_mean / times[m].low_mean;

        if ((!only_pointwise || r->row[i].is_pointwise) && isfinite(speedup))
            x[n++] = speedup;
    }
    exp_stats_sort_down(x, n);
    return n;
}

int exp_peers_write_curves(struct exp_peers_report *r, bool only_pointwise, const char *what, struct exp_why *why)
{
    double *x = calloc(r->n_rows * EXP_N_PEERS + 1, sizeof *x);
    size_t n[EXP_N_PEERS];
    struct exp_csv *csv;
    int err;

    if (!x)
        return exp_fail(why, -ENOMEM, "out of memory");
    for (int m = 0; m < EXP_N_PEERS; m++)
        n[m] = sorted_speedups(r, (enum exp_peer)m, only_pointwise, x + (size_t)m * r->n_rows);
    err =
        exp_csv_create(&csv, r->dir, only_pointwise ? &exp_peers_pointwise_file : &exp_peers_speedups_file, what, why);
    for (size_t i = 0; i < n[EXP_PEER_BASE] && !err; i++) {
        exp_csv_double(csv, "rank_percent", 100 * ((double)i + 0.5) / (double)n[EXP_PEER_BASE]);
        for (size_t m = 1; m < EXP_N_PEERS; m++)
            exp_csv_number(csv, exp_peer_name((enum exp_peer)m), i < n[m] ? x[m * r->n_rows + i] : (double)NAN,
                           *r->model[0].why_not[m] ? r->model[0].why_not[m] : "has fewer layers");
        exp_csv_end_row(csv);
    }
    free(x);
    return err ? err : exp_csv_close(csv, why);
}
