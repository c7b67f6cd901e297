/* models.csv of a judgement: part of exp_judge_files.h. */
#include <math.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_files.h"
#include "experiments/judge/exp_judge_paper.h"

/* A model by a yardstick: its sums. */
struct by_yardstick {
    double n_right, n_equal, sum[EXP_N_VARIANTS], chosen, best, regret_percent;
    const char *why; /* of what is NaN */
};

/* How far estimates are from the clock. */
struct accuracy {
    double p10, median, p90, n_right;
};

struct row {
    const char *model;
    size_t n_layers, n_chosen[EXP_N_VARIANTS];
    struct by_yardstick by[EXP_N_YARDSTICKS];
    struct exp_judge_ms base_ms, chosen_ms;
    double base_packing_percent, chosen_packing_percent, estimated_speedup, issue_speedup;
    const char *why_no_base, *why_no_estimate, *why_no_pointwise; /* of what is NaN */
    struct exp_judge_clock clock;
    double regret_percent; /* by the clock */
    struct accuracy estimated, issue;
    const char *why_not_timed;
    double won_percent, max_speedup, pointwise_won_percent, max_pointwise_speedup;
    struct {
        double speedup, won_percent, max_speedup, pointwise_won_percent, max_pointwise_speedup;
        double base_packing_percent, chosen_packing_percent;
    } paper; /* NaN: it has no number about this */
};

#define ROW struct row

/* clang-format off */
#define CHOSEN(i, variant, title, what, ...)                                                                           \
    { { "chosen_" variant "_layers", "layers", "where CSA chose " what, "predicted" }, REC_AT(ROW, n_chosen[i]) },

#define VALUE(i, variant, title, variant_is, algo, predict, source, y, name, unit, what)                               \
    { { variant "_" name, unit, what "; every layer " variant_is, "replay" },                                          \
      REC_NAN_OR(ROW, by[y].sum[i], by[y].why) },

#define YARDSTICK(y, name, label, colour, unit, what)                                                                  \
    { { "right_" name "_layers", "layers", "where CSA's choice is not the worse one", "replay" },                      \
      REC_NAN_OR(ROW, by[y].n_right, by[y].why) },                                                                     \
    { { "equal_" name "_layers", "layers", "of those, where all schedules are the same", "replay" },                   \
      REC_NAN_OR(ROW, by[y].n_equal, by[y].why) },                                                                     \
    EXP_EACH_VARIANT(VALUE, y, name, unit, what)                                                                       \
    { { "chosen_" name, unit, "every layer as CSA chose", "replay" }, REC_NAN_OR(ROW, by[y].chosen, by[y].why) },      \
    { { "best_" name, unit, "every layer as is better for it", "replay" }, REC_NAN_OR(ROW, by[y].best, by[y].why) },   \
    { { "regret_" name "_percent", "%", "chosen over best, less 100 %", "replay" },                                    \
      REC_NAN_OR(ROW, by[y].regret_percent, by[y].why) },

#define OF_BASE(member) REC_NAN_OR(ROW, member, why_no_base)
#define OF_CLOCK(member) REC_NAN_OR(ROW, member, why_not_timed)
#define PRINTED(member) REC_NAN_AS(ROW, paper.member, REC_DOES_NOT_APPLY)

