/* Targets, and the baselines beside them. */
#include "experiments/choices/targets.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/stats.h"
#include "experiments/bench/case/cycles.h"

#define BIT(contender) (1u << (contender))

static const double most_by_chance = 0.05;

/* Scores of trials in `score`: a trial stands at the index of its row; NaN: no trial, or no prediction. */
typedef void score_fn(const struct exp_taken *row, size_t n, const double *foretold, double *score);

static score_fn score_errors, score_sides, score_schedules, score_regrets, score_losses;

enum summary { MEDIAN, P90, RIGHT, MEAN, SHARE_OF_BEST };

static const struct {
    const char *name, *words;
    score_fn *score;
    enum summary summary;
    unsigned rivals; /* bits of baselines */
} targets[EXP_N_TARGETS] = {
    [EXP_TARGET_MEDIAN] = { "error_median", "error of cycles: median", score_errors, MEDIAN,
                            BIT(EXP_BY_FIT) | BIT(EXP_BY_CONSTANT) },
    [EXP_TARGET_P90] = { "error_p90", "error of cycles: p90", score_errors, P90,
                         BIT(EXP_BY_FIT) | BIT(EXP_BY_CONSTANT) },
    [EXP_TARGET_SIDE] = { "side_of_base", "side of Base right, over 3 %", score_sides, RIGHT,
                          BIT(EXP_BY_FIT) | BIT(EXP_ALWAYS_BASE) | BIT(EXP_NEVER_BASE) },
    [EXP_TARGET_SCHEDULE] = { "faster_schedule", "faster of IS and WS right, over 3 %", score_schedules, RIGHT,
                              BIT(EXP_BY_FIT) | BIT(EXP_ALWAYS_WS) | BIT(EXP_ALWAYS_IS) },
    [EXP_TARGET_REGRET] = { "regret_by_layer", "regret of the pick, by layer", score_regrets, MEAN,
                            BIT(EXP_BY_FIT) | BIT(EXP_ALWAYS_BASE) | BIT(EXP_ALWAYS_WS) | BIT(EXP_ALWAYS_IS) |
                                BIT(EXP_ALWAYS_TUNED) },
    [EXP_TARGET_REGRET_SUM] = { "regret_by_sum", "regret of the pick, by sum", score_losses, SHARE_OF_BEST,
                                BIT(EXP_BY_FIT) | BIT(EXP_ALWAYS_BASE) | BIT(EXP_ALWAYS_WS) | BIT(EXP_ALWAYS_IS) |
                                    BIT(EXP_ALWAYS_TUNED) },
};

static bool is_share(enum exp_target t)
{
    return targets[t].summary == RIGHT;
}

/* ---- scores ---- */

static void score_errors(const struct exp_taken *row, size_t n, const double *foretold, double *score)
{
    for (size_t i = 0; i < n; i++)
        score[i] = 100 * fabs(foretold[i] / row[i].taken - 1);
}

/* Returns the row of an algorithm in the layer of row i; n: there is none. */
static size_t row_by(const struct exp_taken *row, size_t n, size_t i, const char *algo)
{
    size_t first = i;

    while (first && row[first - 1].layer == row[i].layer)
        first--;
    for (; first < n && row[first].layer == row[i].layer; first++) {
        if (!strcmp(row[first].algo->name, algo))
            return first;
    }
    return n;
}

/* Scores a choice of two rows: 0 right, 1 wrong; NaN: the cycles hardly differ, or are not known. */
static double score_pair(const struct exp_taken *row, const double *foretold, size_t a, size_t b)
{
    const double ratio = row[a].taken / row[b].taken;

    if (isnan(ratio) || isnan(foretold[a]) || isnan(foretold[b]) ||
        (ratio <= EXP_CYCLES_TIE && ratio >= 1 / EXP_CYCLES_TIE))
        return (double)NAN;
    return (foretold[b] < foretold[a]) != (ratio > 1);
}

static void score_pairs(const struct exp_taken *row, size_t n, const double *foretold, double *score, const char *of,
                        const char *with)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_trial = of ? !strcmp(row[i].algo->name, of) : strcmp(row[i].algo->name, with) != 0;
        const size_t other = is_trial ? row_by(row, n, i, with) : n;

        score[i] = other < n ? score_pair(row, foretold, other, i) : (double)NAN;
    }
}

