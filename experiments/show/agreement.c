#include "experiments/show/agreement.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/cells.h"
#include "experiments/base/stats.h"
#include "experiments/bench/case/cycles.h"

static const struct {
    const char *name, *label;
} views[EXP_N_VIEWS] = {
    [EXP_CACHES_ALONE] = { "caches_alone", "caches alone" },
    [EXP_AS_MACHINE] = { "as_machine", "as the machine is" },
};

const char *exp_view_name(enum exp_view v)
{
    assert(v < EXP_N_VIEWS);
    return views[v].name;
}

const char *exp_view_label(enum exp_view v)
{
    assert(v < EXP_N_VIEWS);
    return views[v].label;
}

/* ---- points ---- */

struct exp_point *exp_points_add(struct exp_points *p, const struct exp_experiment *e, const struct exp_case *c)
{
    struct exp_point *point = exp_append(&p->point, &p->n, sizeof *point);

    *point = (struct exp_point){ .model = e->model->name, .layer = c->layer, .algo = c->algo };
    for (size_t q = 0; q < EXP_MAX_QUANTITIES; q++) {
        point->measured[q] = value_none("not counted");
        for (unsigned v = 0; v < EXP_N_VIEWS; v++)
            point->simulated[v][q] = (double)NAN;
    }
    return point;
}

void exp_points_release(struct exp_points *p)
{
    free(p->point);
    *p = (struct exp_points){ 0 };
}

static void take_view(double *simulated, const struct sim_machine *m, const struct exp_simulated *s)
{
    struct sim_cell sum;

    if (s->why)
        return;
    sum = sim_stats_total(&s->stats);
    for (size_t q = 0; q < ctr_n_quantities(); q++)
        simulated[q] = exp_quantity_simulated(q, m, &sum);
}

void exp_point_simulate(struct exp_point *point, const struct exp_setup *setup, const struct exp_case *c)
{
    const struct exp_cycles cycles = exp_cycles(setup, c);

    take_view(point->simulated[EXP_CACHES_ALONE], &setup->alone, &c->alone);
    take_view(point->simulated[EXP_AS_MACHINE], &setup->machine, &c->simulated);
    if (!cycles.why)
        point->simulated[EXP_AS_MACHINE][ctr_quantity_index("cycles")] = cycles.sum;
}

static bool is_in(const struct exp_point *p, const struct exp_selection *of)
{
    return !*p->why_not && (!of->model || !strcmp(p->model, of->model)) &&
           (!of->algo || !strcmp(p->algo->name, of->algo));
}

/* ---- statistics ---- */

static void add_quantiles(struct exp_agreement *a, double *error, size_t n)
{
    const struct exp_spread errors = exp_spread_of(error, n);

    a->p10 = errors.p10;
    a->median = errors.median;
    a->p90 = errors.p90;
    for (size_t i = 0; i < n; i++)
        error[i] = fabs(error[i]);
    a->median_size = exp_spread_of(error, n).median;
}

struct exp_agreement exp_agreement_of(const struct exp_points *p, const struct exp_selection *of, size_t q,
                                      enum exp_view v)
{
    const size_t loads_q = ctr_quantity_index("loads");
    double *error = exp_new(p->n, sizeof *error), loads = 0;
    struct exp_agreement a = { 0 };
    size_t n_errors = 0;

    assert(q < EXP_MAX_QUANTITIES && v < EXP_N_VIEWS);
    for (size_t i = 0; i < p->n; i++) {
        const struct exp_point *x = &p->point[i];
        double measured = x->measured[q].number, simulated = x->simulated[v][q];

        if (!is_in(x, of) || isnan(measured) || isnan(simulated))
            continue;
        a.n++;
        a.measured += measured;
        a.simulated += simulated;
        loads += x->measured[loads_q].number;
        if (measured > 0)
            error[n_errors++] = 100 * (simulated / measured - 1);
    }
    a.percent = 100 * (a.simulated / a.measured - 1);
    a.share_error = 100 * (a.simulated - a.measured) / loads;
    add_quantiles(&a, error, n_errors);
    free(error);
    return a;
}

