#include "experiments/validate/exp_validate_targets.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"

/*
 * Says what a target is about: the error of the sums, that of the median layer, or the ratio of Base's sum to SConv's.
 */
enum kind { SUM, MEDIAN_LAYER, BASE_RATIO };

static const struct target {
    enum kind kind;
    const char *quantity;
    double at_least, aim; /* errors in percent; BASE_RATIO: at least the right side of 1, the aim in percent */
} targets[] = {
    { SUM, "loads", 2, 1 },
    { SUM, "stores", 5, 2 },
    { SUM, "l1_lines_in", 7, 3 },
    { MEDIAN_LAYER, "l1_lines_in", 8, 4 },
    { SUM, "l1_lines_in_by_demand", 20, 10 },
    { MEDIAN_LAYER, "l1_lines_in_by_demand", 25, 15 },
    { SUM, "l2_lines_in", 25, 15 },
    { SUM, "memory_lines_in", 20, 10 },
    { BASE_RATIO, "l1_lines_in_by_demand", NAN, 10 },
    { BASE_RATIO, "l1_lines_in", NAN, 10 },
};

enum { N_TARGETS = sizeof targets / sizeof targets[0] };

static const char *const kind_names[] = {
    [SUM] = "sum",
    [MEDIAN_LAYER] = "median layer",
    [BASE_RATIO] = "Base / SConv",
};

struct result {
    double together;                      /* all algorithms; BASE_RATIO: NaN */
    double worst;                         /* of one algorithm, in size; BASE_RATIO: of one algorithm and model */
    const char *worst_algo, *worst_model; /* NULL: nothing was compared */
    size_t n_ratios, n_right;             /* BASE_RATIO: pairs of model and algorithm; on the measured side of 1 */
};

/* ---- finding ---- */

static double error_of(const struct exp_agreement *a, enum kind kind)
{
    return !a->n ? (double)NAN : kind == SUM ? a->percent : a->median_size;
}

static void note(struct result *x, double error, const char *algo, const char *model)
{
    if (isnan(error) || fabs(error) < fabs(x->worst))
        return;
    x->worst = error;
    x->worst_algo = algo;
    x->worst_model = model;
}

static int find_errors(struct result *x, const struct target *t, const struct exp_agreement_report *r, enum exp_view v)
{
    const size_t q = ctr_quantity_index(t->quantity);
    struct exp_agreement a;
    int err = exp_agreement_of(&a, r->points, &(struct exp_selection){ NULL, NULL }, q, v);

    if (!err)
        x->together = error_of(&a, t->kind);
    for (size_t i = 0; i < EXP_N_ALGOS && !err; i++) {
        const struct exp_selection of = { NULL, exp_algo_at(i)->name };

        err = exp_agreement_of(&a, r->points, &of, q, v);
        if (!err)
            note(x, error_of(&a, t->kind), of.algo, NULL);
    }
    return err;
}

static int find_ratio(struct result *x, const struct exp_selection *of, size_t q, const struct exp_points *points,
                      enum exp_view v)
{
    struct exp_agreement_ratio ratio;
    int err = exp_agreement_ratio_of(&ratio, points, of, q, v);

    if (err || !ratio.n)
        return err;
    x->n_ratios++;
    x->n_right += (ratio.measured > 1) == (ratio.simulated > 1);
    note(x, 100 * (ratio.simulated / ratio.measured - 1), of->algo, of->model);
    return 0;
}

static int find_ratios(struct result *x, const struct target *t, const struct exp_agreement_report *r, enum exp_view v)
{
    int err = 0;

    for (size_t m = 0; m < r->n_models; m++) {
        for (size_t a = 1; a < EXP_N_ALGOS && !err; a++) {
            const struct exp_selection of = { r->model[m], exp_algo_at(a)->name };

            err = find_ratio(x, &of, ctr_quantity_index(t->quantity), r->points, v);
        }
    }
    return err;
}

static int find(struct result *x, const struct target *t, const struct exp_agreement_report *r, enum exp_view v)
{
    *x = (struct result){ .together = (double)NAN };
    return t->kind == BASE_RATIO ? find_ratios(x, t, r, v) : find_errors(x, t, r, v);
}

static const char *reached(const struct result *x, const struct target *t)
{
    bool least = t->kind == BASE_RATIO ? x->n_right == x->n_ratios : fabs(x->worst) <= t->at_least;

    if (!x->worst_algo)
        return "not compared";
    return !least ? "no" : fabs(x->worst) <= t->aim ? "aim" : "at least";
}

/* ---- for people ---- */

static void print_goal(const struct target *t, FILE *out)
{
    if (t->kind == BASE_RATIO)
        fprintf(out, "%-13s %-32s %11s %4.0f %%", kind_names[t->kind], t->quantity, "side of 1", t->aim);
    else
        fprintf(out, "%-13s %-32s %9.0f %% %4.0f %%", kind_names[t->kind], t->quantity, t->at_least, t->aim);
}

