/*
 * The tables of a judgement. Inside, a row has an array over yardsticks and variants; its columns are named after both.
 */
#include "experiments/choices/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"

static const char nothing[] = "the better schedule moves nothing",
                  no_clock[] = "the machine's file does not state clock_ghz";

/* Returns a number; none if the number is not finite, for a reason (why, or else otherwise). */
static struct value known(double number, const char *why, const char *otherwise)
{
    return value_if_finite(number, why ? why : otherwise);
}

static struct value ms_of(double cycles, const struct sim_machine *m, const char *why)
{
    return known(cycles / (m->issue.clock_ghz * 1e6), why, no_clock);
}

/* ---- layers.csv ---- */

struct layer_row {
    const char *model, *layer, *chosen;
    size_t layer_index;
    struct exp_judgement v;
    double macs;
    struct value ns[EXP_N_VARIANTS], pm[EXP_N_YARDSTICKS][EXP_N_VARIANTS];
    struct layer_cost {
        struct value regret, percent;
        const char *better;
    } by[EXP_N_YARDSTICKS];
    struct value base_issue, base_cycles, base_ms, issue, cycles, ms, speedup, issue_speedup; /* estimated */
    struct value base_pm, chosen_pm, speedup_pm;
    struct value measured, low, high; /* speed-up */
};

#define LAYER(member) REC_VALUE(struct layer_row, member)
#define LAYER_AT(member) REC_AT(struct layer_row, member)

/* clang-format off */
#define PREDICTED(_, i, variant, what)                                                                                 \
    { { "predicted_" variant "_cycles", "cycles", "C_TOTAL, " what, "SConv Eq. 6" }, LAYER(v.clock.by[i]) },
#define TIMED(_, i, variant, what)                                                                                     \
    { { "measured_" variant "_ns", "ns", "time on this machine, from make experiment; " what, "clock" }, LAYER(ns[i]) },
#define COST(y, name, unit, meaning, i, variant, what)                                                                 \
    { { variant "_" name, unit, meaning "; " what, "replay" }, LAYER(v.choice[y].cost[i]) },                           \
    { { variant "_" name "_pm", unit, "half of its 95 % interval; 0: exact", "replay" }, LAYER(pm[y][i]) },
#define VARIANT_NAME(_, i, variant, what) variant ", "

#define COSTS_BY(y, name, unit, meaning, ...)                                                                          \
    EXP_EACH_VARIANT(COST, y, name, unit, meaning)                                                                     \
    { { "better_" name, "", "the schedule with less: " EXP_EACH_VARIANT(VARIANT_NAME, ) "equal; or open: intervals of samples overlap", "replay" },           \
      REC_OR(struct layer_row, by[y].better, by[y].regret.why) },                                                      \
    { { "regret_" name, unit, "what CSA's choice has more than the better schedule", "replay" },                       \
      LAYER(by[y].regret) },                                                                                           \
    { { "regret_" name "_percent", "%", "of the better schedule", "replay" }, LAYER(by[y].percent) },

static const struct rec_field layer_fields[] = {
    { EXP_COLUMN_MODEL, LAYER_AT(model) },
    { EXP_COLUMN_LAYER_INDEX, LAYER_AT(layer_index) },
    { EXP_COLUMN_LAYER, LAYER_AT(layer) },
    { EXP_COLUMN_POINTWISE, LAYER_AT(v.is_pointwise) },
    { EXP_COLUMN_MACS, LAYER_AT(macs) },
    { { "chosen", "", "CSA's choice: of the schedules in the names of the columns that follow", "predicted" },
      LAYER_AT(chosen) },
    EXP_EACH_VARIANT(PREDICTED, )
    EXP_EACH_YARDSTICK(COSTS_BY)
    { { "base_issue_cycles", "cycles", "estimate: Base's instructions issued without waiting", "replay" },
      LAYER(base_issue) },
    { { "base_estimated_cycles", "cycles", "estimate: that, plus Eq. 6 with simulated loads", "replay" },
      LAYER(base_cycles) },
    { { "chosen_issue_cycles", "cycles", "estimate: the same for SConv as CSA chose", "replay" }, LAYER(issue) },
    { { "chosen_estimated_cycles", "cycles", "estimate", "replay" }, LAYER(cycles) },
    { { "base_estimated_cycles_pm", "cycles", "half of its 95 % interval; 0: exact", "replay" }, LAYER(base_pm) },
    { { "chosen_estimated_cycles_pm", "cycles", "likewise", "replay" }, LAYER(chosen_pm) },
    { { "base_estimated_ms", "ms", "estimated cycles at the machine's clock", "replay" }, LAYER(base_ms) },
    { { "chosen_estimated_ms", "ms", "likewise", "replay" }, LAYER(ms) },
    { { "estimated_speedup", "", "estimate: Base's cycles / those of SConv as CSA chose", "replay" }, LAYER(speedup) },
    { { "estimated_speedup_pm", "", "half of its 95 % interval; 0: exact", "replay" }, LAYER(speedup_pm) },
    { { "issue_speedup", "", "the same without waiting for loads: as if all hit L1", "replay" }, LAYER(issue_speedup) },
    EXP_EACH_VARIANT(TIMED, )
    { { "measured_speedup", "", "Base's time / that of SConv as CSA chose", "clock" }, LAYER(measured) },
    { { "measured_speedup_low", "", "its interval, as in the experiment's layers.csv", "clock" }, LAYER(low) },
    { { "measured_speedup_high", "", "likewise", "clock" }, LAYER(high) },
};
/* clang-format on */

