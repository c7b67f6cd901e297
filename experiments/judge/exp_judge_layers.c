/* layers.csv of a judgement: part of exp_judge_files.h. */
#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_files.h"
#include "experiments/judge/exp_judge_paper.h"
#include "experiments/report/exp_cells.h"

/* A layer by a yardstick. */
struct by_yardstick {
    double value[EXP_N_VARIANTS];
    const char *better;
    double regret, regret_percent;
    const char *why_not; /* NULL: there are numbers */
    const char *why;     /* of what is NaN */
};

struct row {
    const char *model;
    size_t layer_index;
    const char *layer;
    bool is_pointwise;
    double macs;
    const char *chosen;
    double predicted_cycles[EXP_N_VARIANTS];
    struct by_yardstick by[EXP_N_YARDSTICKS];
    struct exp_estimate base, choice;
    struct exp_judge_ms base_ms, choice_ms;
    double estimated_speedup, issue_speedup;
    const char *why_no_base, *why_no_estimate;
    double ns[EXP_N_VARIANTS];
    struct exp_ratio speedup;
    const char *why_not_timed;
};

#define ROW struct row

/* clang-format off */
#define PREDICTED(i, variant, title, what, algo, predict, source, ...)                                                 \
    { { "predicted_" variant "_cycles", "cycles", "C_TOTAL, " what, source },                                          \
      REC_NAN_AS(ROW, predicted_cycles[i], "nothing predicts it") },

#define TIMED(i, variant, title, what, ...)                                                                            \
    { { "measured_" variant "_ns", "ns", "time on this machine, from make experiment; " what, "clock" },               \
      REC_NAN_OR(ROW, ns[i], why_not_timed) },

#define VALUE(i, variant, title, variant_is, algo, predict, source, y, name, unit, what)                               \
    { { variant "_" name, unit, what "; " variant_is, "replay" }, REC_NAN_OR(ROW, by[y].value[i], by[y].why) },

#define VARIANT_NAME(i, variant, ...) variant ", "

#define YARDSTICK(y, name, label, colour, unit, what)                                                                  \
    EXP_EACH_VARIANT(VALUE, y, name, unit, what)                                                                       \
    { { "better_" name, "", "the schedule with less: " EXP_EACH_VARIANT(VARIANT_NAME, ) "equal", "replay" },           \
      REC_OR(ROW, by[y].better, by[y].why_not) },                                                                      \
    { { "regret_" name, unit, "what CSA's choice has more than the better schedule", "replay" },                       \
      REC_NAN_OR(ROW, by[y].regret, by[y].why) },                                                                      \
    { { "regret_" name "_percent", "%", "of the better schedule", "replay" },                                          \
      REC_NAN_OR(ROW, by[y].regret_percent, by[y].why) },

static const struct rec_field fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(ROW, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(ROW, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(ROW, layer) },
    { EXP_COLUMN_POINTWISE, REC_AT(ROW, is_pointwise) },
    { EXP_COLUMN_MACS, REC_AT(ROW, macs) },
    { { "chosen", "", "CSA's choice: of the schedules in the names of the columns that follow", "predicted" },
      REC_AT(ROW, chosen) },
    EXP_EACH_VARIANT(PREDICTED, )
    EXP_EACH_YARDSTICK(YARDSTICK)
    { { "base_issue_cycles", "cycles", "estimate: Base's instructions issued without waiting", "replay" },
      REC_NAN_OR(ROW, base.issue_cycles, why_no_base) },
    { { "base_estimated_cycles", "cycles", "estimate: that, plus Eq. 6 with simulated loads", "replay" },
      REC_NAN_OR(ROW, base.total_cycles, why_no_base) },
    { { "chosen_issue_cycles", "cycles", "estimate: the same for SConv as CSA chose", "replay" },
      REC_NAN_OR(ROW, choice.issue_cycles, why_no_estimate) },
    { { "chosen_estimated_cycles", "cycles", "estimate", "replay" },
      REC_NAN_OR(ROW, choice.total_cycles, why_no_estimate) },
    { { "base_estimated_ms", "ms", "estimated cycles at the machine's clock", "replay" },
      REC_NAN_OR(ROW, base_ms.value, base_ms.why_not) },
    { { "chosen_estimated_ms", "ms", "likewise", "replay" }, REC_NAN_OR(ROW, choice_ms.value, choice_ms.why_not) },
    { { "estimated_speedup", "", "estimate: Base's cycles / those of SConv as CSA chose", "replay" },
      REC_NAN_OR(ROW, estimated_speedup, why_no_base) },
    { { "issue_speedup", "", "the same without waiting for loads: as if all hit L1", "replay" },
      REC_NAN_OR(ROW, issue_speedup, why_no_base) },
    EXP_EACH_VARIANT(TIMED, )
    { { "measured_speedup", "", "Base's time / that of SConv as CSA chose", "clock" },
      REC_NAN_OR(ROW, speedup.value, why_not_timed) },
    { { "measured_speedup_low", "", "its interval, as in the experiment's layers.csv", "clock" },
      REC_NAN_OR(ROW, speedup.low, why_not_timed) },
    { { "measured_speedup_high", "", "likewise", "clock" }, REC_NAN_OR(ROW, speedup.high, why_not_timed) },
};
/* clang-format on */

