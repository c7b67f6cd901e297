/* phases.csv, where Base's and SConv's time goes: exp_peers_files.h. */
#include <math.h>
#include <stdio.h>

#include "experiments/peers/exp_peers_files.h"
#include "experiments/report/exp_cells.h"

/* Percents of a time, and that time beside another one. */
struct shares {
    double im2col, packing, ukr, other, ratio;
    const char *why, *why_no_ratio;
};

struct phases_row {
    size_t number;
    struct shares of[EXP_PEER_GEN]; /* by enum exp_peer: Base and the SConvs */
    const char *model;
};

#define ROW struct phases_row
#define PART(m, part) REC_NAN_OR(ROW, of[m].part, of[m].why)
#define RATIO(m) REC_NAN_OR(ROW, of[m].ratio, of[m].why_no_ratio)

/* clang-format off */
#define FIELDS(m, kind, name, ...) FIELDS_OF_##kind(m, name)
#define FIELDS_OF_BASE(m, name)                                                                                        \
    { { "base_im2col_percent", "%", "of base's time, run step by step with OpenBLAS's own routines", "clock" },        \
      PART(m, im2col) },                                                                                               \
    { { "base_packing_percent", "%", "OpenBLAS's copy routines", "clock" }, PART(m, packing) },                        \
    { { "base_ukr_percent", "%", "OpenBLAS's micro-kernel", "clock" }, PART(m, ukr) },                                 \
    { { "base_other_percent", "%", "the rest: clearing the output, loops", "clock" }, PART(m, other) },                \
    { { "base_steps_to_call", "",                                                                                      \
        "that time / base's time with cblas_sgemm in the sweeps: near 1, or the shares are not the call's", "clock" }, \
      RATIO(m) },
#define FIELDS_OF_BASE_BY(m, name)
#define FIELDS_OF_CODE(m, name)
#define FIELDS_OF_ONEDNN(m, name)
#define FIELDS_OF_SCONV(m, name)                                                                                       \
    { { name "_packing_percent", "%", "of the time of " name ": packing windows", "clock" }, PART(m, packing) },       \
    { { name "_ukr_percent", "%", "micro-kernels", "clock" }, PART(m, ukr) },                                          \
    { { name "_other_percent", "%", "the rest", "clock" }, PART(m, other) },                                           \
    { { name "_to_base", "", "that time / base's time in this measurement", "clock" }, RATIO(m) },

static const struct rec_field fields[] = {
    { { "number", "", "of the model, from 1", "" }, REC_AT(ROW, number) },
    EXP_EACH_PEER(FIELDS)
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
};
/* clang-format on */

const struct rec_table exp_peers_phases_table = REC_TABLE("phases.csv", fields, ROW);

double exp_peers_percent(uint64_t part, uint64_t whole)
{
    return 100 * (double)part / (double)whole;
}

double exp_peers_base_calls_ns(const struct exp_peers_report *r, size_t model)
{
    return exp_peers_total(r, model, EXP_PEERS_SWEEP, EXP_PEER_BASE).times.median * EXP_PEERS_PHASE_ROUNDS;
}

static struct shares shares_of(const struct exp_phases *x, double beside_ns, const char *why, const char *why_no_ratio)
{
    return (struct shares){
        .im2col = exp_peers_percent(x->step_ns[CONV_STEP_IM2COL], x->total_ns),
        .packing = exp_peers_percent(exp_phases_packing_ns(x), x->total_ns),
        .ukr = exp_peers_percent(exp_phases_kernel_ns(x), x->total_ns),
        .other = exp_peers_percent(exp_phases_other_ns(x), x->total_ns),
        .ratio = x->total_ns ? (double)x->total_ns / beside_ns : (double)NAN,
        .why = *why ? why : "no time",
        .why_no_ratio = *why_no_ratio ? why_no_ratio
                        : *why        ? why
                                      : "no time",
    };
}

int exp_peers_write_phases(struct exp_peers_report *r, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &exp_peers_phases_table.file, what, why);

    for (size_t i = 0; i < r->n_models && !err; i++) {
        const struct exp_peers_model *x = &r->model[i];
        const char *no_base = x->why_no_base_phases;
        ROW row = { .number = i + 1, .model = x->name };

        row.of[EXP_PEER_BASE] = shares_of(&x->base, exp_peers_base_calls_ns(r, i), no_base, no_base);
        for (size_t m = EXP_PEER_SCONV; m < EXP_PEER_GEN; m++)
            row.of[m] = shares_of(&x->sconv[m - EXP_PEER_SCONV], (double)x->base.total_ns, x->why_not[m], no_base);
        rec_put(csv, &exp_peers_phases_table, &row);
    }
    return err ? err : exp_csv_close(csv, why);
}
