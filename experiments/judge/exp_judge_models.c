/* models.csv of a judgement: part of exp_judge_files.h. */
#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_files.h"
#include "experiments/judge/exp_judge_paper.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* clang-format off */
#define CHOSEN_COLUMN(variant, title, what, ...)                                                                       \
    { "chosen_" variant "_layers", "layers", "where CSA chose " what, "predicted" },

#define VARIANT_COLUMN(variant, title, variant_is, algo, predict, source, name, unit, what)                            \
    { variant "_" name, unit, what "; every layer " variant_is, "replay" },

#define YARDSTICK_COLUMNS(number, name, label, colour, unit, what)                                                     \
    { "right_" name "_layers", "layers", "where CSA's choice is not the worse one", "replay" },                        \
    { "equal_" name "_layers", "layers", "of those, where all schedules are the same", "replay" },                     \
    EXP_EACH_VARIANT(VARIANT_COLUMN, name, unit, what)                                                                 \
    { "chosen_" name, unit, "every layer as CSA chose", "replay" },                                                    \
    { "best_" name, unit, "every layer as is better for it", "replay" },                                               \
    { "regret_" name "_percent", "%", "chosen over best, less 100 %", "replay" },

static const struct exp_csv_column model_columns[] = {
    { "model", "", "name of the layer table; all: sums, except for speed-ups: geometric means over the models", "" },
    { "layers", "", "convolutions", "" },
    EXP_EACH_VARIANT(CHOSEN_COLUMN, )
    EXP_EACH_YARDSTICK(YARDSTICK_COLUMNS)
    { "base_estimated_ms", "ms", "estimate: Base, all layers", "replay" },
    { "chosen_estimated_ms", "ms", "estimate: SConv as CSA chose, all layers", "replay" },
    { "base_packing_percent", "%", "of Base's estimate: im2col and packing", "replay" },
    { "chosen_packing_percent", "%", "of SConv's: packing", "replay" },
    { "estimated_speedup", "", "estimate: Base over SConv, with loads that wait", "replay" },
    { "issue_speedup", "", "the same without waiting for loads", "replay" },
    { "measured_layers", "layers", "timed on this machine by make experiment, with Base and all schedules", "clock" },
    { "measured_pays_layers", "layers", "of those, SConv as CSA chose is faster than Base with its whole interval", "clock" },
    { "measured_loses_layers", "layers", "of those, slower with its whole interval", "clock" },
    { "measured_speedup", "", "over those layers, Base's time / that of SConv as CSA chose", "clock" },
    { "measured_right_layers", "layers", "of those, where CSA's choice is the faster schedule", "clock" },
    { "measured_regret_percent", "%", "time of the choices over that of the faster schedules, less 100 %", "clock" },
    { "estimated_to_measured_p10", "", "over those layers, estimated_speedup / measured_speedup: 10th percentile", "" },
    { "estimated_to_measured_median", "", "median", "" },
    { "estimated_to_measured_p90", "", "90th percentile", "" },
    { "estimated_right_layers", "layers", "estimated on the measured side of 1; of pays and loses together", "" },
    { "issue_to_measured_p10", "", "the same for issue_speedup", "" },
    { "issue_to_measured_median", "", "median", "" },
    { "issue_to_measured_p90", "", "90th percentile", "" },
    { "issue_right_layers", "layers", "likewise", "" },
    { "paper_speedup", "", "convolution speed-up measured in the paper", "SConv Table 2" },
    { "won_percent", "%", "layers with an estimated speed-up over 1", "replay" },
    { "paper_won_percent", "%", "layers faster than Base in the paper", "SConv Figure 8" },
    { "max_speedup", "", "greatest estimated speed-up of a layer", "replay" },
    { "paper_max_speedup", "", "greatest in the paper", "SConv Figure 8" },
    { "pointwise_won_percent", "%", "pointwise layers with an estimated speed-up over 1", "replay" },
    { "paper_pointwise_won_percent", "%", "in the paper", "SConv Figure 9" },
    { "max_pointwise_speedup", "", "greatest estimated speed-up of a pointwise layer", "replay" },
    { "paper_max_pointwise_speedup", "", "in the paper", "SConv Figure 9" },
    { "paper_base_packing_percent", "%", "packing's share of Base's time in the paper", "SConv Figure 10" },
    { "paper_chosen_packing_percent", "%", "packing's share of SConv's time in the paper", "SConv Figure 10" },
};
/* clang-format on */

const struct exp_csv_file exp_judge_models_file = EXP_CSV_FILE("models.csv", model_columns);

/* Writes a number of the paper's figure a (x86) or b (POWER10), which are about all models. */
static void put_published(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model,
                          const char *column, const char *figure, const char *about, const char *metric)
{
    char name[16];
    double value;

    snprintf(name, sizeof name, "%s%s", figure, strcmp(r->arch, "P10") ? "a" : "b");
    value = exp_judge_published(r, name, about, metric);
    if (strcmp(model->name, "all") || isnan(value))
        exp_csv_empty(csv, column);
    else
        exp_csv_double(csv, column, value);
}

static void put_sum(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_sum *s,
                    enum exp_yardstick y)
{
    const char *reason = exp_judge_why_not(r, y);