static void score_sides(const struct exp_taken *row, size_t n, const double *foretold, double *score)
{
    score_pairs(row, n, foretold, score, NULL, exp_algo_base()->name);
}

static void score_schedules(const struct exp_taken *row, size_t n, const double *foretold, double *score)
{
    score_pairs(row, n, foretold, score, "sconv_is", "sconv_ws");
}

/* Returns the cycles of the pick among rows first .. end - 1, and of the best row; NaN: a number is not known. */
static void pick(const struct exp_taken *row, const double *foretold, size_t first, size_t end, double *chosen,
                 double *best)
{
    double least = (double)INFINITY;

    *chosen = *best = (double)INFINITY;
    for (size_t i = first; i < end; i++) {
        if (isnan(foretold[i]) || isnan(row[i].taken)) {
            *chosen = *best = (double)NAN;
            return;
        }
        *chosen = foretold[i] < least ? row[i].taken : *chosen;
        least = fmin(least, foretold[i]);
        *best = fmin(*best, row[i].taken);
    }
}

/* Scores layers of two rows or more, at the first row. */
static void score_layers(const struct exp_taken *row, size_t n, const double *foretold, double *score, bool in_percent)
{
    for (size_t i = 0, end; i < n; i = end) {
        double chosen, best;

        for (end = i; end < n && row[end].layer == row[i].layer; end++)
            score[end] = (double)NAN;
        pick(row, foretold, i, end, &chosen, &best);
        if (end > i + 1)
            score[i] = in_percent ? 100 * (chosen / best - 1) : chosen - best;
    }
}

static void score_regrets(const struct exp_taken *row, size_t n, const double *foretold, double *score)
{
    score_layers(row, n, foretold, score, true);
}

static void score_losses(const struct exp_taken *row, size_t n, const double *foretold, double *score)
{
    score_layers(row, n, foretold, score, false);
}

/* ---- summaries ---- */

/* Returns the fewest cycles of the layer that begins at row i. */
static double best_of_layer(const struct exp_taken *row, size_t n, size_t i)
{
    double best = (double)INFINITY;

    for (size_t end = i; end < n && row[end].layer == row[i].layer; end++)
        best = fmin(best, row[end].taken);
    return best;
}

/* Sums up the scores of trials with a score in `beside`, too; *n_trials is their number. NaN without trials. */
static double sum_up(enum exp_target t, const struct exp_taken *row, size_t n, const double *score,
                     const double *beside, uint64_t *n_trials)
{
    double *of = exp_new(n + 1, sizeof *of), sum = 0, best = 0, is;
    struct exp_spread spread;
    size_t n_of = 0;

    for (size_t i = 0; i < n; i++) {
        if (isnan(score[i]) || isnan(beside[i]))
            continue;
        of[n_of++] = score[i];
        sum += score[i];
        best += targets[t].summary == SHARE_OF_BEST ? best_of_layer(row, n, i) : 1;
    }
    *n_trials = n_of;
    spread = exp_spread_of(of, n_of);
    free(of);
    is = targets[t].summary == MEDIAN          ? spread.median
         : targets[t].summary == P90           ? spread.p90
         : targets[t].summary == RIGHT         ? 100 * (1 - sum / best)
         : targets[t].summary == SHARE_OF_BEST ? 100 * sum / best
                                               : sum / best;
    return n_of ? is : (double)NAN;
}

double exp_sign_test(uint64_t n_better, uint64_t n_worse)
{
    const unsigned n = (unsigned)(n_better + n_worse);

    return n_better ? gsl_cdf_binomial_Q((unsigned)n_better - 1, 0.5, n) : 1;
}

/* Counts the votes of shapes: a shape votes once for each algorithm, by the majority of its trials. */
static void vote(const struct exp_taken *row, size_t n, const double *score, const double *rival,
                 struct exp_target_result *x)
{
    double *votes = exp_new(n + 1, sizeof *votes);