const struct rec_table exp_judge_layers_table = REC_TABLE("layers.csv", layer_fields, struct layer_row);

static struct layer_cost cost_of(const struct exp_choice *c)
{
    const char *why = c->cost[0].why;
    const size_t best = exp_choice_best(c);
    const double regret = c->cost[c->chosen].number - c->cost[best].number;

    return (struct layer_cost){
        .regret = known(regret, why, nothing),
        .percent = known(regret == 0 ? 0 : 100 * regret / c->cost[best].number, why, nothing),
        .better = exp_choice_is_open(c)  ? "open"
                  : exp_choice_is_tie(c) ? "equal"
                                         : exp_variants[best].name,
    };
}

static struct layer_row layer_row_of(const struct exp_judge_report *r, const struct exp_judge_model *model,
                                     const struct exp_judgement *v)
{
    const char *no_base = v->base.why, *no_estimate = v->estimate.why;
    const char *not_timed = *model->why_not_timed ? model->why_not_timed : EXP_RATIO_NO_INTERVAL;
    struct layer_row row = {
        .model = model->name,
        .layer = v->layer->name,
        .layer_index = v->layer->index,
        .v = *v,
        .macs = conv_macs(&v->layer->problem),
        .chosen = exp_variants[v->clock.chosen].name,
        .base_issue = known(v->base.issue_cycles, no_base, nothing),
        .base_cycles = known(v->base.total_cycles, no_base, nothing),
        .base_ms = ms_of(v->base.total_cycles, r->machine, no_base),
        .issue = known(v->estimate.issue_cycles, no_estimate, nothing),
        .cycles = known(v->estimate.total_cycles, no_estimate, nothing),
        .ms = ms_of(v->estimate.total_cycles, r->machine, no_estimate),
        .speedup = known(v->speedup, no_base, nothing),
        .issue_speedup = known(v->issue_speedup, no_base, nothing),
        .base_pm = value_or(v->base_pm, no_base),
        .chosen_pm = value_or(v->chosen_pm, no_estimate),
        .speedup_pm = known(exp_judge_speedup_pm(v), no_base, nothing),
        .measured = value_if_finite(v->measured.value, not_timed),
        .low = value_if_finite(v->measured.low, not_timed),
        .high = value_if_finite(v->measured.high, not_timed),
    };

    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        row.ns[i] = value_if_finite(v->clock.cost[i].number, not_timed);
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        row.by[y] = cost_of(&v->choice[y]);
        for (size_t i = 0; i < EXP_N_VARIANTS; i++)
            row.pm[y][i] = value_or(v->choice[y].pm[i], v->choice[y].cost[i].why);
    }
    return row;
}

static void put_layers(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;

    for (const struct exp_judge_model *m = r->model; m + 1 < r->model + r->n_models; m++) {
        for (size_t i = 0; i < m->n_verdicts; i++) {
            const struct layer_row row = layer_row_of(r, m, &r->verdict[m->first_verdict + i]);

            rec_put(csv, &exp_judge_layers_table, &row);
        }
    }
}

/* ---- models.csv ---- */

struct model_row {
    struct exp_judge_model m;
    struct value percent[EXP_N_YARDSTICKS], pm[EXP_N_YARDSTICKS][EXP_N_VARIANTS];
    struct value base_ms, ms, speedup, issue_speedup;                   /* estimated */
    struct value measured, regret, right, issue_right, wait[3], hit[3]; /* of the clock; p10, median, p90 */
    struct value paper_speedup, paper[EXP_N_QUOTES];
};