    exp_judge_put_by(csv, "right_", y, "_layers", (double)s->n_right, reason);
    exp_judge_put_by(csv, "equal_", y, "_layers", (double)s->n_equal, reason);
    exp_judge_put_variants(csv, y, s->variant, reason);
    exp_judge_put_by(csv, "chosen_", y, "", s->chosen, reason);
    exp_judge_put_by(csv, "best_", y, "", s->best, reason);
    exp_judge_put_by(csv, "regret_", y, "_percent", exp_judge_regret_percent(s), reason);
}

static void put_pointwise(struct exp_csv *csv, const char *column, const struct exp_judge_total *t, double value,
                          const char *reason)
{
    exp_judge_put(csv, column, value, reason ? reason : t->n_pointwise ? NULL : "no pointwise layers");
}

static void put_accuracy(struct exp_csv *csv, const char *before, const struct exp_accuracy *a, const char *why)
{
    const struct {
        const char *name;
        double value;
    } cells[] = { { "_to_measured_p10", a->p10 },
                  { "_to_measured_median", a->median },
                  { "_to_measured_p90", a->p90 },
                  { "_right_layers", a->n ? (double)a->n_right : (double)NAN } };
    char column[64];

    for (size_t i = 0; i < N_OF(cells); i++) {
        snprintf(column, sizeof column, "%s%s", before, cells[i].name);
        exp_csv_number(csv, column, cells[i].value, why);
    }
}

static void put_clock(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model)
{
    const struct exp_judge_clock *c = &model->clock;
    const char *why = *model->why_not_timed ? model->why_not_timed : exp_judge_why_no_comparison(r);

    exp_csv_u64(csv, "measured_layers", c->n_timed);
    exp_csv_u64(csv, "measured_pays_layers", c->n_pays);
    exp_csv_u64(csv, "measured_loses_layers", c->n_loses);
    exp_csv_number(csv, "measured_speedup", c->speedup.value, why);
    exp_csv_u64(csv, "measured_right_layers", c->n_right);
    exp_csv_number(csv, "measured_regret_percent", 100 * (c->chosen_ns / c->best_ns - 1), why);
    put_accuracy(csv, "estimated", &c->accuracy, why);
    put_accuracy(csv, "issue", &c->issue_accuracy, why);
}

static void put_chosen(struct exp_csv *csv, const struct exp_judge_total *t)
{
    char column[48];

    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        exp_say(column, sizeof column, "chosen_%s_layers", exp_variant_at(i)->name);
        exp_csv_u64(csv, column, t->n_chosen[i]);
    }
}

static void put_model(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model)
{
    const struct exp_judge_total *t = &model->total;
    const char *no = exp_judge_why_no_comparison(r);

    exp_csv_string(csv, "model", model->name);
    exp_csv_u64(csv, "layers", t->n_layers);
    put_chosen(csv, t);
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        put_sum(r, csv, &t->sum[y], (enum exp_yardstick)y);
    exp_judge_put_ms(csv, "base_estimated_ms", t->base.total_cycles, r->machine, no);
    exp_judge_put_ms(csv, "chosen_estimated_ms", t->chosen.total_cycles, r->machine, r->why_no_estimate);
    exp_judge_put(csv, "base_packing_percent", 100 * t->base.packing_cycles / t->base.total_cycles, no);
    exp_judge_put(csv, "chosen_packing_percent", 100 * t->chosen.packing_cycles / t->chosen.total_cycles,
                  r->why_no_estimate);
    exp_judge_put(csv, "estimated_speedup", model->speedup, no);
    exp_judge_put(csv, "issue_speedup", model->issue_speedup, no);
    put_clock(r, csv, model);
    if (isnan(exp_judge_paper_speedup(r, model)))
        exp_csv_empty(csv, "paper_speedup");
    else
        exp_csv_double(csv, "paper_speedup", exp_judge_paper_speedup(r, model));
    exp_judge_put(csv, "won_percent", exp_judge_percent(t->n_won, t->n_layers), no);
    put_published(r, csv, model, "paper_won_percent", "Figure 8", "all", "conv_wins_percent");
    exp_judge_put(csv, "max_speedup", t->max_speedup, no);
    put_published(r, csv, model, "paper_max_speedup", "Figure 8", "all", "max_conv_speedup");
    put_pointwise(csv, "pointwise_won_percent", t, exp_judge_percent(t->n_pointwise_won, t->n_pointwise), no);
    put_published(r, csv, model, "paper_pointwise_won_percent", "Figure 9", "all", "pointwise_wins_percent");
    put_pointwise(csv, "max_pointwise_speedup", t, t->max_pointwise_speedup, no);
    put_published(r, csv, model, "paper_max_pointwise_speedup", "Figure 9", "all", "max_pointwise_speedup_vs_blas");
    put_published(r, csv, model, "paper_base_packing_percent", "Figure 10", "Geo Mean",
                  "base_packing_share_percent_avg");
    put_published(r, csv, model, "paper_chosen_packing_percent", "Figure 10", "Geo Mean",
                  "sconv_packing_share_percent_avg");
    exp_csv_end_row(csv);
}

int exp_judge_write_models(const struct exp_judge_report *r, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &exp_judge_models_file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++)
        put_model(r, csv, &r->model[i]);
    return exp_csv_close(csv, why);
}