    x->n_better = x->n_worse = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(score[i]) && !isnan(rival[i]))
            votes[row[i].same] += (rival[i] > score[i]) - (rival[i] < score[i]);
    }
    for (size_t i = 0; i < n; i++) {
        x->n_better += votes[i] > 0;
        x->n_worse += votes[i] < 0;
    }
    free(votes);
    x->p = value_of(exp_sign_test(x->n_better, x->n_worse));
}

/* ---- judging ---- */

struct judged {
    const struct exp_taken *row;
    size_t n;
    double *foretold[EXP_N_FORETELLERS], *score[EXP_N_FORETELLERS];
};

static bool is_better(enum exp_target t, double a, double b)
{
    return isnan(b) || (is_share(t) ? a > b : a < b);
}

/* Finds the best baseline. Returns EXP_BY_SIMULATION if none foretells. */
static enum exp_foreteller find_rival(const struct judged *j, enum exp_target t, double *is)
{
    const double *own = j->score[EXP_BY_SIMULATION];
    enum exp_foreteller best = EXP_BY_SIMULATION;
    uint64_t n;

    *is = (double)NAN;
    for (enum exp_foreteller c = 0; c < EXP_N_FORETELLERS; c++) {
        double of = targets[t].rivals & BIT(c) ? sum_up(t, j->row, j->n, j->score[c], own, &n) : (double)NAN;

        if (isnan(of) || !is_better(t, of, *is))
            continue;
        *is = of;
        best = c;
    }
    return best;
}

static const char *reached(enum exp_target t, const struct exp_target_result *x)
{
    const double sign = is_share(t) ? -1 : 1, is = sign * x->is.number;

    if (x->is.why)
        return "not compared";
    if (x->at_least.why)
        return "no target";
    if (is > sign * x->at_least.number)
        return "no";
    if (x->rival && !(x->n_better > x->n_worse && x->p.number < most_by_chance))
        return "no: no better than the baseline";
    return is <= sign * x->aim.number ? "aim" : "at least";
}

static struct value bound_of(double bound, double over, const struct exp_target_result *x, bool has_share)
{
    const double least = has_share && over > 0 && !x->rival_is.why ? fmin(x->rival_is.number + over, 100) : 0;

    return bound > 0 || least > 0 ? value_of(fmax(bound, least)) : value_none(REC_DOES_NOT_APPLY);
}

static void judge(const struct judged *j, enum exp_target t, const struct exp_bound *bound, struct exp_target_result *x)
{
    const double *own = j->score[EXP_BY_SIMULATION], *equals = j->score[EXP_BY_EQUALS];
    enum exp_foreteller rival;
    uint64_t ignored;
    double is;

    for (enum exp_foreteller c = 0; c < EXP_N_FORETELLERS; c++)
        targets[t].score(j->row, j->n, j->foretold[c], j->score[c]);
    *x = (struct exp_target_result){ .name = targets[t].name, .words = targets[t].words };
    x->is = value_if_finite(sum_up(t, j->row, j->n, own, own, &x->n), REC_DOES_NOT_APPLY);
    rival = find_rival(j, t, &is);
    x->rival_is = value_if_finite(is, REC_DOES_NOT_APPLY);
    x->p = value_none(REC_DOES_NOT_APPLY);
    if (rival != EXP_BY_SIMULATION) {
        x->rival = exp_foreteller_words(rival);
        vote(j->row, j->n, own, j->score[rival], x);
    }
    x->equals = value_if_finite(sum_up(t, j->row, j->n, equals, own, &x->n_equals), REC_DOES_NOT_APPLY);
    x->beside = value_if_finite(sum_up(t, j->row, j->n, own, equals, &ignored), REC_DOES_NOT_APPLY);
    x->at_least = bound_of(bound->at_least, bound->over, x, is_share(t));
    x->aim = bound_of(bound->aim, bound->over_aim, x, is_share(t));
    x->reached = reached(t, x);
}

void exp_targets_judge(const struct exp_taken *row, size_t n, const struct exp_bound bound[EXP_N_TARGETS],
                       struct exp_target_result result[EXP_N_TARGETS])
{
    struct judged j = { .row = row, .n = n };

