#include "experiments/judge/exp_judge_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/judge/exp_judge_paper.h"
#include "experiments/base/exp_stats.h"
#include "experiments/report/exp_cells.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* clang-format off */
#define EACH_YARDSTICK(COLUMNS)                                                                                        \
    COLUMNS("l1_l2_lines", "lines", "lines that cross between L1 and L2, both ways"),                                  \
    COLUMNS("l2_l3_lines", "lines", "lines that cross between L2 and L3, both ways"),                                  \
    COLUMNS("l3_memory_lines", "lines", "lines that cross between L3 and memory, both ways"),                          \
    COLUMNS("eq6_cycles", "cycles", "SConv Eq. 6 with simulated loads"),                                               \
    COLUMNS("estimated_cycles", "cycles", "estimate: cycles to issue all instructions, plus Eq. 6")

#define LAYER_COLUMNS(name, unit, what)                                                                                \
    { "is_" name, unit, what "; input stationary", "replay" },                                                         \
    { "ws_" name, unit, what "; weight stationary", "replay" },                                                        \
    { "better_" name, "", "the schedule with less: is, ws, equal", "replay" },                                         \
    { "regret_" name, unit, "what CSA's choice has more than the better schedule", "replay" },                         \
    { "regret_" name "_percent", "%", "of the better schedule", "replay" }

#define MODEL_COLUMNS(name, unit, what)                                                                                \
    { "right_" name "_layers", "layers", "where CSA's choice is not the worse one", "replay" },                        \
    { "equal_" name "_layers", "layers", "of those, where both schedules are the same", "replay" },                    \
    { "is_" name, unit, what "; every layer input stationary", "replay" },                                             \
    { "ws_" name, unit, what "; every layer weight stationary", "replay" },                                            \
    { "chosen_" name, unit, "every layer as CSA chose", "replay" },                                                    \
    { "best_" name, unit, "every layer as is better for it", "replay" },                                               \
    { "regret_" name "_percent", "%", "chosen over best, less 100 %", "replay" }

static const struct exp_csv_column layer_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    EXP_COLUMN_LAYER,
    EXP_COLUMN_POINTWISE,
    EXP_COLUMN_MACS,
    { "chosen", "", "CSA's choice: is or ws", "predicted" },
    { "predicted_is_cycles", "cycles", "C_TOTAL, input stationary", "SConv Eq. 6" },
    { "predicted_ws_cycles", "cycles", "C_TOTAL, weight stationary", "SConv Eq. 6" },
    EACH_YARDSTICK(LAYER_COLUMNS),
    { "base_issue_cycles", "cycles", "estimate: Base's instructions issued without waiting", "replay" },
    { "base_estimated_cycles", "cycles", "estimate: that, plus Eq. 6 with simulated loads", "replay" },
    { "chosen_issue_cycles", "cycles", "estimate: the same for SConv as CSA chose", "replay" },
    { "chosen_estimated_cycles", "cycles", "estimate", "replay" },
    { "base_estimated_ms", "ms", "estimated cycles at the machine's clock", "replay" },
    { "chosen_estimated_ms", "ms", "likewise", "replay" },
    { "estimated_speedup", "", "estimate: Base's cycles / those of SConv as CSA chose", "replay" },
    { "issue_speedup", "", "the same without waiting for loads: as if all hit L1", "replay" },
    { "measured_is_ns", "ns", "time of SConv, input stationary, on this machine; from make experiment", "clock" },
    { "measured_ws_ns", "ns", "the same, weight stationary", "clock" },
    { "measured_speedup", "", "Base's time / that of SConv as CSA chose", "clock" },
    { "measured_speedup_low", "", "its interval, as in the experiment's layers.csv", "clock" },
    { "measured_speedup_high", "", "likewise", "clock" },
};

