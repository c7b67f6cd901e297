/* The tables that a judgement leaves, and what writes them. */
#include "experiments/judge/judge.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/base/cells.h"

/* A number that is NaN without a reason of its own is a division by nothing. */
static const char nothing[] = "the better schedule moves nothing",
                  no_clock[] = "the machine's file does not state clock_ghz";

static const char *either(const char *why, const char *otherwise)
{
    return why ? why : otherwise;
}

static double ms_of(double cycles, const struct sim_machine *m)
{
    return cycles / (m->issue.clock_ghz * 1e6);
}

/* ---- layers.csv ---- */

struct layer_row {
    const char *model, *layer, *chosen;
    size_t layer_index;
    double macs;
    struct exp_judgement v;
    struct exp_estimate choice;
    struct exp_ratio speedup; /* measured */
    double base_ms, choice_ms, regret[EXP_N_YARDSTICKS], regret_percent[EXP_N_YARDSTICKS];
    const char *better[EXP_N_YARDSTICKS], *why_not[EXP_N_YARDSTICKS], *why[EXP_N_YARDSTICKS]; /* NULL: it is known */
    const char *why_no_base, *why_no_base_ms, *why_no_estimate, *why_no_choice_ms, *why_not_timed;
};

#define LAYER struct layer_row

/* clang-format off */
#define PREDICTED(i, variant, title, what, algo, predict, source, ...)                                                 \
    { { "predicted_" variant "_cycles", "cycles", "C_TOTAL, " what, source },                                          \
      REC_NAN_AS(LAYER, v.predicted_cycles[i], "nothing predicts it") },

#define TIMED(i, variant, title, what, ...)                                                                            \
    { { "measured_" variant "_ns", "ns", "time on this machine, from make experiment; " what, "clock" },               \
      REC_NAN_OR(LAYER, v.time[i].ns, why_not_timed) },

#define VALUE(i, variant, title, variant_is, algo, predict, source, y, name, unit, what)                               \
    { { variant "_" name, unit, what "; " variant_is, "replay" }, REC_NAN_OR(LAYER, v.value[y][i], why[y]) },

#define VARIANT_NAME(i, variant, ...) variant ", "

#define BY_YARDSTICK(y, name, label, colour, unit, what)                                                               \
    EXP_EACH_VARIANT(VALUE, y, name, unit, what)                                                                       \
    { { "better_" name, "", "the schedule with less: " EXP_EACH_VARIANT(VARIANT_NAME, ) "equal", "replay" },           \
      REC_OR(LAYER, better[y], why_not[y]) },                                                                          \
    { { "regret_" name, unit, "what CSA's choice has more than the better schedule", "replay" },                       \
      REC_NAN_OR(LAYER, regret[y], why[y]) },                                                                          \
    { { "regret_" name "_percent", "%", "of the better schedule", "replay" },                                          \
      REC_NAN_OR(LAYER, regret_percent[y], why[y]) },

static const struct rec_field layer_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(LAYER, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(LAYER, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(LAYER, layer) },
    { EXP_COLUMN_POINTWISE, REC_AT(LAYER, v.is_pointwise) },
    { EXP_COLUMN_MACS, REC_AT(LAYER, macs) },
    { { "chosen", "", "CSA's choice: of the schedules in the names of the columns that follow", "predicted" },
      REC_AT(LAYER, chosen) },
    EXP_EACH_VARIANT(PREDICTED, )
    EXP_EACH_YARDSTICK(BY_YARDSTICK)
    { { "base_issue_cycles", "cycles", "estimate: Base's instructions issued without waiting", "replay" },
      REC_NAN_OR(LAYER, v.base.issue_cycles, why_no_base) },
    { { "base_estimated_cycles", "cycles", "estimate: that, plus Eq. 6 with simulated loads", "replay" },
      REC_NAN_OR(LAYER, v.base.total_cycles, why_no_base) },
    { { "chosen_issue_cycles", "cycles", "estimate: the same for SConv as CSA chose", "replay" },
      REC_NAN_OR(LAYER, choice.issue_cycles, why_no_estimate) },
    { { "chosen_estimated_cycles", "cycles", "estimate", "replay" },
      REC_NAN_OR(LAYER, choice.total_cycles, why_no_estimate) },
    { { "base_estimated_ms", "ms", "estimated cycles at the machine's clock", "replay" },
      REC_NAN_OR(LAYER, base_ms, why_no_base_ms) },
    { { "chosen_estimated_ms", "ms", "likewise", "replay" }, REC_NAN_OR(LAYER, choice_ms, why_no_choice_ms) },
    { { "estimated_speedup", "", "estimate: Base's cycles / those of SConv as CSA chose", "replay" },
      REC_NAN_OR(LAYER, v.speedup, why_no_base) },
    { { "issue_speedup", "", "the same without waiting for loads: as if all hit L1", "replay" },
      REC_NAN_OR(LAYER, v.issue_speedup, why_no_base) },
    EXP_EACH_VARIANT(TIMED, )
    { { "measured_speedup", "", "Base's time / that of SConv as CSA chose", "clock" },
      REC_NAN_OR(LAYER, speedup.value, why_not_timed) },
    { { "measured_speedup_low", "", "its interval, as in the experiment's layers.csv", "clock" },
      REC_NAN_OR(LAYER, speedup.low, why_not_timed) },
    { { "measured_speedup_high", "", "likewise", "clock" }, REC_NAN_OR(LAYER, speedup.high, why_not_timed) },
};
/* clang-format on */

