/* The targets of the simulation on recorded counts, and whether the simulation reaches the targets. */
#include "experiments/choices/validate/validate.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/show/page.h"

/* Kinds of targets: the error of the sums, the error of the median layer, the ratio of Base's sum to SConv's. */
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

enum { N_TARGETS = sizeof targets / sizeof targets[0], N_RESULTS = N_TARGETS * EXP_N_VIEWS };

static const char *const kind_names[] = {
    [SUM] = "sum",
    [MEDIAN_LAYER] = "median layer",
    [BASE_RATIO] = "Base / SConv",
};

/* A target, by a simulation: a row of targets.csv. */
struct result {
    struct target target;
    const char *kind, *simulation;
    struct value at_least, aim;
    struct value together;                /* all algorithms; none of BASE_RATIO */
    struct value worst;                   /* of an algorithm, in size; BASE_RATIO: of an algorithm and model */
    const char *worst_algo, *worst_model; /* NULL: nothing was compared */
    struct value n_ratios, n_right;       /* BASE_RATIO: pairs of model and algorithm; on the measured side of 1 */
    const char *reached;
};

/* ---- finding ---- */

static double error_of(const struct exp_agreement *a, enum kind kind)
{
    return !a->n ? (double)NAN : kind == SUM ? a->percent : a->median_size;
}

static void note(struct result *x, double error, const char *algo, const char *model)
{
    if (isnan(error) || fabs(error) < fabs(x->worst.number))
        return;
    x->worst = value_of(error);
    x->worst_algo = algo;
    x->worst_model = model;
}

static void find_errors(struct result *x, const struct exp_agreement_report *r, enum exp_view v)
{
    const size_t q = ctr_quantity_index(x->target.quantity);
    struct exp_agreement a = exp_agreement_of(r->points, &(struct exp_selection){ NULL, NULL }, q, v);

    x->together = value_if_finite(error_of(&a, x->target.kind), REC_DOES_NOT_APPLY);
    x->n_ratios = x->n_right = value_none(REC_DOES_NOT_APPLY);
    for (size_t i = 0; i < exp_algo_count(); i++) {
        const struct exp_selection of = { NULL, exp_algo_at(i)->name };

        a = exp_agreement_of(r->points, &of, q, v);
        note(x, error_of(&a, x->target.kind), of.algo, NULL);
    }
}

static void find_ratios(struct result *x, const struct exp_agreement_report *r, enum exp_view v)
{
    const size_t q = ctr_quantity_index(x->target.quantity);

    for (size_t m = 0; m < r->n_models; m++) {
        for (size_t a = 1; a < exp_algo_count(); a++) {
            const struct exp_selection of = { r->model[m], exp_algo_at(a)->name };
            const struct exp_agreement_ratio ratio = exp_agreement_ratio_of(r->points, &of, q, v);

            if (!ratio.n)
                continue;
            x->n_ratios.number++;
            x->n_right.number += (ratio.measured > 1) == (ratio.simulated > 1);
            note(x, 100 * (ratio.simulated / ratio.measured - 1), of.algo, of.model);
        }
    }
}

static const char *reached(const struct result *x)
{
    const double worst = fabs(x->worst.number);
    const bool least = x->n_ratios.why ? worst <= x->target.at_least : x->n_right.number == x->n_ratios.number;

    if (!x->worst_algo)
        return "not compared";
    return !least ? "no" : worst <= x->target.aim ? "aim" : "at least";
}

/* Finds the result of a target and view by number: results of a target follow each other. */
static struct result result_of(size_t i, const struct exp_agreement_report *r)
{
    const struct target *t = &targets[i / EXP_N_VIEWS];
    const enum exp_view v = i % EXP_N_VIEWS;
    struct result x = { .target = *t,
                        .kind = kind_names[t->kind],
                        .simulation = exp_view_name(v),
                        .at_least = value_if_finite(t->at_least, REC_DOES_NOT_APPLY),
                        .aim = value_of(t->aim),
                        .together = value_none(REC_DOES_NOT_APPLY) };

    (t->kind == BASE_RATIO ? find_ratios : find_errors)(&x, r, v);
    x.reached = reached(&x);
    if (!x.worst_algo)
        x.worst = value_none(REC_DOES_NOT_APPLY);
    return x;
}

/* ---- for people ---- */

static void print_goal(const struct target *t, FILE *out)
{
    if (t->kind == BASE_RATIO)
        fprintf(out, "%-13s %-32s %11s %4.0f %%", kind_names[t->kind], t->quantity, "side of 1", t->aim);
    else
        fprintf(out, "%-13s %-32s %9.0f %% %4.0f %%", kind_names[t->kind], t->quantity, t->at_least, t->aim);
}

static void print_result(const struct result *x, FILE *out)
{
    char text[64];

    assert(out && x->reached);
    if (!x->worst_algo)
        snprintf(text, sizeof text, "-");
    else if (x->target.kind == BASE_RATIO)
        snprintf(text, sizeof text, "%.0f of %.0f right, %+.0f %% %s", x->n_right.number, x->n_ratios.number,
                 x->worst.number, x->worst_model);
    else
        snprintf(text, sizeof text, x->target.kind == SUM ? "%+.1f %%, %+.1f %% %s" : "%.1f %%, %.1f %% %s",
                 x->together.number, x->worst.number, x->worst_algo);
    fprintf(out, " | %-32s %-12s", text, x->reached);
}