static const struct exp_csv_column model_columns[] = {
    { "model", "", "name of the layer table; all: sums, except for speed-ups: geometric means over the models", "" },
    { "layers", "", "convolutions", "" },
    { "chosen_is_layers", "layers", "where CSA chose input stationary", "predicted" },
    EACH_YARDSTICK(MODEL_COLUMNS),
    { "base_estimated_ms", "ms", "estimate: Base, all layers", "replay" },
    { "chosen_estimated_ms", "ms", "estimate: SConv as CSA chose, all layers", "replay" },
    { "base_packing_percent", "%", "of Base's estimate: im2col and packing", "replay" },
    { "chosen_packing_percent", "%", "of SConv's: packing", "replay" },
    { "estimated_speedup", "", "estimate: Base over SConv, with loads that wait", "replay" },
    { "issue_speedup", "", "the same without waiting for loads", "replay" },
    { "measured_layers", "layers", "timed on this machine by make experiment, with Base and both schedules", "clock" },
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

static const struct exp_csv_column ratio_columns[] = {
    { "rank_percent", "%", "position among the layers, each yardstick sorted on its own", "" },
    { "predicted_cycles", "", "WS / IS: Eq. 6 as CSA predicts it", "SConv Eq. 6" },
    { "l1_l2_lines", "", "WS / IS, as in layers.csv", "replay" },
    { "l2_l3_lines", "", "WS / IS", "replay" },
    { "l3_memory_lines", "", "WS / IS", "replay" },
    { "eq6_cycles", "", "WS / IS", "replay" },
    { "estimated_cycles", "", "WS / IS", "replay" },
};

static const struct exp_csv_column speedup_columns[] = {
    { "layers", "", "all, or pointwise", "" },
    { "rank_percent", "%", "position among them, each column sorted on its own", "" },
    { "estimated_speedup", "", "as in layers.csv", "replay" },
    { "issue_speedup", "", "as in layers.csv", "replay" },
};
/* clang-format on */

static const struct exp_csv_file layers_file = EXP_CSV_FILE("layers.csv", layer_columns);
static const struct exp_csv_file models_file = EXP_CSV_FILE("models.csv", model_columns);
static const struct exp_csv_file ratios_file = EXP_CSV_FILE("ratios.csv", ratio_columns);
static const struct exp_csv_file speedups_file = EXP_CSV_FILE("speedups.csv", speedup_columns);

int exp_judge_report_open(struct exp_judge_report *r, const struct exp_outdir *dir, const char *experiments_dir,
                          const char *what, char *why, size_t why_bytes)
{
    int err = exp_published_read(&r->published, experiments_dir, why, why_bytes);

    r->dir = dir;
    r->experiments_dir = experiments_dir;
    return err ? err : exp_csv_create(&r->layers, dir, &layers_file, what, why, why_bytes);
}

void exp_judge_report_release(struct exp_judge_report *r)
{
    exp_csv_close(r->layers, NULL, 0);
    exp_published_release(&r->published);
    free(r->model);
    free(r->verdict);
    *r = (struct exp_judge_report){ 0 };
}

/* ---- cells ---- */

static void put(struct exp_csv *csv, const char *column, double value, const char *why_not)
{
    exp_csv_number(csv, column, why_not ? (double)NAN : value, why_not ? why_not : "the better schedule moves nothing");
}

static void put_named(struct exp_csv *csv, const char *before, enum exp_yardstick y, const char *after, double value,
                      const char *why_not)
{
    char column[64];

    snprintf(column, sizeof column, "%s%s%s", before, exp_yardstick_name(y), after);
    put(csv, column, value, why_not);
}

static void put_ms(struct exp_csv *csv, const char *column, double cycles, const struct sim_machine *m,
                   const char *reason)
{
    if (!reason && !(m->issue.clock_ghz > 0))
        reason = "the machine's file does not state clock_ghz";
    put(csv, column, cycles / (m->issue.clock_ghz * 1e6), reason);
}

/* ---- layers.csv ---- */

static void put_yardstick(const struct exp_judge_report *r, const struct exp_judgement *v, enum exp_yardstick y)
{
    const char *reason = exp_judge_why_not(r, y);
    double is = v->value[y][CSA_IS], ws = v->value[y][CSA_WS], regret = exp_judgement_regret(v, y);
    char column[64];

    put_named(r->layers, "is_", y, "", is, reason);
    put_named(r->layers, "ws_", y, "", ws, reason);
    snprintf(column, sizeof column, "better_%s", exp_yardstick_name(y));
    if (reason)
        exp_csv_missing(r->layers, column, reason);
    else
        exp_csv_string(r->layers, column, is == ws ? "equal" : csa_schedule_name(ws < is ? CSA_WS : CSA_IS));
    put_named(r->layers, "regret_", y, "", regret, reason);
    put_named(r->layers, "regret_", y, "_percent", regret > 0 ? 100 * regret / (is < ws ? is : ws) : 0, reason);
}

static void put_times(struct exp_csv *csv, const struct exp_judgement *v, const char *why_not)
{
    const struct exp_ratio *speedup = &v->time[v->chosen].speedup;

    why_not = *why_not ? why_not : EXP_RATIO_NO_INTERVAL;
    exp_csv_number(csv, "measured_is_ns", v->time[CSA_IS].ns, why_not);
    exp_csv_number(csv, "measured_ws_ns", v->time[CSA_WS].ns, why_not);
    exp_csv_number(csv, "measured_speedup", speedup->value, why_not);
    exp_csv_number(csv, "measured_speedup_low", speedup->low, why_not);
    exp_csv_number(csv, "measured_speedup_high", speedup->high, why_not);
}

static void put_layer(const struct exp_judge_report *r, const struct exp_judge_model *model,
                      const struct exp_judgement *v)
{
    const struct exp_estimate *chosen = &v->schedule[v->chosen];
    const char *no_base = exp_judge_why_no_comparison(r);
    struct exp_csv *csv = r->layers;

    exp_csv_string(csv, "model", model->name);
    exp_csv_u64(csv, "layer_index", v->layer->index);
    exp_csv_string(csv, "layer", v->layer->name);
    exp_csv_u64(csv, "pointwise", v->is_pointwise);
    exp_csv_double(csv, "macs", conv_macs(&v->layer->problem));
    exp_csv_string(csv, "chosen", csa_schedule_name(v->chosen));
    exp_csv_double(csv, "predicted_is_cycles", v->predicted_cycles[CSA_IS]);
    exp_csv_double(csv, "predicted_ws_cycles", v->predicted_cycles[CSA_WS]);
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        put_yardstick(r, v, (enum exp_yardstick)y);
    put(csv, "base_issue_cycles", v->base.issue_cycles, no_base);
    put(csv, "base_estimated_cycles", v->base.total_cycles, no_base);
    put(csv, "chosen_issue_cycles", chosen->issue_cycles, r->why_no_estimate);
    put(csv, "chosen_estimated_cycles", chosen->total_cycles, r->why_no_estimate);
    put_ms(csv, "base_estimated_ms", v->base.total_cycles, r->machine, no_base);
    put_ms(csv, "chosen_estimated_ms", chosen->total_cycles, r->machine, r->why_no_estimate);
    put(csv, "estimated_speedup", v->speedup, no_base);
    put(csv, "issue_speedup", v->issue_speedup, no_base);
    put_times(csv, v, model->why_not_timed);
    exp_csv_end_row(csv);
}

/* Makes room for one more element of an array that grows. */
static int grow(void **array, size_t n, size_t *max, size_t element_bytes, char *why, size_t why_bytes)
{
    size_t more = *max ? 2 * *max : 16;
    void *larger;

    if (n < *max)
        return 0;
    larger = realloc(*array, more * element_bytes);
    if (!larger)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    *array = larger;
    *max = more;
    return 0;
}

/* Appends a model without layers. */
static int add_model(struct exp_judge_report *r, const char *name, char *why, size_t why_bytes)
{
    void *model = r->model;
    int err = grow(&model, r->n_models, &r->max_models, sizeof *r->model, why, why_bytes);

    r->model = model;
    if (!err)
        r->model[r->n_models++] = (struct exp_judge_model){ .name = name };
    return err;
}

/* Judges one layer, with its times if there are any. */
static int add_layer(struct exp_judge_report *r, const struct exp_experiment *e, size_t layer,
                     const struct exp_judge_measured *times, enum exp_cache_state caches, char *why, size_t why_bytes)
{
    void *verdict = r->verdict;
    int err = grow(&verdict, r->n_verdicts, &r->max_verdicts, sizeof *r->verdict, why, why_bytes);
    struct exp_judgement *v;

    r->verdict = verdict;
    if (err)
        return err;
    v = &r->verdict[r->n_verdicts++];
    exp_judge(v, e, layer);
    exp_judge_look_up(v, e, layer, times, caches);
    return 0;
}

/* Sums up the layers that a model has, from first_verdict on. */
static int sum_up(struct exp_judge_report *r, struct exp_judge_model *model, char *why, size_t why_bytes)
{
    const struct exp_judgement *v = &r->verdict[model->first_verdict];
    int err;

    model->n_verdicts = r->n_verdicts - model->first_verdict;
    for (size_t i = 0; i < model->n_verdicts; i++)
        exp_judge_add(&model->total, &v[i]);
    err = exp_judge_clock_of(&model->clock, v, model->n_verdicts);
    if (!err && model->clock.n_timed < model->n_verdicts && !*model->why_not_timed)
        exp_say(model->why_not_timed, sizeof model->why_not_timed,
                "make experiment left no times for %zu of %zu layers with this machine's caches and micro-kernel",
                model->n_verdicts - model->clock.n_timed, model->n_verdicts);
    return err ? exp_fail(why, why_bytes, err, "out of memory") : 0;
}

int exp_judge_report_model(struct exp_judge_report *r, const struct exp_experiment *e, enum exp_cache_state caches,
                           const char *times_path, const char *why_no_times, char *why, size_t why_bytes)
{
    struct exp_judge_measured times = { 0 };
    int err = add_model(r, e->model->name, why, why_bytes);
    struct exp_judge_model *model = err ? NULL : &r->model[r->n_models - 1];

    if (err)
        return err;
    model->first_verdict = r->n_verdicts;
    if (times_path)
        exp_judge_measured_read(&times, times_path, model->why_not_timed, sizeof model->why_not_timed);
    else
        exp_say(model->why_not_timed, sizeof model->why_not_timed, "%s", why_no_times);
    for (size_t l = 0; l < e->model->n_layers && !err; l++)
        err = add_layer(r, e, l, &times, caches, why, why_bytes);
    exp_judge_measured_release(&times);
    if (!err)
        err = sum_up(r, model, why, why_bytes);
    if (err)
        return err;
    for (size_t i = 0; i < model->n_verdicts; i++)
        put_layer(r, model, &r->verdict[model->first_verdict + i]);
    model->speedup = model->total.base.total_cycles / model->total.chosen.total_cycles;
    model->issue_speedup = model->total.base.issue_cycles / model->total.chosen.issue_cycles;
    return 0;
}

/* ---- models.csv ---- */

/* A number of the paper's figure a (x86) or b (POWER10), which are about all models. */
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

    put_named(csv, "right_", y, "_layers", (double)s->n_right, reason);
    put_named(csv, "equal_", y, "_layers", (double)s->n_equal, reason);
    put_named(csv, "is_", y, "", s->schedule[CSA_IS], reason);
    put_named(csv, "ws_", y, "", s->schedule[CSA_WS], reason);
    put_named(csv, "chosen_", y, "", s->chosen, reason);
    put_named(csv, "best_", y, "", s->best, reason);
    put_named(csv, "regret_", y, "_percent", exp_judge_regret_percent(s), reason);
}

