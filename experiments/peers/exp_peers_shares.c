/* phases.csv, where Base's and SConv's time goes: exp_peers_files.h. */
#include <math.h>
#include <stdio.h>

#include "experiments/peers/exp_peers_files.h"
#include "experiments/report/exp_cells.h"

/* clang-format off */
#define COLUMNS(number, kind, name, ...) COLUMNS_OF_##kind(name)
#define COLUMNS_OF_BASE(name)
#define COLUMNS_OF_BASE_BY(name)
#define COLUMNS_OF_CODE(name)
#define COLUMNS_OF_ONEDNN(name)
#define COLUMNS_OF_SCONV(name)                                                                                         \
    { name "_packing_percent", "%", "of the time of " name ": packing windows", "clock" },                             \
    { name "_ukr_percent", "%", "micro-kernels", "clock" },                                                            \
    { name "_other_percent", "%", "the rest", "clock" },                                                               \
    { name "_to_base", "", "that time / base's time in this measurement", "clock" },

static const struct exp_csv_column phase_columns[] = {
    { "number", "", "of the model, from 1", "" },
    { "base_im2col_percent", "%", "of base's time, run step by step with OpenBLAS's own routines", "clock" },
    { "base_packing_percent", "%", "OpenBLAS's copy routines", "clock" },
    { "base_ukr_percent", "%", "OpenBLAS's micro-kernel", "clock" },
    { "base_other_percent", "%", "the rest: clearing the output, loops", "clock" },
    { "base_steps_to_call", "",
      "that time / base's time with cblas_sgemm in the sweeps: near 1, or the shares are not the call's", "clock" },
    EXP_EACH_PEER(COLUMNS)
    EXP_COLUMN_MODEL,
};
/* clang-format on */

const struct exp_csv_file exp_peers_phases_file = EXP_CSV_FILE("phases.csv", phase_columns);

double exp_peers_percent(uint64_t part, uint64_t whole)
{
    return 100 * (double)part / (double)whole;
}

double exp_peers_base_calls_ns(const struct exp_peers_report *r, size_t model)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, EXP_PEER_BASE).times.median * EXP_PEERS_PHASE_ROUNDS;
}

static void put_part(struct exp_csv *csv, enum exp_peer m, const char *part, double x, const char *why)
{
    char column[64];

    snprintf(column, sizeof column, "%s_%s", exp_peer_name(m), part);
    exp_csv_number(csv, column, x, why);
}

static void put_sconv_phases(const struct exp_peers_model *model, enum exp_peer m, struct exp_csv *csv)
{
    const struct exp_phases *x = &model->sconv[m - EXP_PEER_SCONV];
    const char *why = *model->why_not[m] ? model->why_not[m] : "no time";

    put_part(csv, m, "packing_percent", exp_peers_percent(exp_phases_packing_ns(x), x->total_ns), why);
    put_part(csv, m, "ukr_percent", exp_peers_percent(exp_phases_kernel_ns(x), x->total_ns), why);
    put_part(csv, m, "other_percent", exp_peers_percent(exp_phases_other_ns(x), x->total_ns), why);
    put_part(csv, m, "to_base", x->total_ns ? (double)x->total_ns / (double)model->base.total_ns : (double)NAN,
             *model->why_no_base_phases ? model->why_no_base_phases : why);
}

static void put_phases(const struct exp_peers_report *r, size_t i, struct exp_csv *csv)
{
    const struct exp_peers_model *m = &r->model[i];
    double calls_ns = exp_peers_base_calls_ns(r, i);
    const char *why = *m->why_no_base_phases ? m->why_no_base_phases : "no time";

    exp_csv_u64(csv, "number", i + 1);
    exp_csv_number(csv, "base_im2col_percent", exp_peers_percent(m->base.step_ns[CONV_STEP_IM2COL], m->base.total_ns),
                   why);
    exp_csv_number(csv, "base_packing_percent", exp_peers_percent(exp_phases_packing_ns(&m->base), m->base.total_ns),
                   why);
    exp_csv_number(csv, "base_ukr_percent", exp_peers_percent(m->base.step_ns[CONV_STEP_UKR], m->base.total_ns), why);
    exp_csv_number(csv, "base_other_percent", exp_peers_percent(exp_phases_other_ns(&m->base), m->base.total_ns), why);
    exp_csv_number(csv, "base_steps_to_call", m->base.total_ns ? (double)m->base.total_ns / calls_ns : (double)NAN,
                   why);
    for (int k = 0; k < EXP_N_PEERS_SCONVS; k++)
        put_sconv_phases(m, EXP_PEER_SCONV + (enum exp_peer)k, csv);
    exp_csv_string(csv, "model", m->name);
    exp_csv_end_row(csv);
}

int exp_peers_write_phases(struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &exp_peers_phases_file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++)
        put_phases(r, i, csv);
    return exp_csv_close(csv, why);
}