/* Returns Base's point of the layer, or NULL. */
static const struct exp_point *base_of(const struct exp_points *p, const struct exp_point *x)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct exp_point *y = &p->point[i];

        if (y->layer == x->layer && y->algo == exp_algo_at(0) && !*y->why_not)
            return y;
    }
    return NULL;
}

static bool has_both(const struct exp_point *x, size_t q, enum exp_view v)
{
    return x && x->measured[q].number > 0 && x->simulated[v][q] > 0;
}

static const struct exp_agreement_ratio no_ratio = { 0, (double)NAN, (double)NAN, (double)NAN };

struct exp_agreement_ratio exp_agreement_ratio_of(const struct exp_points *p, const struct exp_selection *of, size_t q,
                                                  enum exp_view v)
{
    double *measured = exp_new(2 * p->n, sizeof *measured), *simulated = measured + p->n;
    double base_measured = 0, base_simulated = 0, own_measured = 0, own_simulated = 0;
    struct exp_agreement_ratio r = no_ratio;

    for (size_t i = 0; i < p->n; i++) {
        const struct exp_point *x = &p->point[i], *base = is_in(x, of) ? base_of(p, x) : NULL;

        if (!has_both(base, q, v) || !has_both(x, q, v))
            continue;
        base_measured += base->measured[q].number;
        base_simulated += base->simulated[v][q];
        own_measured += x->measured[q].number;
        own_simulated += x->simulated[v][q];
        measured[r.n] = base->measured[q].number / x->measured[q].number;
        simulated[r.n++] = base->simulated[v][q] / x->simulated[v][q];
    }
    if (r.n) {
        r.measured = base_measured / own_measured;
        r.simulated = base_simulated / own_simulated;
    }
    r.rank_correlation = exp_stats_spearman(measured, simulated, r.n);
    free(measured);
    return r;
}

/* ---- simulated_vs_measured.csv ---- */

/* A layer, algorithm and quantity. */
struct point_row {
    const char *model;
    size_t layer_index;
    const char *layer, *algo, *quantity;
    struct value measured, simulated[EXP_N_VIEWS];
    struct value measured_percent, simulated_percent[EXP_N_VIEWS]; /* of the measured loads */
};

/* clang-format off */
#define POINT struct point_row
static const struct rec_field point_fields[] = {
    { EXP_COLUMN_MODEL, REC_AT(POINT, model) },
    { EXP_COLUMN_LAYER_INDEX, REC_AT(POINT, layer_index) },
    { EXP_COLUMN_LAYER, REC_AT(POINT, layer) },
    { EXP_COLUMN_ALGO, REC_AT(POINT, algo) },
    { { "quantity", "", "what was counted; both sides have the same definition", "" }, REC_AT(POINT, quantity) },
    { { "measured", "", "counts of one run", "counters" }, REC_VALUE(POINT, measured) },
    { { "caches_alone", "", "the same of the replay: LRU caches of the machine's sizes, nothing prefetched", "replay" },
      REC_VALUE(POINT, simulated[EXP_CACHES_ALONE]) },
    { { "as_machine", "", "the same of the replay on the machine as its file has it", "replay" },
      REC_VALUE(POINT, simulated[EXP_AS_MACHINE]) },
    { { "measured_percent_of_loads", "%", "measured / measured loads", "counters" },
      REC_VALUE(POINT, measured_percent) },
    { { "caches_alone_percent_of_loads", "%", "caches_alone / measured loads", "replay" },
      REC_VALUE(POINT, simulated_percent[EXP_CACHES_ALONE]) },
    { { "as_machine_percent_of_loads", "%", "as_machine / measured loads", "replay" },
      REC_VALUE(POINT, simulated_percent[EXP_AS_MACHINE]) },
};
/* clang-format on */

const struct rec_table exp_points_table = REC_TABLE("simulated_vs_measured.csv", point_fields, POINT);