static const struct rec_field fields[] = {
    { { "model", "", "name of the layer table; all: sums, except for speed-ups: geometric means over the models", "" },
      REC_AT(ROW, model) },
    { { "layers", "", "convolutions", "" }, REC_AT(ROW, n_layers) },
    EXP_EACH_VARIANT(CHOSEN, )
    EXP_EACH_YARDSTICK(YARDSTICK)
    { { "base_estimated_ms", "ms", "estimate: Base, all layers", "replay" },
      REC_NAN_OR(ROW, base_ms.value, base_ms.why_not) },
    { { "chosen_estimated_ms", "ms", "estimate: SConv as CSA chose, all layers", "replay" },
      REC_NAN_OR(ROW, chosen_ms.value, chosen_ms.why_not) },
    { { "base_packing_percent", "%", "of Base's estimate: im2col and packing", "replay" },
      OF_BASE(base_packing_percent) },
    { { "chosen_packing_percent", "%", "of SConv's: packing", "replay" },
      REC_NAN_OR(ROW, chosen_packing_percent, why_no_estimate) },
    { { "estimated_speedup", "", "estimate: Base over SConv, with loads that wait", "replay" },
      OF_BASE(estimated_speedup) },
    { { "issue_speedup", "", "the same without waiting for loads", "replay" }, OF_BASE(issue_speedup) },
    { { "measured_layers", "layers", "timed on this machine by make experiment, with Base and all schedules", "clock" },
      REC_AT(ROW, clock.n_timed) },
    { { "measured_pays_layers", "layers", "of those, SConv as CSA chose is faster than Base with its whole interval",
        "clock" },
      REC_AT(ROW, clock.n_pays) },
    { { "measured_loses_layers", "layers", "of those, slower with its whole interval", "clock" },
      REC_AT(ROW, clock.n_loses) },
    { { "measured_speedup", "", "over those layers, Base's time / that of SConv as CSA chose", "clock" },
      OF_CLOCK(clock.speedup.value) },
    { { "measured_right_layers", "layers", "of those, where CSA's choice is the faster schedule", "clock" },
      REC_AT(ROW, clock.n_right) },
    { { "measured_regret_percent", "%", "time of the choices over that of the faster schedules, less 100 %", "clock" },
      OF_CLOCK(regret_percent) },
    { { "estimated_to_measured_p10", "", "over those layers, estimated_speedup / measured_speedup: 10th percentile",
        "" },
      OF_CLOCK(estimated.p10) },
    { { "estimated_to_measured_median", "", "median", "" }, OF_CLOCK(estimated.median) },
    { { "estimated_to_measured_p90", "", "90th percentile", "" }, OF_CLOCK(estimated.p90) },
    { { "estimated_right_layers", "layers", "estimated on the measured side of 1; of pays and loses together", "" },
      OF_CLOCK(estimated.n_right) },
    { { "issue_to_measured_p10", "", "the same for issue_speedup", "" }, OF_CLOCK(issue.p10) },
    { { "issue_to_measured_median", "", "median", "" }, OF_CLOCK(issue.median) },
    { { "issue_to_measured_p90", "", "90th percentile", "" }, OF_CLOCK(issue.p90) },
    { { "issue_right_layers", "layers", "likewise", "" }, OF_CLOCK(issue.n_right) },
    { { "paper_speedup", "", "convolution speed-up measured in the paper", "SConv Table 2" }, PRINTED(speedup) },
    { { "won_percent", "%", "layers with an estimated speed-up over 1", "replay" }, OF_BASE(won_percent) },
    { { "paper_won_percent", "%", "layers faster than Base in the paper", "SConv Figure 8" }, PRINTED(won_percent) },
    { { "max_speedup", "", "greatest estimated speed-up of a layer", "replay" }, OF_BASE(max_speedup) },
    { { "paper_max_speedup", "", "greatest in the paper", "SConv Figure 8" }, PRINTED(max_speedup) },
    { { "pointwise_won_percent", "%", "pointwise layers with an estimated speed-up over 1", "replay" },
      REC_NAN_OR(ROW, pointwise_won_percent, why_no_pointwise) },
    { { "paper_pointwise_won_percent", "%", "in the paper", "SConv Figure 9" }, PRINTED(pointwise_won_percent) },
    { { "max_pointwise_speedup", "", "greatest estimated speed-up of a pointwise layer", "replay" },
      REC_NAN_OR(ROW, max_pointwise_speedup, why_no_pointwise) },
    { { "paper_max_pointwise_speedup", "", "in the paper", "SConv Figure 9" }, PRINTED(max_pointwise_speedup) },
    { { "paper_base_packing_percent", "%", "packing's share of Base's time in the paper", "SConv Figure 10" },
      PRINTED(base_packing_percent) },
    { { "paper_chosen_packing_percent", "%", "packing's share of SConv's time in the paper", "SConv Figure 10" },
      PRINTED(chosen_packing_percent) },
};
/* clang-format on */

const struct rec_table exp_judge_models_table = REC_TABLE("models.csv", fields, ROW);

/* Returns a number of the paper's figure a (x86) or b (POWER10), which are about all models. */
static double published(const struct exp_judge_report *r, const struct exp_judge_model *model, const char *figure,
                        const char *about, const char *metric)
{
    char name[16];

    snprintf(name, sizeof name, "%s%s", figure, strcmp(r->arch, "P10") ? "a" : "b");
    return strcmp(model->name, "all") ? (double)NAN : exp_judge_published(r, name, about, metric);
}