void exp_validate_targets_print(const struct exp_agreement_report *r, FILE *out)
{
    struct result x[N_RESULTS];
    bool is_any = false;

    for (size_t i = 0; i < N_RESULTS; i++) {
        x[i] = result_of(i, r);
        is_any = is_any || x[i].worst_algo;
    }
    if (!is_any) {
        fprintf(out, "No counts of loads, stores and lines are compared: none was recorded of these layers.\n");
        return;
    }
    fprintf(out, "%-46s %11s %6s", "error of", "at least", "aim");
    for (enum exp_view v = 0; v < EXP_N_VIEWS; v++)
        fprintf(out, " | %-32s %-12s", exp_view_label(v), "reached");
    fprintf(out, "\n");
    for (size_t i = 0; i < N_RESULTS; i++) {
        if (i % EXP_N_VIEWS == 0)
            print_goal(&x[i].target, out);
        print_result(&x[i], out);
        if (i % EXP_N_VIEWS == EXP_N_VIEWS - 1)
            fprintf(out, "\n");
    }
    fprintf(out,
            "errors: of all algorithms together, then of the worst one, by which it is judged; ratios: how many of a\n"
            "model's and an algorithm's are on the measured side of 1, and the worst one's error.\n");
}

size_t exp_validate_count_reached(const struct exp_agreement_report *r, enum exp_view v, size_t *n)
{
    size_t n_reached = 0;

    *n = 0;
    for (size_t i = v; i < N_RESULTS; i += EXP_N_VIEWS) {
        const struct result x = result_of(i, r);

        *n += x.worst_algo != NULL;
        n_reached += x.worst_algo && strcmp(x.reached, "no") != 0;
    }
    return n_reached;
}

/* ---- targets.csv ---- */

#define PERCENT(member) REC_VALUE(struct result, member)

static const struct rec_field fields[] = {
    { { "kind", "", "what is to agree: sum over all layers, median layer, or the ratio of Base's sum to SConv's", "" },
      REC_AT(struct result, kind) },
    { { "quantity", "", "what was counted", "" }, REC_AT(struct result, target.quantity) },
    { { "simulation", "", "caches_alone or as_machine", "" }, REC_AT(struct result, simulation) },
    { { "at_least_percent", "%", "the error that is to be reached; of a ratio: all on the measured side of 1", "" },
      PERCENT(at_least) },
    { { "aim_percent", "%", "the error that is aimed at", "" }, PERCENT(aim) },
    { { "together_percent", "%", "error of all algorithms together", "" }, PERCENT(together) },
    { { "worst_percent", "%", "error of the worst algorithm; of a ratio: and model", "" }, PERCENT(worst) },
    { { "worst_algo", "", "which one", "" }, REC_AT(struct result, worst_algo) },
    { { "worst_model", "", "of a ratio: which one", "" }, REC_AT(struct result, worst_model) },
    { { "right_sides", "", "of a ratio: how many are on the measured side of 1", "" },
      REC_VALUE(struct result, n_right) },
    { { "ratios", "", "of how many: models times algorithms", "" }, REC_VALUE(struct result, n_ratios) },
    { { "reached", "", "aim, at least, no, or not compared", "" }, REC_AT(struct result, reached) },
};

const struct rec_table exp_validate_targets_table = REC_TABLE("targets.csv", fields, struct result);

int exp_validate_targets_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    struct result rows[N_RESULTS];

    for (size_t i = 0; i < N_RESULTS; i++)
        rows[i] = result_of(i, r);
    return rec_write(&exp_validate_targets_table, rows, N_RESULTS, dir, r->what, why);
}

/* ---- read again ---- */

/* Counts the targets that a simulation reaches, and all targets in *n. */
static size_t count_reached(const struct exp_page_csv *t, enum exp_view v, size_t *n)
{
    const struct result *row = t->row;
    size_t reached = 0;

    *n = 0;
    for (size_t r = 0; r < t->table.n_rows; r++) {
        if (strcmp(row[r].simulation, exp_view_name(v)) != 0)
            continue;
        (*n)++;
        reached += strcmp(row[r].reached, "no") != 0;
    }
    return reached;
}

void exp_validate_found(const char *folder, char *text, size_t bytes)
{
    struct exp_page_csv t;
    size_t n_alone, n_whole, alone, whole;

    if (exp_page_csv_read_rows(&t, folder, &exp_validate_targets_table, NULL))
        return;
    alone = count_reached(&t, EXP_CACHES_ALONE, &n_alone);
    whole = count_reached(&t, EXP_AS_MACHINE, &n_whole);
    if (n_alone && n_whole)
        exp_say(text, bytes,
                "Simulated as the machine is, with prefetchers, counts are near the measured ones in %zu of %zu "
                "respects; caches alone are in %zu of %zu.",
                whole, n_whole, alone, n_alone);
    exp_page_csv_release(&t);
}