static void put_point(struct exp_csv *csv, const struct exp_point *p, size_t q)
{
    const char *why_not = *p->why_not ? p->why_not : NULL;
    const struct value loads = why_not ? value_none(why_not) : p->measured[ctr_quantity_index("loads")];
    struct point_row row = { .model = p->model,
                             .layer_index = p->layer->index,
                             .layer = p->layer->name,
                             .algo = p->algo->name,
                             .quantity = ctr_quantity_at(q)->name,
                             .measured = why_not ? value_none(why_not) : p->measured[q] };

    row.measured_percent = value_ratio(row.measured, loads, 100);
    for (unsigned v = 0; v < EXP_N_VIEWS; v++) {
        const struct value simulated = value_if_finite(p->simulated[v][q], "not simulated");

        row.simulated[v] = why_not && simulated.why ? value_none(why_not) : simulated;
        row.simulated_percent[v] = loads.why ? value_none(loads.why) : value_ratio(simulated, loads, 100);
    }
    rec_put(csv, &exp_points_table, &row);
}

/* ---- agreement.csv ---- */

struct agreement_row {
    const char *model, *algo, *quantity, *simulation;
    struct exp_agreement of;
    struct exp_agreement_ratio ratio;
};

/* clang-format off */
#define ROW struct agreement_row
#define NO_RATIO "nothing to compare"
static const struct rec_field agreement_fields[] = {
    { { "model", "", "name of the layer table, or all", "" }, REC_AT(ROW, model) },
    { { "algo", "", "algorithm, or all", "" }, REC_AT(ROW, algo) },
    { { "quantity", "", "what was counted", "" }, REC_AT(ROW, quantity) },
    { { "simulation", "", "caches_alone or as_machine", "" }, REC_AT(ROW, simulation) },
    { { "points", "", "layers and algorithms with both numbers", "" }, REC_AT(ROW, of.n) },
    { { "measured", "", "sum", "counters" }, REC_AT(ROW, of.measured) },
    { { "simulated", "", "sum", "replay" }, REC_AT(ROW, of.simulated) },
    { { "error_percent", "%", "of the sums: simulated / measured, less 100 %", "" },
      REC_NAN_AS(ROW, of.percent, "measured 0") },
    { { "error_points_of_loads", "%", "of the sums: (simulated - measured) / measured loads", "" },
      REC_NAN_AS(ROW, of.share_error, "loads not counted") },
    { { "layer_error_percent_median_size", "%", "median of the layers' errors without their signs", "" },
      REC_NAN_AS(ROW, of.median_size, NO_RATIO) },
    { { "layer_error_percent_p10", "%", "10th percentile of the layers' errors", "" },
      REC_NAN_AS(ROW, of.p10, NO_RATIO) },
    { { "layer_error_percent_median", "%", "their median", "" }, REC_NAN_AS(ROW, of.median, NO_RATIO) },
    { { "layer_error_percent_p90", "%", "their 90th percentile", "" }, REC_NAN_AS(ROW, of.p90, NO_RATIO) },
    { { "measured_base_ratio", "", "Base's sum / this algorithm's, over layers that have both", "counters" },
      REC_NAN_AS(ROW, ratio.measured, NO_RATIO) },
    { { "simulated_base_ratio", "", "the same of the replay", "replay" }, REC_NAN_AS(ROW, ratio.simulated, NO_RATIO) },
    { { "base_ratio_rank_correlation", "", "Spearman's, of the layers' ratios measured and simulated", "" },
      REC_NAN_AS(ROW, ratio.rank_correlation, NO_RATIO) },
};
/* clang-format on */

const struct rec_table exp_agreement_table = REC_TABLE("agreement.csv", agreement_fields, ROW);