const struct rec_table exp_judge_layers_table = REC_TABLE("layers.csv", layer_fields, LAYER);

static void put_layer(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model,
                      const struct exp_judgement *v)
{
    const struct exp_estimate *choice = &v->variant[v->chosen];
    const char *no_base = exp_judge_why_no_comparison(r);
    LAYER row = {
        .model = model->name,
        .layer = v->layer->name,
        .layer_index = v->layer->index,
        .macs = conv_macs(&v->layer->problem),
        .chosen = exp_variants[v->chosen].name,
        .v = *v,
        .choice = *choice,
        .speedup = v->time[v->chosen].speedup,
        .base_ms = ms_of(v->base.total_cycles, r->machine),
        .choice_ms = ms_of(choice->total_cycles, r->machine),
        .why_no_base = either(no_base, nothing),
        .why_no_base_ms = either(no_base, no_clock),
        .why_no_estimate = either(r->why_no_estimate, nothing),
        .why_no_choice_ms = either(r->why_no_estimate, no_clock),
        .why_not_timed = *model->why_not_timed ? model->why_not_timed : EXP_RATIO_NO_INTERVAL,
    };

    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        const size_t best = exp_judgement_best(v, y);

        row.better[y] = exp_judgement_is_tie(v, y) ? "equal" : exp_variants[best].name;
        row.regret[y] = exp_judgement_regret(v, y);
        row.regret_percent[y] = row.regret[y] == 0 ? 0 : 100 * row.regret[y] / v->value[y][best];
        row.why_not[y] = exp_judge_why_not(r, y);
        row.why[y] = either(row.why_not[y], nothing);
    }
    rec_put(csv, &exp_judge_layers_table, &row);
}

static void put_layers(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;

    for (size_t m = 0; m + 1 < r->n_models; m++) {
        for (size_t i = 0; i < r->model[m].n_verdicts; i++)
            put_layer(r, csv, &r->model[m], &r->verdict[r->model[m].first_verdict + i]);
    }
}

/* ---- models.csv ---- */

struct model_row {
    struct exp_judge_model m;
    double base_ms, chosen_ms, regret_percent[EXP_N_YARDSTICKS], measured_regret_percent;
    double paper_speedup, paper[EXP_N_QUOTES]; /* NaN: it has no number about this */
    const char *why_not[EXP_N_YARDSTICKS], *why[EXP_N_YARDSTICKS];
    const char *why_no_base, *why_no_base_ms, *why_no_estimate, *why_no_chosen_ms, *why_no_pointwise, *why_not_timed,
        *why_no_accuracy;
};

#define MODEL struct model_row

/* clang-format off */
#define CHOSEN(i, variant, title, what, ...)                                                                           \
    { { "chosen_" variant "_layers", "layers", "where CSA chose " what, "predicted" },                                 \
      REC_AT(MODEL, m.total.n_chosen[i]) },

#define SUM(i, schedule, title, variant_is, algo, predict, source, y, name, unit, what)                                \
    { { schedule "_" name, unit, what "; every layer " variant_is, "replay" },                                         \
      REC_NAN_OR(MODEL, m.total.sum[y].variant[i], why[y]) },