static struct by_yardstick by_yardstick(const struct exp_judge_sum *s, const char *why_not)
{
    struct by_yardstick by = {
        .n_right = exp_judge_number((double)s->n_right, why_not),
        .n_equal = exp_judge_number((double)s->n_equal, why_not),
        .chosen = exp_judge_number(s->chosen, why_not),
        .best = exp_judge_number(s->best, why_not),
        .regret_percent = exp_judge_number(exp_judge_regret_percent(s), why_not),
        .why = exp_judge_reason(why_not),
    };

    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        by.sum[i] = exp_judge_number(s->variant[i], why_not);
    return by;
}

static struct accuracy accuracy_of(const struct exp_accuracy *a)
{
    return (struct accuracy){ a->p10, a->median, a->p90, a->n ? (double)a->n_right : (double)NAN };
}

static void fill_clock(ROW *row, const struct exp_judge_report *r, const struct exp_judge_model *model)
{
    const struct exp_judge_clock *c = &model->clock;

    row->clock = *c;
    row->regret_percent = 100 * (c->chosen_ns / c->best_ns - 1);
    row->estimated = accuracy_of(&c->accuracy);
    row->issue = accuracy_of(&c->issue_accuracy);
    row->why_not_timed = *model->why_not_timed ? model->why_not_timed : exp_judge_why_no_comparison(r);
}

static void fill_wins(ROW *row, const struct exp_judge_total *t, const char *no_base)
{
    const char *none = no_base ? no_base : t->n_pointwise ? NULL : "no pointwise layers";

    row->won_percent = exp_judge_number(exp_judge_percent(t->n_won, t->n_layers), no_base);
    row->max_speedup = exp_judge_number(t->max_speedup, no_base);
    row->pointwise_won_percent = exp_judge_number(exp_judge_percent(t->n_pointwise_won, t->n_pointwise), none);
    row->max_pointwise_speedup = exp_judge_number(t->max_pointwise_speedup, none);
    row->why_no_pointwise = exp_judge_reason(none);
}

static void fill_paper(ROW *row, const struct exp_judge_report *r, const struct exp_judge_model *model)
{
    const char *mean = "Geo Mean";

    row->paper.speedup = exp_judge_paper_speedup(r, model);
    row->paper.won_percent = published(r, model, "Figure 8", "all", "conv_wins_percent");
    row->paper.max_speedup = published(r, model, "Figure 8", "all", "max_conv_speedup");
    row->paper.pointwise_won_percent = published(r, model, "Figure 9", "all", "pointwise_wins_percent");
    row->paper.max_pointwise_speedup = published(r, model, "Figure 9", "all", "max_pointwise_speedup_vs_blas");
    row->paper.base_packing_percent = published(r, model, "Figure 10", mean, "base_packing_share_percent_avg");
    row->paper.chosen_packing_percent = published(r, model, "Figure 10", mean, "sconv_packing_share_percent_avg");
}

static void put_model(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model)
{
    const struct exp_judge_total *t = &model->total;
    const char *no_base = exp_judge_why_no_comparison(r), *no_estimate = r->why_no_estimate;
    ROW row = {
        .model = model->name,
        .n_layers = t->n_layers,
        .base_ms = exp_judge_ms_of(t->base.total_cycles, r->machine, no_base),
        .chosen_ms = exp_judge_ms_of(t->chosen.total_cycles, r->machine, no_estimate),
        .base_packing_percent = exp_judge_number(100 * t->base.packing_cycles / t->base.total_cycles, no_base),
        .chosen_packing_percent =
            exp_judge_number(100 * t->chosen.packing_cycles / t->chosen.total_cycles, no_estimate),
        .estimated_speedup = exp_judge_number(model->speedup, no_base),
        .issue_speedup = exp_judge_number(model->issue_speedup, no_base),
        .why_no_base = exp_judge_reason(no_base),
        .why_no_estimate = exp_judge_reason(no_estimate),
    };

    memcpy(row.n_chosen, t->n_chosen, sizeof row.n_chosen);
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        row.by[y] = by_yardstick(&t->sum[y], exp_judge_why_not(r, (enum exp_yardstick)y));
    fill_clock(&row, r, model);
    fill_wins(&row, t, no_base);
    fill_paper(&row, r, model);
    rec_put(csv, &exp_judge_models_table, &row);
}

int exp_judge_write_models(const struct exp_judge_report *r, const char *what, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &exp_judge_models_table.file, what, why);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++)
        put_model(r, csv, &r->model[i]);
    return exp_csv_close(csv, why);
}
