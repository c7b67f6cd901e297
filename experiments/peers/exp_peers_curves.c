/* speedups.csv and speedups_pointwise.csv, for figures: exp_peers_files.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/peers/exp_peers_files.h"

struct curve_row {
    double rank_percent, speedup[EXP_N_PEERS];
    const char *why_none[EXP_N_PEERS];
};

#define ROW struct curve_row

/* clang-format off */
#define FIELD(m, kind, name, ...) FIELD_OF_##kind(m, name)
#define FIELD_OF_BASE(m, name) /* what all are compared with */
#define FIELD_OF_BASE_BY(m, name)                                                                                      \
    { { name, "", "speed-up over base, sweep", "clock" }, REC_NAN_OR(ROW, speedup[m], why_none[m]) },
#define FIELD_OF_SCONV FIELD_OF_BASE_BY
#define FIELD_OF_CODE FIELD_OF_BASE_BY
#define FIELD_OF_ONEDNN FIELD_OF_BASE_BY

static const struct rec_field fields[] = {
    { { "rank_percent", "%", "position among the method's speed-ups, sorted in descending order", "" },
      REC_AT(ROW, rank_percent) },
    EXP_EACH_PEER(FIELD)
};
/* clang-format on */

const struct rec_table exp_peers_speedups_table = REC_TABLE("speedups.csv", fields, ROW);
const struct rec_table exp_peers_pointwise_table = REC_TABLE("speedups_pointwise.csv", fields, ROW);

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
    const struct rec_table *t = only_pointwise ? &exp_peers_pointwise_table : &exp_peers_speedups_table;
    double *x = calloc(r->n_rows + 1, sizeof *x);
    ROW *row = calloc(r->n_rows + 1, sizeof *row);
    size_t n_base = 0;
    int err = x && row ? 0 : exp_fail(why, -ENOMEM, "out of memory");

    for (size_t m = 0; m < EXP_N_PEERS && !err; m++) {
        size_t n = sorted_speedups(r, (enum exp_peer)m, only_pointwise, x);

        n_base = m == EXP_PEER_BASE ? n : n_base;
        for (size_t i = 0; i < n_base; i++) {
            row[i].rank_percent = 100 * ((double)i + 0.5) / (double)n_base;
            row[i].speedup[m] = i < n ? x[i] : (double)NAN;
            row[i].why_none[m] = *r->model->why_not[m] ? r->model->why_not[m] : "has fewer layers";
        }
    }
    err = err ? err : rec_write(t, row, n_base, r->dir, what, why);
    free(row);
    free(x);
    return err;
}
