/* layers.csv of a judgement: part of exp_judge_files.h. */
#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_files.h"
#include "experiments/judge/exp_judge_paper.h"
#include "experiments/report/exp_cells.h"

/* clang-format off */
#define PREDICTED_COLUMN(variant, title, what, algo, predict, source, ...)                                             \
    { "predicted_" variant "_cycles", "cycles", "C_TOTAL, " what, source },

#define TIME_COLUMN(variant, title, what, ...)                                                                         \
    { "measured_" variant "_ns", "ns", "time on this machine, from make experiment; " what, "clock" },

#define VARIANT_COLUMN(variant, title, variant_is, algo, predict, source, name, unit, what)                            \
    { variant "_" name, unit, what "; " variant_is, "replay" },

#define VARIANT_NAME(variant, ...) variant ", "

#define YARDSTICK_COLUMNS(number, name, label, colour, unit, what)                                                     \
    EXP_EACH_VARIANT(VARIANT_COLUMN, name, unit, what)                                                                 \
    { "better_" name, "", "the schedule with less: " EXP_EACH_VARIANT(VARIANT_NAME, ) "equal", "replay" },             \
    { "regret_" name, unit, "what CSA's choice has more than the better schedule", "replay" },                         \
    { "regret_" name "_percent", "%", "of the better schedule", "replay" },

static const struct exp_csv_column layer_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    EXP_COLUMN_LAYER,
    EXP_COLUMN_POINTWISE,
    EXP_COLUMN_MACS,
    { "chosen", "", "CSA's choice: of the schedules in the names of the columns that follow", "predicted" },
    EXP_EACH_VARIANT(PREDICTED_COLUMN, )
    EXP_EACH_YARDSTICK(YARDSTICK_COLUMNS)
    { "base_issue_cycles", "cycles", "estimate: Base's instructions issued without waiting", "replay" },
    { "base_estimated_cycles", "cycles", "estimate: that, plus Eq. 6 with simulated loads", "replay" },
    { "chosen_issue_cycles", "cycles", "estimate: the same for SConv as CSA chose", "replay" },
    { "chosen_estimated_cycles", "cycles", "estimate", "replay" },
    { "base_estimated_ms", "ms", "estimated cycles at the machine's clock", "replay" },
    { "chosen_estimated_ms", "ms", "likewise", "replay" },
    { "estimated_speedup", "", "estimate: Base's cycles / those of SConv as CSA chose", "replay" },
    { "issue_speedup", "", "the same without waiting for loads: as if all hit L1", "replay" },
    EXP_EACH_VARIANT(TIME_COLUMN, )
    { "measured_speedup", "", "Base's time / that of SConv as CSA chose", "clock" },
    { "measured_speedup_low", "", "its interval, as in the experiment's layers.csv", "clock" },
    { "measured_speedup_high", "", "likewise", "clock" },
};
/* clang-format on */

const struct exp_csv_file exp_judge_layers_file = EXP_CSV_FILE("layers.csv", layer_columns);

/* Writes a number of a variant: <before>_<variant>_<after>. */
static void put_of(struct exp_csv *csv, const char *before, size_t variant, const char *after, double value,
                   const char *why_not)
{
    char column[64];

    exp_say(column, sizeof column, "%s_%s_%s", before, exp_variant_at(variant)->name, after);
    exp_csv_number(csv, column, value, why_not);
}

static void put_better(struct exp_csv *csv, const struct exp_judgement *v, enum exp_yardstick y, const char *why_not)
{
    char column[64];

    exp_say(column, sizeof column, "better_%s", exp_yardstick_name(y));
    if (why_not)
        exp_csv_missing(csv, column, why_not);
    else
        exp_csv_string(csv, column,
                       exp_judgement_is_tie(v, y) ? "equal" : exp_variant_at(exp_judgement_best(v, y))->name);
}

static void put_yardstick(const struct exp_judge_report *r, const struct exp_judgement *v, enum exp_yardstick y)
{
    const char *why_not = exp_judge_why_not(r, y);
    double regret = exp_judgement_regret(v, y), best = v->value[y][exp_judgement_best(v, y)];

    exp_judge_put_variants(r->layers, y, v->value[y], why_not);
    put_better(r->layers, v, y, why_not);
    exp_judge_put_by(r->layers, "regret_", y, "", regret, why_not);
    exp_judge_put_by(r->layers, "regret_", y, "_percent", regret > 0 ? 100 * regret / best : 0, why_not);
}

static void put_times(struct exp_csv *csv, const struct exp_judgement *v, const char *why_not)
{
    const struct exp_ratio *speedup = &v->time[v->chosen].speedup;

    why_not = *why_not ? why_not : EXP_RATIO_NO_INTERVAL;
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        put_of(csv, "measured", i, "ns", v->time[i].ns, why_not);
    exp_csv_number(csv, "measured_speedup", speedup->value, why_not);
    exp_csv_number(csv, "measured_speedup_low", speedup->low, why_not);
    exp_csv_number(csv, "measured_speedup_high", speedup->high, why_not);
}

void exp_judge_put_layer(const struct exp_judge_report *r, const struct exp_judge_model *model,
                         const struct exp_judgement *v)
{
    const struct exp_estimate *chosen = &v->variant[v->chosen];
    const char *no_base = exp_judge_why_no_comparison(r);
    struct exp_csv *csv = r->layers;

    exp_csv_string(csv, "model", model->name);
    exp_csv_u64(csv, "layer_index", v->layer->index);
    exp_csv_string(csv, "layer", v->layer->name);
    exp_csv_u64(csv, "pointwise", v->is_pointwise);
    exp_csv_double(csv, "macs", conv_macs(&v->layer->problem));
    exp_csv_string(csv, "chosen", exp_variant_at(v->chosen)->name);
    for (size_t i = 0; i < EXP_N_VARIANTS; i++)
        put_of(csv, "predicted", i, "cycles", v->predicted_cycles[i], "nothing predicts it");
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        put_yardstick(r, v, (enum exp_yardstick)y);
    exp_judge_put(csv, "base_issue_cycles", v->base.issue_cycles, no_base);
    exp_judge_put(csv, "base_estimated_cycles", v->base.total_cycles, no_base);
    exp_judge_put(csv, "chosen_issue_cycles", chosen->issue_cycles, r->why_no_estimate);
    exp_judge_put(csv, "chosen_estimated_cycles", chosen->total_cycles, r->why_no_estimate);
    exp_judge_put_ms(csv, "base_estimated_ms", v->base.total_cycles, r->machine, no_base);
    exp_judge_put_ms(csv, "chosen_estimated_ms", chosen->total_cycles, r->machine, r->why_no_estimate);
    exp_judge_put(csv, "estimated_speedup", v->speedup, no_base);
    exp_judge_put(csv, "issue_speedup", v->issue_speedup, no_base);
    put_times(csv, v, model->why_not_timed);
    exp_csv_end_row(csv);
}