#define SUM_BY(y, name, label, colour, unit, what)                                                                     \
    { { "right_" name "_layers", "layers", "where CSA's choice is not the worse one", "replay" },                      \
      REC_OR(MODEL, m.total.sum[y].n_right, why_not[y]) },                                                             \
    { { "equal_" name "_layers", "layers", "of those, where all schedules are the same", "replay" },                   \
      REC_OR(MODEL, m.total.sum[y].n_equal, why_not[y]) },                                                             \
    EXP_EACH_VARIANT(SUM, y, name, unit, what)                                                                         \
    { { "chosen_" name, unit, "every layer as CSA chose", "replay" },                                                  \
      REC_NAN_OR(MODEL, m.total.sum[y].chosen, why[y]) },                                                              \
    { { "best_" name, unit, "every layer as is better for it", "replay" },                                             \
      REC_NAN_OR(MODEL, m.total.sum[y].best, why[y]) },                                                                \
    { { "regret_" name "_percent", "%", "chosen over best, less 100 %", "replay" },                                    \
      REC_NAN_OR(MODEL, regret_percent[y], why[y]) },

#define OF_BASE(member) REC_NAN_OR(MODEL, m.member, why_no_base)
#define OF_CLOCK(member) REC_NAN_OR(MODEL, member, why_not_timed)
#define PRINTED(quote) REC_NAN_AS(MODEL, paper[quote], REC_DOES_NOT_APPLY)

static const struct rec_field model_fields[] = {
    { { "model", "", "name of the layer table; all: sums, except for speed-ups: geometric means over the models", "" },
      REC_AT(MODEL, m.name) },
    { { "layers", "", "convolutions", "" }, REC_AT(MODEL, m.total.n_layers) },
    EXP_EACH_VARIANT(CHOSEN, )
    EXP_EACH_YARDSTICK(SUM_BY)
    { { "base_estimated_ms", "ms", "estimate: Base, all layers", "replay" },
      REC_NAN_OR(MODEL, base_ms, why_no_base_ms) },
    { { "chosen_estimated_ms", "ms", "estimate: SConv as CSA chose, all layers", "replay" },
      REC_NAN_OR(MODEL, chosen_ms, why_no_chosen_ms) },
    { { "base_packing_percent", "%", "of Base's estimate: im2col and packing", "replay" },
      OF_BASE(quote[EXP_QUOTE_BASE_PACKING_PERCENT]) },
    { { "chosen_packing_percent", "%", "of SConv's: packing", "replay" },
      REC_NAN_OR(MODEL, m.quote[EXP_QUOTE_CHOSEN_PACKING_PERCENT], why_no_estimate) },
    { { "estimated_speedup", "", "estimate: Base over SConv, with loads that wait", "replay" },
      OF_BASE(speedup) },
    { { "issue_speedup", "", "the same without waiting for loads", "replay" }, OF_BASE(issue_speedup) },
    { { "measured_layers", "layers", "timed on this machine by make experiment, with Base and all schedules", "clock" },
      REC_AT(MODEL, m.clock.n_timed) },
    { { "measured_pays_layers", "layers", "of those, SConv as CSA chose is faster than Base with its whole interval",
        "clock" },
      REC_AT(MODEL, m.clock.n_pays) },
    { { "measured_loses_layers", "layers", "of those, slower with its whole interval", "clock" },
      REC_AT(MODEL, m.clock.n_loses) },
    { { "measured_speedup", "", "over those layers, Base's time / that of SConv as CSA chose", "clock" },
      OF_CLOCK(m.clock.speedup.value) },
    { { "measured_right_layers", "layers", "of those, where CSA's choice is the faster schedule", "clock" },
      REC_AT(MODEL, m.clock.n_right) },
    { { "measured_regret_percent", "%", "time of the choices over that of the faster schedules, less 100 %", "clock" },
      OF_CLOCK(measured_regret_percent) },
    { { "estimated_to_measured_p10", "", "over those layers, estimated_speedup / measured_speedup: 10th percentile",
        "" },
      OF_CLOCK(m.clock.accuracy.p10) },
    { { "estimated_to_measured_median", "", "median", "" }, OF_CLOCK(m.clock.accuracy.median) },
    { { "estimated_to_measured_p90", "", "90th percentile", "" }, OF_CLOCK(m.clock.accuracy.p90) },
    { { "estimated_right_layers", "layers", "estimated on the measured side of 1; of the faster and slower ones together", "" },
      REC_OR(MODEL, m.clock.accuracy.n_right, why_no_accuracy) },
    { { "issue_to_measured_p10", "", "the same for issue_speedup", "" }, OF_CLOCK(m.clock.issue_accuracy.p10) },
    { { "issue_to_measured_median", "", "median", "" }, OF_CLOCK(m.clock.issue_accuracy.median) },
    { { "issue_to_measured_p90", "", "90th percentile", "" }, OF_CLOCK(m.clock.issue_accuracy.p90) },
    { { "issue_right_layers", "layers", "likewise", "" },
      REC_OR(MODEL, m.clock.issue_accuracy.n_right, why_no_accuracy) },
    { { "paper_speedup", "", "convolution speed-up measured in the paper", "SConv Table 2" },
      REC_NAN_AS(MODEL, paper_speedup, REC_DOES_NOT_APPLY) },
    { { "won_percent", "%", "layers with an estimated speed-up over 1", "replay" },
      OF_BASE(quote[EXP_QUOTE_WON_PERCENT]) },
    { { "paper_won_percent", "%", "layers faster than Base in the paper", "SConv Figure 8" },
      PRINTED(EXP_QUOTE_WON_PERCENT) },
    { { "max_speedup", "", "greatest estimated speed-up of a layer", "replay" },
      OF_BASE(quote[EXP_QUOTE_MAX_SPEEDUP]) },
    { { "paper_max_speedup", "", "greatest in the paper", "SConv Figure 8" }, PRINTED(EXP_QUOTE_MAX_SPEEDUP) },
    { { "pointwise_won_percent", "%", "pointwise layers with an estimated speed-up over 1", "replay" },
      REC_NAN_OR(MODEL, m.quote[EXP_QUOTE_POINTWISE_WON_PERCENT], why_no_pointwise) },
    { { "paper_pointwise_won_percent", "%", "in the paper", "SConv Figure 9" },
      PRINTED(EXP_QUOTE_POINTWISE_WON_PERCENT) },
    { { "max_pointwise_speedup", "", "greatest estimated speed-up of a pointwise layer", "replay" },
      REC_NAN_OR(MODEL, m.quote[EXP_QUOTE_MAX_POINTWISE_SPEEDUP], why_no_pointwise) },
    { { "paper_max_pointwise_speedup", "", "in the paper", "SConv Figure 9" },
      PRINTED(EXP_QUOTE_MAX_POINTWISE_SPEEDUP) },
    { { "paper_base_packing_percent", "%", "packing's share of Base's time in the paper", "SConv Figure 10" },
      PRINTED(EXP_QUOTE_BASE_PACKING_PERCENT) },
    { { "paper_chosen_packing_percent", "%", "packing's share of SConv's time in the paper", "SConv Figure 10" },
      PRINTED(EXP_QUOTE_CHOSEN_PACKING_PERCENT) },
};
/* clang-format on */