#define MODEL(member) REC_VALUE(struct model_row, member)
#define MODEL_AT(member) REC_AT(struct model_row, m.member)
#define MODEL_SUM(y, member) REC_OR(struct model_row, m.total.sum[y].member, m.total.sum[y].why)

/* clang-format off */
#define CHOSEN(_, i, variant, what)                                                                                    \
    { { "chosen_" variant "_layers", "layers", "where CSA chose " what, "predicted" },                                 \
      MODEL_AT(total.sum[EXP_EQ6_CYCLES].n_chosen[i]) },
#define SUM(y, name, unit, meaning, i, variant, what)                                                                  \
    { { variant "_" name, unit, meaning "; every layer " what, "replay" }, MODEL_SUM(y, cost[i]) },                    \
    { { variant "_" name "_pm", unit, "half of its 95 % interval; 0: exact", "replay" }, MODEL(pm[y][i]) },

#define SUMS_BY(y, name, unit, meaning, ...)                                                                           \
    { { "right_" name "_layers", "layers", "where CSA's choice is not the worse one", "replay" },                      \
      MODEL_SUM(y, n_right) },                                                                                         \
    { { "equal_" name "_layers", "layers", "of those, where all schedules are the same", "replay" },                   \
      MODEL_SUM(y, n_tie) },                                                                                           \
    { { "open_" name "_layers", "layers", "where intervals of samples overlap: no schedule is proved better",          \
        "replay" },                                                                                                    \
      MODEL_SUM(y, n_open) },                                                                                          \
    EXP_EACH_VARIANT(SUM, y, name, unit, meaning)                                                                      \
    { { "chosen_" name, unit, "every layer as CSA chose", "replay" }, MODEL_SUM(y, chosen) },                          \
    { { "best_" name, unit, "every layer as is better for it", "replay" }, MODEL_SUM(y, best) },                       \
    { { "regret_" name "_percent", "%", "chosen over best, less 100 %", "replay" }, MODEL(percent[y]) },