    assert((row || !n) && bound && result);
    for (enum exp_foreteller c = 0; c < EXP_N_FORETELLERS; c++) {
        j.foretold[c] = exp_new(n + 1, sizeof(double));
        j.score[c] = exp_new(n + 1, sizeof(double));
        exp_foretell(row, n, c, j.foretold[c]);
    }
    for (enum exp_target t = 0; t < EXP_N_TARGETS; t++)
        judge(&j, t, &bound[t], &result[t]);
    for (enum exp_foreteller c = 0; c < EXP_N_FORETELLERS; c++) {
        free(j.foretold[c]);
        free(j.score[c]);
    }
}

/* ---- for people, and as a table ---- */

static void print_percent(struct value v, FILE *out)
{
    if (v.why)
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %6.1f %%", v.number);
}

void exp_targets_print(const struct exp_target_result result[EXP_N_TARGETS], FILE *out)
{
    assert(result && out);
    fprintf(out, "%-36s %8s %8s %8s %6s | %-25s %8s %6s %6s %7s | %8s %8s %s\n", "target", "at least", "aim", "is",
            "of", "best baseline", "is", "better", "worse", "p", "equals", "beside", "reached");
    for (const struct exp_target_result *x = result; x < result + EXP_N_TARGETS; x++) {
        fprintf(out, "%-36s", x->words);
        print_percent(x->at_least, out);
        print_percent(x->aim, out);
        print_percent(x->is, out);
        fprintf(out, " %6" PRIu64 " | %-25s", x->n, x->rival ? x->rival : "-");
        print_percent(x->rival_is, out);
        fprintf(out, " %6" PRIu64 " %6" PRIu64, x->n_better, x->n_worse);
        if (x->p.why)
            fprintf(out, " %7s |", "-");
        else
            fprintf(out, " %7.2g |", x->p.number);
        print_percent(x->equals, out);
        print_percent(x->beside, out);
        fprintf(out, " %s\n", x->reached);
    }
    fprintf(out,
            "better, worse: shapes, by algorithm, where the simulation is the better one, or the baseline. The fit has "
            "multiply-adds, loads, stores and a constant, fitted to other shapes.%s\n",
            result->n_equals
                ? " equals: what equal convolutions foretell of one another; beside: the simulation on the same."
                : "");
}

static const struct rec_field fields[] = {
    { { "target", "", "errors of rows; right sides of pairs; what the picks of the simulation cost", "" },
      REC_AT(struct exp_target_result, name) },
    { { "at_least_percent", "%", "what is to be reached", "" }, REC_VALUE(struct exp_target_result, at_least) },
    { { "aim_percent", "%", "what is aimed at", "" }, REC_VALUE(struct exp_target_result, aim) },
    { { "percent", "%", "what the simulation reaches", "" }, REC_VALUE(struct exp_target_result, is) },
    { { "of", "", "rows, pairs or layers", "" }, REC_AT(struct exp_target_result, n) },
    { { "baseline", "", "the best prediction without a simulation of caches", "" },
      REC_AT(struct exp_target_result, rival) },
    { { "baseline_percent", "%", "what the baseline reaches, on the same", "" },
      REC_VALUE(struct exp_target_result, rival_is) },
    { { "better", "", "shapes and algorithms where the simulation is better than the baseline", "" },
      REC_AT(struct exp_target_result, n_better) },
    { { "worse", "", "shapes and algorithms where the baseline is better", "" },
      REC_AT(struct exp_target_result, n_worse) },
    { { "p", "", "how likely so many are better by chance: sign test", "" }, REC_VALUE(struct exp_target_result, p) },
    { { "equals_percent", "%", "what equal convolutions reach that foretell one another", "" },
      REC_VALUE(struct exp_target_result, equals) },
    { { "beside_equals_percent", "%", "what the simulation reaches on the rows, pairs or layers of equals", "" },
      REC_VALUE(struct exp_target_result, beside) },
    { { "equals_of", "", "rows, pairs or layers with equals", "" }, REC_AT(struct exp_target_result, n_equals) },
    { { "reached", "",
        "aim or at least: the bound holds, and the baseline is beaten by more than chance; no; not compared; no target",
        "" },
      REC_AT(struct exp_target_result, reached) },
};

const struct rec_table exp_baselines_table = REC_TABLE(EXP_BASELINES_FILE, fields, struct exp_target_result);
const struct rec_table exp_target_table = REC_TABLE("targets.csv", fields, struct exp_target_result);