static void put_pointwise(struct exp_csv *csv, const char *column, const struct exp_judge_total *t, double value,
                          const char *reason)
{
    put(csv, column, value, reason ? reason : t->n_pointwise ? NULL : "no pointwise layers");
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

static void put_model(const struct exp_judge_report *r, struct exp_csv *csv, const struct exp_judge_model *model)
{
    const struct exp_judge_total *t = &model->total;
    const char *no = exp_judge_why_no_comparison(r);

    exp_csv_string(csv, "model", model->name);
    exp_csv_u64(csv, "layers", t->n_layers);
    exp_csv_u64(csv, "chosen_is_layers", t->n_chosen[CSA_IS]);
    for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++)
        put_sum(r, csv, &t->sum[y], (enum exp_yardstick)y);
    put_ms(csv, "base_estimated_ms", t->base.total_cycles, r->machine, no);
    put_ms(csv, "chosen_estimated_ms", t->chosen.total_cycles, r->machine, r->why_no_estimate);
    put(csv, "base_packing_percent", 100 * t->base.packing_cycles / t->base.total_cycles, no);
    put(csv, "chosen_packing_percent", 100 * t->chosen.packing_cycles / t->chosen.total_cycles, r->why_no_estimate);
    put(csv, "estimated_speedup", model->speedup, no);
    put(csv, "issue_speedup", model->issue_speedup, no);
    put_clock(r, csv, model);
    if (isnan(exp_judge_paper_speedup(r, model)))
        exp_csv_empty(csv, "paper_speedup");
    else
        exp_csv_double(csv, "paper_speedup", exp_judge_paper_speedup(r, model));
    put(csv, "won_percent", exp_judge_percent(t->n_won, t->n_layers), no);
    put_published(r, csv, model, "paper_won_percent", "Figure 8", "all", "conv_wins_percent");
    put(csv, "max_speedup", t->max_speedup, no);
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

static int write_models(const struct exp_judge_report *r, const char *what, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &models_file, what, why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->n_models; i++)
        put_model(r, csv, &r->model[i]);
    return exp_csv_close(csv, why, why_bytes);
}