static const struct rec_field model_fields[] = {
    { { "model", "", "name of the layer table; all: sums, except for speed-ups: geometric means over the models", "" },
      MODEL_AT(name) },
    { { "layers", "", "convolutions", "" }, MODEL_AT(n_verdicts) },
    EXP_EACH_VARIANT(CHOSEN, )
    EXP_EACH_YARDSTICK(SUMS_BY)
    { { "base_estimated_ms", "ms", "estimate: Base, all layers", "replay" }, MODEL(base_ms) },
    { { "chosen_estimated_ms", "ms", "estimate: SConv as CSA chose, all layers", "replay" }, MODEL(ms) },
    { { "base_packing_percent", "%", "of Base's estimate: im2col and packing", "replay" },
      MODEL(m.quote[EXP_QUOTE_BASE_PACKING_PERCENT]) },
    { { "chosen_packing_percent", "%", "of SConv's: packing", "replay" },
      MODEL(m.quote[EXP_QUOTE_CHOSEN_PACKING_PERCENT]) },
    { { "estimated_speedup", "", "estimate: Base over SConv, with loads that wait", "replay" }, MODEL(speedup) },
    { { "issue_speedup", "", "the same without waiting for loads", "replay" }, MODEL(issue_speedup) },
    { { "measured_layers", "layers", "timed on this machine by make experiment, with Base and all schedules", "clock" },
      MODEL_AT(clock.sum.n) },
    { { "measured_pays_layers", "layers", "of those, SConv as CSA chose is faster than Base with its whole interval",
        "clock" },
      MODEL_AT(clock.n_pays) },
    { { "measured_loses_layers", "layers", "of those, slower with its whole interval", "clock" },
      MODEL_AT(clock.n_loses) },
    { { "measured_speedup", "", "over those layers, Base's time / that of SConv as CSA chose", "clock" },
      MODEL(measured) },
    { { "measured_right_layers", "layers", "of those, where CSA's choice is the faster schedule", "clock" },
      MODEL_AT(clock.sum.n_right) },
    { { "measured_regret_percent", "%", "time of the choices over that of the faster schedules, less 100 %", "clock" },
      MODEL(regret) },
    { { "estimated_to_measured_p10", "", "over those layers, estimated_speedup / measured_speedup: 10th percentile",
        "" },
      MODEL(wait[0]) },
    { { "estimated_to_measured_median", "", "median", "" }, MODEL(wait[1]) },
    { { "estimated_to_measured_p90", "", "90th percentile", "" }, MODEL(wait[2]) },
    { { "estimated_right_layers", "layers",
        "estimated on the measured side of 1; of the faster and slower ones together", "" },
      MODEL(right) },
    { { "issue_to_measured_p10", "", "the same for issue_speedup", "" }, MODEL(hit[0]) },
    { { "issue_to_measured_median", "", "median", "" }, MODEL(hit[1]) },
    { { "issue_to_measured_p90", "", "90th percentile", "" }, MODEL(hit[2]) },
    { { "issue_right_layers", "layers", "likewise", "" }, MODEL(issue_right) },
    { { "paper_speedup", "", "convolution speed-up measured in the paper", "SConv Table 2" }, MODEL(paper_speedup) },
    { { "won_percent", "%", "layers with an estimated speed-up over 1", "replay" },
      MODEL(m.quote[EXP_QUOTE_WON_PERCENT]) },
    { { "paper_won_percent", "%", "layers faster than Base in the paper", "SConv Figure 8" },
      MODEL(paper[EXP_QUOTE_WON_PERCENT]) },
    { { "max_speedup", "", "greatest estimated speed-up of a layer", "replay" },
      MODEL(m.quote[EXP_QUOTE_MAX_SPEEDUP]) },
    { { "paper_max_speedup", "", "greatest in the paper", "SConv Figure 8" }, MODEL(paper[EXP_QUOTE_MAX_SPEEDUP]) },
    { { "pointwise_won_percent", "%", "pointwise layers with an estimated speed-up over 1", "replay" },
      MODEL(m.quote[EXP_QUOTE_POINTWISE_WON_PERCENT]) },
    { { "paper_pointwise_won_percent", "%", "in the paper", "SConv Figure 9" },
      MODEL(paper[EXP_QUOTE_POINTWISE_WON_PERCENT]) },
    { { "max_pointwise_speedup", "", "greatest estimated speed-up of a pointwise layer", "replay" },
      MODEL(m.quote[EXP_QUOTE_MAX_POINTWISE_SPEEDUP]) },
    { { "paper_max_pointwise_speedup", "", "in the paper", "SConv Figure 9" },
      MODEL(paper[EXP_QUOTE_MAX_POINTWISE_SPEEDUP]) },
    { { "paper_base_packing_percent", "%", "packing's share of Base's time in the paper", "SConv Figure 10" },
      MODEL(paper[EXP_QUOTE_BASE_PACKING_PERCENT]) },
    { { "paper_chosen_packing_percent", "%", "packing's share of SConv's time in the paper", "SConv Figure 10" },
      MODEL(paper[EXP_QUOTE_CHOSEN_PACKING_PERCENT]) },
};
/* clang-format on */

const struct rec_table exp_judge_models_table = REC_TABLE("models.csv", model_fields, struct model_row);

/* Fills in how far estimates are from the clock, and returns the layers on the right side of 1. */
static struct value say_accuracy(struct value to[3], const struct exp_accuracy *a, bool has_any, const char *why)
{
    to[0] = value_if_finite(a->p10, why);
    to[1] = value_if_finite(a->median, why);
    to[2] = value_if_finite(a->p90, why);
    return value_or((double)a->n_right, has_any ? NULL : why);
}

static void put_model(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model)
{
    const struct exp_judge_clock *c = &model->clock;
    const char *no_base = model->total.base.why;
    const char *not_timed = *model->why_not_timed ? model->why_not_timed : no_base ? no_base : nothing;
    const bool is_all = model == &r->model[r->n_models - 1];
    struct model_row row = {
        .m = *model,
        .base_ms = ms_of(model->total.base.total_cycles, r->machine, no_base),
        .ms = ms_of(model->total.chosen.total_cycles, r->machine, model->total.chosen.why),
        .speedup = known(model->speedup, no_base, nothing),
        .issue_speedup = known(model->issue_speedup, no_base, nothing),
        .measured = value_if_finite(c->speedup.value, not_timed),
        .regret = value_if_finite(exp_choice_regret_percent(&c->sum), not_timed),
        .paper_speedup = value_if_finite(exp_judge_paper_speedup(r, model), REC_DOES_NOT_APPLY),
    };

    row.right = say_accuracy(row.wait, &c->accuracy, c->accuracy.n, not_timed);
    row.issue_right = say_accuracy(row.hit, &c->issue_accuracy, c->accuracy.n, not_timed);
    for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++) {
        const struct exp_choice_sum *s = &model->total.sum[y];

        for (size_t i = 0; i < EXP_N_VARIANTS; i++)
            row.pm[y][i] = value_or(sqrt(s->squares[i]), s->why);
        row.percent[y] = s->why ? value_none(s->why) : value_if_finite(exp_judge_regret_percent(s), nothing);
    }
    for (enum exp_judge_quote q = 0; q < EXP_N_QUOTES; q++)
        row.paper[q] = value_if_finite(is_all ? exp_judge_quoted(r, q) : (double)NAN, REC_DOES_NOT_APPLY);
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
    double rank_percent;
    struct value predicted, of[EXP_N_YARDSTICKS];
};