static void put_agreement(const struct exp_agreement_report *r, struct exp_csv *csv, const struct exp_selection *of,
                          size_t q, enum exp_view v)
{
    struct agreement_row row = {
        .model = of->model ? of->model : "all",
        .algo = of->algo ? of->algo : "all",
        .quantity = ctr_quantity_at(q)->name,
        .simulation = exp_view_name(v),
        .of = exp_agreement_of(r->points, of, q, v),
        .ratio = no_ratio,
    };

    if (!row.of.n)
        return;
    if (of->algo && strcmp(of->algo, "base") != 0)
        row.ratio = exp_agreement_ratio_of(r->points, of, q, v);
    rec_put(csv, &exp_agreement_table, &row);
}

/* Writes one model, or all: every algorithm alone, then all algorithms. */
static void put_model(const struct exp_agreement_report *r, struct exp_csv *csv, const char *model)
{
    for (size_t a = 0; a <= exp_algo_count(); a++) {
        const struct exp_selection of = { model, a < exp_algo_count() ? exp_algo_at(a)->name : NULL };

        for (size_t q = 0; q < ctr_n_quantities(); q++) {
            for (unsigned v = 0; v < EXP_N_VIEWS; v++)
                put_agreement(r, csv, &of, q, (enum exp_view)v);
        }
    }
}

static void put_points(struct exp_csv *csv, const void *report)
{
    const struct exp_points *points = ((const struct exp_agreement_report *)report)->points;

    for (size_t i = 0; i < points->n; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++)
            put_point(csv, &points->point[i], q);
    }
}

static void put_agreements(struct exp_csv *csv, const void *report)
{
    const struct exp_agreement_report *r = report;

    for (size_t m = 0; m < r->n_models; m++)
        put_model(r, csv, r->model[m]);
    put_model(r, csv, NULL);
}

int exp_agreement_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why)
{
    static const struct rec_file files[] = { { &exp_points_table, put_points, NULL },
                                             { &exp_agreement_table, put_agreements, NULL } };

    return rec_write_files(files, 2, r, dir, r->what, why);
}

/* ---- for people ---- */

static void print_error(FILE *out, const struct exp_agreement *a)
{
    if (a->n)
        fprintf(out, " | %+9.1f %6.1f %+8.1f %+8.1f", a->percent, a->median_size, a->p10, a->p90);
    else
        fprintf(out, " | %9s %6s %8s %8s", "-", "-", "-", "-");
}

static void print_row(const struct exp_agreement_report *r, const struct exp_algo *algo, size_t q, FILE *out)
{
    const struct exp_selection of = { NULL, algo->name };
    struct exp_agreement a[EXP_N_VIEWS];
    struct exp_agreement_ratio ratio = no_ratio;

    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        a[v] = exp_agreement_of(r->points, &of, q, (enum exp_view)v);
    if (algo != exp_algo_at(0))
        ratio = exp_agreement_ratio_of(r->points, &of, q, EXP_AS_MACHINE);
    if (!(a[0].n + a[1].n))
        return;
    fprintf(out, "%-32s %-14s %11.4g", ctr_quantity_at(q)->name, algo->name, a[a[0].n ? 0 : 1].measured);
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        print_error(out, &a[v]);
    if (isnan(ratio.rank_correlation))
        fprintf(out, " | %s\n", "-");
    else
        fprintf(out, " | %.2f\n", ratio.rank_correlation);
}

void exp_agreement_print(const struct exp_agreement_report *r, FILE *out)
{
    fprintf(out, "\nsimulated against measured: %s\n\n%-59s", r->what, "");
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        fprintf(out, " | %-34s", exp_view_label((enum exp_view)v));
    fprintf(out, " | rank\n%-32s %-14s %11s", "", "", "measured");
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        fprintf(out, " | %9s %6s %8s %8s", "sum %", "median", "p10", "p90");
    fprintf(out, " |\n");
    for (size_t q = 0; q < ctr_n_quantities(); q++) {
        for (size_t a = 0; a < exp_algo_count(); a++)
            print_row(r, exp_algo_at(a), q, out);
    }
    fprintf(out, "sum: simulated over measured, all layers together, less 100 %%; median: of the layers' errors "
                 "without signs;\np10, p90: the middle 80 %% of them; rank: Spearman's correlation of Base / this "
                 "algorithm over the layers, as the machine is.\n");
}