/* Geometric means of the models' speed-ups, as the paper's Table 2 has them. */
static int add_all(struct exp_judge_report *r, char *why, size_t why_bytes)
{
    double logs = 0, issue_logs = 0;
    size_t n = r->n_models;
    int err = add_model(r, "all", why, why_bytes);

    if (err)
        return err;
    if (!r->model[0].clock.n_timed)
        memcpy(r->model[n].why_not_timed, r->model[0].why_not_timed, sizeof r->model[n].why_not_timed);
    err = sum_up(r, &r->model[n], why, why_bytes);
    for (size_t i = 0; i < n && !err; i++) {
        logs += log(r->model[i].speedup);
        issue_logs += log(r->model[i].issue_speedup);
    }
    r->model[n].speedup = exp(logs / (double)n);
    r->model[n].issue_speedup = exp(issue_logs / (double)n);
    return err;
}

/* ---- sorted, for figures ---- */

static double ratio(double ws, double is)
{
    return ws == is ? 1 : ws / is;
}

static double layer_ratio(const struct exp_judgement *v, size_t column)
{
    const double *value = column ? v->value[column - 1] : v->predicted_cycles;

    return ratio(value[CSA_WS], value[CSA_IS]);
}

static double layer_speedup(const struct exp_judgement *v, size_t column)
{
    return column ? v->issue_speedup : v->speedup;
}