const struct rec_table exp_judge_models_table = REC_TABLE("models.csv", model_fields, MODEL);

static void put_model(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model)
{
    const struct exp_judge_clock *c = &model->clock;
    const char *no_base = exp_judge_why_no_comparison(r);
    MODEL row = {
        .m = *model,
        .base_ms = ms_of(model->total.base.total_cycles, r->machine),
        .chosen_ms = ms_of(model->total.chosen.total_cycles, r->machine),
        .measured_regret_percent = 100 * (c->chosen_ns / c->best_ns - 1),
        .paper_speedup = exp_judge_paper_speedup(r, model),
        .why_no_base = either(no_base, nothing),
        .why_no_base_ms = either(no_base, no_clock),
        .why_no_estimate = either(r->why_no_estimate, nothing),
        .why_no_chosen_ms = either(r->why_no_estimate, no_clock),
        .why_no_pointwise = either(no_base, "no pointwise layers"),
        .why_not_timed = *model->why_not_timed ? model->why_not_timed : no_base,
    };

    row.why_no_accuracy = c->accuracy.n ? NULL : row.why_not_timed;
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        row.regret_percent[y] = exp_judge_regret_percent(&model->total.sum[y]);
        row.why_not[y] = exp_judge_why_not(r, y);
        row.why[y] = either(row.why_not[y], nothing);
    }
    for (enum exp_judge_quote q = 0; q < EXP_N_QUOTES; q++)
        row.paper[q] = model == &r->model[r->n_models - 1] ? exp_judge_quoted(r, q) : (double)NAN;
    rec_put(csv, &exp_judge_models_table, &row);
}

static void put_models(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;

    for (size_t i = 0; i < r->n_models; i++)
        put_model(r, csv, &r->model[i]);
}

/* ---- ratios.csv, speedups.csv: sorted for the figures ---- */

struct ratio_row {
    const char *schedule;
    double rank_percent, predicted_cycles, of[EXP_N_YARDSTICKS];
    const char *why_not[EXP_N_YARDSTICKS]; /* of what is NaN */
};

struct speedup_row {
    const char *layers;
    double rank_percent, estimated, issue;
};

#define RATIO struct ratio_row
#define SPEEDUP struct speedup_row

