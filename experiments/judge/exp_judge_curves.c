/* ratios.csv and speedups.csv of a judgement, sorted for the figures: part of exp_judge_files.h. */
#include <errno.h>
#include <stdlib.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/judge/exp_judge_files.h"
#include "experiments/judge/exp_judge_paper.h"

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

/* A column sorts this number of each layer. */
struct curve {
    double (*of)(const struct exp_judgement *v, const struct curve *c);
    size_t variant; /* >= 1 */
    size_t column;
    bool only_pointwise;
};

/* Returns the values of the later variant over those of the first, by the prediction (column 0) or by a yardstick. */
static double layer_ratio(const struct exp_judgement *v, const struct curve *c)
{
    const double *value = c->column ? v->value[c->column - 1] : v->predicted_cycles;

    return value[c->variant] == value[0] ? 1 : value[c->variant] / value[0];
}

static double layer_speedup(const struct exp_judgement *v, const struct curve *c)
{
    return c->column ? v->issue_speedup : v->speedup;
}

/* Fills value[n] with a curve of the layers that belong, in ascending order. Returns n. */
static size_t sort_layers(const struct exp_judge_report *r, const struct curve *c, double *value)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_verdicts; i++) {
        if (!c->only_pointwise || r->verdict[i].is_pointwise)
            value[n++] = c->of(&r->verdict[i], c);
    }
    exp_stats_sort_up(value, n);
    return n;
}

static double rank_percent(size_t i, size_t n)
{
    return n > 1 ? 100 * (double)i / (double)(n - 1) : 50;
}

static void put_ratios(const struct exp_judge_report *r, struct exp_csv *csv, size_t variant, double *value)
{
    const size_t n = r->n_verdicts;

    for (size_t k = 0; k < 1 + EXP_N_YARDSTICKS; k++)
        sort_layers(r, &(struct curve){ .of = layer_ratio, .variant = variant, .column = k }, value + k * n);
    for (size_t i = 0; i < n; i++) {
        RATIO row = { exp_variant_at(variant)->name, rank_percent(i, n), .predicted_cycles = value[i] };

        for (unsigned y = 0; y < EXP_N_YARDSTICKS; y++) {
            const char *why_not = exp_judge_why_not(r, (enum exp_yardstick)y);

            row.of[y] = exp_judge_number(value[(1 + y) * n + i], why_not);
            row.why_not[y] = exp_judge_reason(why_not);
        }
        rec_put(csv, &exp_judge_ratios_table, &row);
    }
}

static void put_speedups(const struct exp_judge_report *r, struct exp_csv *csv, bool only_pointwise, double *value)
{
    struct curve waiting = { .of = layer_speedup, .only_pointwise = only_pointwise }, issued = waiting;
    size_t n = sort_layers(r, &waiting, value);

    issued.column = 1;
    sort_layers(r, &issued, value + n);
    for (size_t i = 0; i < n; i++) {
        const SPEEDUP row = { only_pointwise ? "pointwise" : "all", rank_percent(i, n), value[i], value[n + i] };

        rec_put(csv, &exp_judge_speedups_table, &row);
    }
}

static void put_all_ratios(const struct exp_judge_report *r, struct exp_csv *csv, double *value)
{
    for (size_t i = 1; i < EXP_N_VARIANTS; i++)
        put_ratios(r, csv, i, value);
}

static void put_all_speedups(const struct exp_judge_report *r, struct exp_csv *csv, double *value)
{
    if (exp_judge_why_no_comparison(r))
        return;
    put_speedups(r, csv, false, value);
    put_speedups(r, csv, true, value);
}

/* Writes a file of curves; `put` gets room for a value of each layer in each column of a file. */
static int write_curves(const struct exp_judge_report *r, const struct rec_table *t,
                        void (*put)(const struct exp_judge_report *r, struct exp_csv *csv, double *value),
                        const char *what, struct exp_why *why)
{
    double *value = malloc((r->n_verdicts + 1) * t->file.n_columns * sizeof *value);
    struct exp_csv *csv = NULL;
    int err = value ? exp_csv_create(&csv, r->dir, &t->file, what, why) : exp_fail(why, -ENOMEM, "out of memory");

    if (!err) {
        put(r, csv, value);
        err = exp_csv_close(csv, why);
    }
    free(value);
    return err;
}

int exp_judge_write_ratios(const struct exp_judge_report *r, const char *what, struct exp_why *why)
{
    return write_curves(r, &exp_judge_ratios_table, put_all_ratios, what, why);
}

int exp_judge_write_speedups(const struct exp_judge_report *r, const char *what, struct exp_why *why)
{
    return write_curves(r, &exp_judge_speedups_table, put_all_speedups, what, why);
}