/* Fills value[n] with what f says of the layers that belong, in ascending order. Returns n. */
static size_t sort_layers(const struct exp_judge_report *r, double (*f)(const struct exp_judgement *v, size_t column),
                          size_t column, bool only_pointwise, double *value)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_verdicts; i++) {
        if (!only_pointwise || r->verdict[i].is_pointwise)
            value[n++] = f(&r->verdict[i], column);
    }
    exp_stats_sort_up(value, n);
    return n;
}

static double rank_percent(size_t i, size_t n)
{
    return n > 1 ? 100 * (double)i / (double)(n - 1) : 50;
}

static int write_ratios(const struct exp_judge_report *r, double *value, const char *what, char *why, size_t why_bytes)
{
    size_t n_columns = N_OF(ratio_columns) - 1, n = r->n_verdicts;
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &ratios_file, what, why, why_bytes);

    if (err)
        return err;
    for (size_t c = 0; c < n_columns; c++)
        sort_layers(r, layer_ratio, c, false, value + c * n);
    for (size_t i = 0; i < n; i++) {
        exp_csv_double(csv, "rank_percent", rank_percent(i, n));
        for (size_t c = 0; c < n_columns; c++)
            put(csv, ratio_columns[c + 1].name, value[c * n + i],
                c == EXP_ESTIMATED_CYCLES + 1 ? r->why_no_estimate : NULL);
        exp_csv_end_row(csv);
    }
    return exp_csv_close(csv, why, why_bytes);
}

static int write_speedups(const struct exp_judge_report *r, double *value, const char *what, char *why,
                          size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, r->dir, &speedups_file, what, why, why_bytes);

    if (err)
        return err;
    for (int only_pointwise = 0; only_pointwise < 2 && !exp_judge_why_no_comparison(r); only_pointwise++) {
        size_t n = sort_layers(r, layer_speedup, 0, only_pointwise, value);

        sort_layers(r, layer_speedup, 1, only_pointwise, value + n);
        for (size_t i = 0; i < n; i++) {
            exp_csv_string(csv, "layers", only_pointwise ? "pointwise" : "all");
            exp_csv_double(csv, "rank_percent", rank_percent(i, n));
            exp_csv_double(csv, "estimated_speedup", value[i]);
            exp_csv_double(csv, "issue_speedup", value[n + i]);
            exp_csv_end_row(csv);
        }
    }
    return exp_csv_close(csv, why, why_bytes);
}

int exp_judge_report_finish(struct exp_judge_report *r, const char *what, char *why, size_t why_bytes)
{
    double *value = malloc((r->n_verdicts + 1) * N_OF(ratio_columns) * sizeof *value);
    int err = value ? add_all(r, why, why_bytes) : exp_fail(why, why_bytes, -ENOMEM, "out of memory");

    if (!err)
        err = write_models(r, what, why, why_bytes);
    if (!err)
        err = write_ratios(r, value, what, why, why_bytes);
    if (!err)
        err = write_speedups(r, value, what, why, why_bytes);
    free(value);
    if (err)
        return err;
    err = exp_csv_close(r->layers, why, why_bytes);
    r->layers = NULL;
    return err;
}

/* ---- documentation ---- */

void exp_judge_report_document(FILE *out)
{
    const struct exp_csv_file *const files[] = { &layers_file, &models_file, &ratios_file, &speedups_file };

    for (size_t i = 0; i < N_OF(files); i++)
        exp_csv_document(files[i], out);
}