const struct rec_table exp_judge_layers_table = REC_TABLE("layers.csv", fields, ROW);

static struct by_yardstick by_yardstick(const struct exp_judgement *v, enum exp_yardstick y, const char *why_not)
{
    const double regret = exp_judgement_regret(v, y), best = v->value[y][exp_judgement_best(v, y)];
    struct by_yardstick by = {
        .better = exp_judgement_is_tie(v, y) ? "equal" : exp_variant_at(exp_judgement_best(v, y))->name,
        .regret = exp_judge_number(regret, why_not),
        .regret_percent = exp_judge_number(regret > 0 ? 100 * regret / best : 0, why_not),
        .why_not = why_not,
        .why = exp_judge_reason(why_not),
    };

    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        by.value[i] = exp_judge_number(v->value[y][i], why_not);
    return by;
}

/* Returns an estimate's cycles; NaN where there is a reason. */
static struct exp_estimate estimate_of(const struct exp_estimate *e, const char *why_not)
{
    return (struct exp_estimate){ .issue_cycles = exp_judge_number(e->issue_cycles, why_not),
                                  .total_cycles = exp_judge_number(e->total_cycles, why_not) };
}

void exp_judge_put_layer(const struct exp_judge_report *r, const struct exp_judge_model *model,
                         const struct exp_judgement *v)
{
    const struct exp_estimate *choice = &v->variant[v->chosen];
    const char *no_base = exp_judge_why_no_comparison(r), *no_estimate = r->why_no_estimate;
    ROW row = {
        .model = model->name,
        .layer_index = v->layer->index,
        .layer = v->layer->name,
        .is_pointwise = v->is_pointwise,
        .macs = conv_macs(&v->layer->problem),
        .chosen = exp_variant_at(v->chosen)->name,
        .base = estimate_of(&v->base, no_base),
        .choice = estimate_of(choice, no_estimate),
        .base_ms = exp_judge_ms_of(v->base.total_cycles, r->machine, no_base),
        .choice_ms = exp_judge_ms_of(choice->total_cycles, r->machine, no_estimate),
        .estimated_speedup = exp_judge_number(v->speedup, no_base),
        .issue_speedup = exp_judge_number(v->issue_speedup, no_base),
        .why_no_base = exp_judge_reason(no_base),
        .why_no_estimate = exp_judge_reason(no_estimate),
        .speedup = v->time[v->chosen].speedup,
        .why_not_timed = *model->why_not_timed ? model->why_not_timed : EXP_RATIO_NO_INTERVAL,
    };

    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        row.by[y] = by_yardstick(v, (enum exp_yardstick)y, exp_judge_why_not(r, (enum exp_yardstick)y));
    for (size_t i = 0; i < EXP_N_VARIANTS; i++) {
        row.predicted_cycles[i] = v->predicted_cycles[i];
        row.ns[i] = v->time[i].ns;
    }
    rec_put(r->layers, &exp_judge_layers_table, &row);
}

struct exp_judge_ms exp_judge_ms_of(double cycles, const struct sim_machine *m, const char *why_not)
{
    if (!why_not && !(m->issue.clock_ghz > 0))
        why_not = "the machine's file does not state clock_ghz";
    return (struct exp_judge_ms){ exp_judge_number(cycles / (m->issue.clock_ghz * 1e6), why_not),
                                  exp_judge_reason(why_not) };
}