/* clang-format off */
#define RATIO_BY(y, name, label, colour, unit, what)                                                                   \
    { { name, "", "the same of " name " in layers.csv", "replay" }, REC_NAN_OR(RATIO, of[y], why_not[y]) },

static const struct rec_field ratio_fields[] = {
    { { "schedule", "", "which is held against the first: its value / that of the first", "" },
      REC_AT(RATIO, schedule) },
    { { "rank_percent", "%", "position among the layers, each yardstick sorted on its own", "" },
      REC_AT(RATIO, rank_percent) },
    { { "predicted_cycles", "", "ratio of the cycles that are predicted", "SConv Eq. 6" },
      REC_NAN_AS(RATIO, predicted_cycles, "nothing predicts it") },
    EXP_EACH_YARDSTICK(RATIO_BY)
};

static const struct rec_field speedup_fields[] = {
    { { "layers", "", "all, or pointwise", "" }, REC_AT(SPEEDUP, layers) },
    { { "rank_percent", "%", "position among them, each column sorted on its own", "" },
      REC_AT(SPEEDUP, rank_percent) },
    { { "estimated_speedup", "", "as in layers.csv", "replay" }, REC_AT(SPEEDUP, estimated) },
    { { "issue_speedup", "", "as in layers.csv", "replay" }, REC_AT(SPEEDUP, issue) },
};
/* clang-format on */

const struct rec_table exp_judge_ratios_table = REC_TABLE("ratios.csv", ratio_fields, RATIO);
const struct rec_table exp_judge_speedups_table = REC_TABLE("speedups.csv", speedup_fields, SPEEDUP);

/* Returns a later variant's value over that of the first, by the prediction (column 0) or by a yardstick. */
static double ratio_of(const struct exp_judgement *v, size_t variant, size_t column)
{
    const double *value = column ? v->value[column - 1] : v->predicted_cycles;

    return value[variant] == value[0] ? 1 : value[variant] / value[0];
}

static double rank_percent(size_t i, size_t n)
{
    return n > 1 ? 100 * (double)i / (double)(n - 1) : 50;
}

static void put_ratios(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;
    const size_t n = r->n_verdicts;
    double *value = exp_new((1 + EXP_N_YARDSTICKS) * n, sizeof *value);

    for (size_t variant = 1; variant < EXP_N_VARIANTS; variant++) {
        for (size_t k = 0; k < 1 + EXP_N_YARDSTICKS; k++) {
            for (size_t i = 0; i < n; i++)
                value[k * n + i] = ratio_of(&r->verdict[i], variant, k);
            exp_stats_sort_up(value + k * n, n);
        }
        for (size_t i = 0; i < n; i++) {
            RATIO row = { exp_variants[variant].name, rank_percent(i, n), .predicted_cycles = value[i] };

            for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
                row.of[y] = value[(1 + y) * n + i];
                row.why_not[y] = either(exp_judge_why_not(r, y), nothing);
            }
            rec_put(csv, &exp_judge_ratios_table, &row);
        }
    }
    free(value);
}

static void put_speedups(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;
    double *waiting = exp_new(2 * r->n_verdicts, sizeof *waiting), *issued = waiting + r->n_verdicts;

    for (int only_pointwise = 0; only_pointwise < 2 && !exp_judge_why_no_comparison(r); only_pointwise++) {
        size_t n = 0;

        for (size_t i = 0; i < r->n_verdicts; i++) {
            if (only_pointwise && !r->verdict[i].is_pointwise)
                continue;
            waiting[n] = r->verdict[i].speedup;
            issued[n++] = r->verdict[i].issue_speedup;
        }
        exp_stats_sort_up(waiting, n);
        exp_stats_sort_up(issued, n);
        for (size_t i = 0; i < n; i++)
            rec_put(csv, &exp_judge_speedups_table,
                    &(SPEEDUP){ only_pointwise ? "pointwise" : "all", rank_percent(i, n), waiting[i], issued[i] });
    }
    free(waiting);
}

int exp_judge_tables_write(const struct exp_judge_report *r, const struct exp_outdir *dir, const char *what,
                           struct exp_why *why)
{
    static const struct rec_file files[] = {
        { &exp_judge_layers_table, put_layers, NULL },
        { &exp_judge_models_table, put_models, NULL },
        { &exp_judge_ratios_table, put_ratios, NULL },
        { &exp_judge_speedups_table, put_speedups, NULL },
    };

    return rec_write_files(files, sizeof files / sizeof files[0], r, dir, what, why);
}