static void print_result(const struct result *x, const struct target *t, FILE *out)
{
    char text[64];

    if (!x->worst_algo)
        snprintf(text, sizeof text, "-");
    else if (t->kind == BASE_RATIO)
        snprintf(text, sizeof text, "%zu of %zu right, %+.0f %% %s", x->n_right, x->n_ratios, x->worst, x->worst_model);
    else
        snprintf(text, sizeof text, t->kind == SUM ? "%+.1f %%, %+.1f %% %s" : "%.1f %%, %.1f %% %s", x->together,
                 x->worst, x->worst_algo);
    fprintf(out, " | %-32s %-12s", text, reached(x, t));
}

int exp_validate_targets_print(const struct exp_agreement_report *r, FILE *out)
{
    int err = 0;

    fprintf(out, "%-46s %11s %6s", "error of", "at least", "aim");
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        fprintf(out, " | %-32s %-12s", exp_view_label((enum exp_view)v), "reached");
    fprintf(out, "\n");
    for (size_t i = 0; i < N_TARGETS && !err; i++) {
        print_goal(&targets[i], out);
        for (unsigned v = 0; v < EXP_N_VIEWS && !err; v++) {
            struct result x;

            err = find(&x, &targets[i], r, (enum exp_view)v);
            if (!err)
                print_result(&x, &targets[i], out);
        }
        fprintf(out, "\n");
    }
    fprintf(out,
            "errors: of all algorithms together, then of the worst one, by which it is judged; ratios: how many of a\n"
            "model's and an algorithm's are on the measured side of 1, and the worst one's error.\n");
    return err;
}

/* ---- targets.csv ---- */

struct row {
    const char *kind, *quantity, *simulation;
    double at_least, aim, together, worst; /* in percent; NaN where that does not apply */
    const char *worst_algo, *worst_model;
    uint64_t n_right, n_ratios;
    const char *why_no_ratios, *reached;
};

#define ROW struct row
#define PERCENT(member) REC_NAN_AS(ROW, member, REC_DOES_NOT_APPLY)

static const struct rec_field fields[] = {
    { { "kind", "", "what is to agree: sum over all layers, median layer, or the ratio of Base's sum to SConv's", "" },
      REC_AT(ROW, kind) },
    { { "quantity", "", "what was counted", "" }, REC_AT(ROW, quantity) },
    { { "simulation", "", "caches_alone or as_machine", "" }, REC_AT(ROW, simulation) },
    { { "at_least_percent", "%", "the error that is to be reached; of a ratio: all on the measured side of 1", "" },
      PERCENT(at_least) },
    { { "aim_percent", "%", "the error that is aimed at", "" }, PERCENT(aim) },
    { { "together_percent", "%", "error of all algorithms together", "" }, PERCENT(together) },
    { { "worst_percent", "%", "error of the worst algorithm; of a ratio: and model", "" }, PERCENT(worst) },
    { { "worst_algo", "", "which one", "" }, REC_AT(ROW, worst_algo) },
    { { "worst_model", "", "of a ratio: which one", "" }, REC_AT(ROW, worst_model) },
    { { "right_sides", "", "of a ratio: how many are on the measured side of 1", "" },
      REC_OR(ROW, n_right, why_no_ratios) },
    { { "ratios", "", "of how many: models times algorithms", "" }, REC_OR(ROW, n_ratios, why_no_ratios) },
    { { "reached", "", "aim, at least, no, or not compared", "" }, REC_AT(ROW, reached) },
};

const struct rec_table exp_validate_targets_table = REC_TABLE("targets.csv", fields, ROW);

static void put_result(struct exp_csv *csv, const struct target *t, enum exp_view v, const struct result *x)
{
    const ROW row = {
        .kind = kind_names[t->kind],
        .quantity = t->quantity,
        .simulation = exp_view_name(v),
        .at_least = t->at_least,
        .aim = t->aim,
        .together = x->together,
        .worst = x->worst_algo ? x->worst : (double)NAN,
        .worst_algo = x->worst_algo,
        .worst_model = x->worst_model,
        .n_right = x->n_right,
        .n_ratios = x->n_ratios,
        .why_no_ratios = t->kind == BASE_RATIO ? NULL : REC_DOES_NOT_APPLY,
        .reached = reached(x, t),
    };

    rec_put(csv, &exp_validate_targets_table, &row);
}

int exp_validate_targets_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &exp_validate_targets_table.file, r->what, why);
    int closed;

    if (err)
        return err;
    for (size_t i = 0; i < N_TARGETS * EXP_N_VIEWS && !err; i++) {
        const struct target *t = &targets[i / EXP_N_VIEWS];
        enum exp_view v = (enum exp_view)(i % EXP_N_VIEWS);
        struct result x;

        err = find(&x, t, r, v);
        if (!err)
            put_result(csv, t, v, &x);
    }
    closed = exp_csv_close(csv, why);
    return err ? exp_fail(why, err, "out of memory") : closed;
}

void exp_validate_targets_document(FILE *out)
{
    exp_csv_document(&exp_validate_targets_table.file, out);
}