struct speedup_row {
    const char *layers;
    double rank_percent, estimated, issue;
};

#define RATIO struct ratio_row
#define SPEEDUP struct speedup_row

#define RATIO_BY(y, name, ...)                                                                                         \
    { { name, "", "the same of " name " in layers.csv", "replay" }, REC_VALUE(RATIO, of[y]) },

static const struct rec_field ratio_fields[] = {
    { { "schedule", "", "which is held against the first: its value / that of the first", "" },
      REC_AT(RATIO, schedule) },
    { { "rank_percent", "%", "position among the layers, each yardstick sorted on its own", "" },
      REC_AT(RATIO, rank_percent) },
    { { "predicted_cycles", "", "ratio of the cycles that are predicted", "SConv Eq. 6" },
      REC_VALUE(RATIO, predicted) },
    EXP_EACH_YARDSTICK(RATIO_BY)
};

static const struct rec_field speedup_fields[] = {
    { { "layers", "", "all, or pointwise", "" }, REC_AT(SPEEDUP, layers) },
    { { "rank_percent", "%", "position among them, each column sorted on its own", "" },
      REC_AT(SPEEDUP, rank_percent) },
    { { "estimated_speedup", "", "as in layers.csv", "replay" }, REC_AT(SPEEDUP, estimated) },
    { { "issue_speedup", "", "as in layers.csv", "replay" }, REC_AT(SPEEDUP, issue) },
};

const struct rec_table exp_judge_ratios_table = REC_TABLE("ratios.csv", ratio_fields, RATIO);
const struct rec_table exp_judge_speedups_table = REC_TABLE("speedups.csv", speedup_fields, SPEEDUP);

static double rank_percent(size_t i, size_t n)
{
    return n > 1 ? 100 * (double)i / (double)(n - 1) : 50;
}

/* Sorts the ratios of a later variant's number over the first variant's: of the prediction, then of each yardstick. */
static void put_ratios(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;
    const struct exp_judge_model *all = &r->model[r->n_models - 1];
    const size_t n = r->n_verdicts;
    double *value = exp_new((1 + EXP_N_YARDSTICKS) * n, sizeof *value);

    for (size_t variant = 1; variant < EXP_N_VARIANTS; variant++) {
        for (size_t k = 0; k < 1 + EXP_N_YARDSTICKS; k++) {
            for (size_t i = 0; i < n; i++) {
                const struct exp_judgement *v = &r->verdict[i];
                const struct value *x = k ? v->choice[k - 1].cost : v->clock.by;

                value[k * n + i] = x[variant].number == x[0].number ? 1 : x[variant].number / x[0].number;
            }
            exp_stats_sort_up(value + k * n, n);
        }
        for (size_t i = 0; i < n; i++) {
            RATIO row = { exp_variants[variant].name, rank_percent(i, n),
                          value_if_finite(value[i], "nothing predicts it"), .of = { { 0 } } };

            for (enum exp_yardstick y = 0; y < EXP_N_YARDSTICKS; y++)
                row.of[y] = known(value[(1 + y) * n + i], all->total.sum[y].why, nothing);
            rec_put(csv, &exp_judge_ratios_table, &row);
        }
    }
    free(value);
}

static void put_speedups(struct exp_csv *csv, const void *of)
{
    const struct exp_judge_report *r = of;
    double *waiting = exp_new(2 * r->n_verdicts, sizeof *waiting), *issued = waiting + r->n_verdicts;

    for (int only_pointwise = 0; only_pointwise < 2 && !r->verdict[0].base.why; only_pointwise++) {
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
