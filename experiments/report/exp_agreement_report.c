#include "experiments/report/exp_agreement_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "counters/group/ctr_quantity.h"
#include "experiments/base/exp_error.h"
#include "experiments/report/exp_cells.h"

/* clang-format off */
static const struct exp_csv_column point_columns[] = {
    EXP_COLUMN_MODEL,
    EXP_COLUMN_LAYER_INDEX,
    EXP_COLUMN_LAYER,
    EXP_COLUMN_ALGO,
    { "quantity", "", "what was counted; both sides have the same definition", "" },
    { "measured", "", "counts of one run", "counters" },
    { "caches_alone", "", "the same of the replay: LRU caches of the machine's sizes, nothing prefetched", "replay" },
    { "as_machine", "", "the same of the replay on the machine as its file has it", "replay" },
    { "measured_percent_of_loads", "%", "measured / measured loads", "counters" },
    { "caches_alone_percent_of_loads", "%", "caches_alone / measured loads", "replay" },
    { "as_machine_percent_of_loads", "%", "as_machine / measured loads", "replay" },
};

static const struct exp_csv_file point_file = EXP_CSV_FILE("simulated_vs_measured.csv", point_columns);

static const struct exp_csv_column agreement_columns[] = {
    { "model", "", "name of the layer table, or all", "" },
    { "algo", "", "algorithm, or all", "" },
    { "quantity", "", "what was counted", "" },
    { "simulation", "", "caches_alone or as_machine", "" },
    { "points", "", "layers and algorithms with both numbers", "" },
    { "measured", "", "sum", "counters" },
    { "simulated", "", "sum", "replay" },
    { "error_percent", "%", "of the sums: simulated / measured, less 100 %", "" },
    { "error_points_of_loads", "%", "of the sums: (simulated - measured) / measured loads", "" },
    { "layer_error_percent_median_size", "%", "median of the layers' errors without their signs", "" },
    { "layer_error_percent_p10", "%", "10th percentile of the layers' errors", "" },
    { "layer_error_percent_median", "%", "their median", "" },
    { "layer_error_percent_p90", "%", "their 90th percentile", "" },
    { "measured_base_ratio", "", "Base's sum / this algorithm's, over layers that have both", "counters" },
    { "simulated_base_ratio", "", "the same of the replay", "replay" },
    { "base_ratio_rank_correlation", "", "Spearman's, of the layers' ratios measured and simulated", "" },
};

static const struct exp_csv_file agreement_file = EXP_CSV_FILE("agreement.csv", agreement_columns);
/* clang-format on */

/* ---- simulated_vs_measured.csv ---- */

static void put_number(struct exp_csv *csv, const char *column, double value, const char *why_not)
{
    if (isfinite(value))
        exp_csv_double(csv, column, value);
    else
        exp_csv_missing(csv, column, *why_not ? why_not : "not counted");
}

static void put_share(struct exp_csv *csv, const char *column, double value, double loads, const char *why_not)
{
    char name[64];

    snprintf(name, sizeof name, "%s_percent_of_loads", column);
    put_number(csv, name, 100 * value / loads, why_not);
}

/* Tells why a quantity of a point has no measured number, or "". */
static const char *why_not_measured(const struct exp_point *p, size_t q)
{
    return *p->why_not ? p->why_not : p->why_not_counted[q] ? p->why_not_counted[q] : "";
}

static void put_point(struct exp_csv *csv, const struct exp_point *p, size_t q)
{
    const size_t loads_q = ctr_quantity_index("loads");
    const double loads = p->measured[loads_q];
    const char *no_loads = why_not_measured(p, loads_q);

    exp_csv_string(csv, "model", p->model);
    exp_csv_u64(csv, "layer_index", p->layer->index);
    exp_csv_string(csv, "layer", p->layer->name);
    exp_csv_string(csv, "algo", p->algo->name);
    exp_csv_string(csv, "quantity", ctr_quantity_at(q)->name);
    put_number(csv, "measured", p->measured[q], why_not_measured(p, q));
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        put_number(csv, exp_view_name((enum exp_view)v), p->simulated[v][q],
                   *p->why_not ? p->why_not : "not simulated");
    put_share(csv, "measured", p->measured[q], loads, *why_not_measured(p, q) ? why_not_measured(p, q) : no_loads);
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        put_share(csv, exp_view_name((enum exp_view)v), p->simulated[v][q], loads,
                  *no_loads ? no_loads : "not simulated");
    exp_csv_end_row(csv);
}

static int write_points(const struct exp_agreement_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &point_file, r->what, why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < r->points->n; i++) {
        for (size_t q = 0; q < ctr_n_quantities(); q++)
            put_point(csv, &r->points->point[i], q);
    }
    return exp_csv_close(csv, why, why_bytes);
}

/* ---- agreement.csv ---- */

static int put_agreement(const struct exp_agreement_report *r, struct exp_csv *csv, const struct exp_selection *of,
                         size_t q, enum exp_view v)
{
    static const char none[] = "nothing to compare";
    struct exp_agreement a;
    struct exp_agreement_ratio ratio = exp_agreement_no_ratio();
    int err = exp_agreement_of(&a, r->points, of, q, v);

    if (err || !a.n)
        return err;
    if (of->algo && strcmp(of->algo, "base") != 0)
        err = exp_agreement_ratio_of(&ratio, r->points, of, q, v);
    exp_csv_string(csv, "model", of->model ? of->model : "all");
    exp_csv_string(csv, "algo", of->algo ? of->algo : "all");
    exp_csv_string(csv, "quantity", ctr_quantity_at(q)->name);
    exp_csv_string(csv, "simulation", exp_view_name(v));
    exp_csv_u64(csv, "points", a.n);
    exp_csv_double(csv, "measured", a.measured);
    exp_csv_double(csv, "simulated", a.simulated);
    put_number(csv, "error_percent", a.percent, "measured 0");
    put_number(csv, "error_points_of_loads", a.share_error, "loads not counted");
    put_number(csv, "layer_error_percent_median_size", a.median_size, none);
    put_number(csv, "layer_error_percent_p10", a.p10, none);
    put_number(csv, "layer_error_percent_median", a.median, none);
    put_number(csv, "layer_error_percent_p90", a.p90, none);
    put_number(csv, "measured_base_ratio", ratio.measured, none);
    put_number(csv, "simulated_base_ratio", ratio.simulated, none);
    put_number(csv, "base_ratio_rank_correlation", ratio.rank_correlation, none);
    exp_csv_end_row(csv);
    return err;
}

/* Writes one model, or all: every algorithm by itself, then all algorithms. */
static int put_model(const struct exp_agreement_report *r, struct exp_csv *csv, const char *model)
{
    int err = 0;

    for (size_t a = 0; a <= EXP_N_ALGOS && !err; a++) {
        const struct exp_selection of = { model, a < EXP_N_ALGOS ? exp_algo_at(a)->name : NULL };

        for (size_t q = 0; q < ctr_n_quantities() && !err; q++) {
            for (unsigned v = 0; v < EXP_N_VIEWS && !err; v++)
                err = put_agreement(r, csv, &of, q, (enum exp_view)v);
        }
    }
    return err;
}

static int write_agreement(const struct exp_agreement_report *r, const struct exp_outdir *dir, char *why,
                           size_t why_bytes)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &agreement_file, r->what, why, why_bytes);
    int closed;

    if (err)
        return err;
    for (size_t m = 0; m < r->n_models && !err; m++)
        err = put_model(r, csv, r->model[m]);
    if (!err)
        err = put_model(r, csv, NULL);
    closed = exp_csv_close(csv, why, why_bytes);
    return err ? exp_fail(why, why_bytes, err, "out of memory") : closed;
}

int exp_agreement_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, char *why, size_t why_bytes)
{
    int err = write_points(r, dir, why, why_bytes);

    return err ? err : write_agreement(r, dir, why, why_bytes);
}

/* ---- for people ---- */

static void print_error(FILE *out, const struct exp_agreement *a)
{
    if (a->n)
        fprintf(out, " | %+9.1f %6.1f %+8.1f %+8.1f", a->percent, a->median_size, a->p10, a->p90);
    else
        fprintf(out, " | %9s %6s %8s %8s", "-", "-", "-", "-");
}

static int print_row(const struct exp_agreement_report *r, const struct exp_algo *algo, size_t q, FILE *out)
{
    const struct exp_selection of = { NULL, algo->name };
    struct exp_agreement a[EXP_N_VIEWS];
    struct exp_agreement_ratio ratio = exp_agreement_no_ratio();
    int err = 0;

    for (unsigned v = 0; v < EXP_N_VIEWS && !err; v++)
        err = exp_agreement_of(&a[v], r->points, &of, q, (enum exp_view)v);
    if (!err && algo != exp_algo_at(0))
        err = exp_agreement_ratio_of(&ratio, r->points, &of, q, EXP_AS_MACHINE);
    if (err || !(a[0].n + a[1].n))
        return err;
    fprintf(out, "%-32s %-14s %11.4g", ctr_quantity_at(q)->name, algo->name, a[a[0].n ? 0 : 1].measured);
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        print_error(out, &a[v]);
    if (isnan(ratio.rank_correlation))
        fprintf(out, " | %s\n", "-");
    else
        fprintf(out, " | %.2f\n", ratio.rank_correlation);
    return 0;
}

int exp_agreement_print(const struct exp_agreement_report *r, FILE *out)
{
    int err = 0;

    fprintf(out, "\nsimulated against measured: %s\n\n%-59s", r->what, "");
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        fprintf(out, " | %-34s", exp_view_label((enum exp_view)v));
    fprintf(out, " | rank\n%-32s %-14s %11s", "", "", "measured");
    for (unsigned v = 0; v < EXP_N_VIEWS; v++)
        fprintf(out, " | %9s %6s %8s %8s", "sum %", "median", "p10", "p90");
    fprintf(out, " |\n");
    for (size_t q = 0; q < ctr_n_quantities() && !err; q++) {
        for (size_t a = 0; a < EXP_N_ALGOS && !err; a++)
            err = print_row(r, exp_algo_at(a), q, out);
    }
    fprintf(out,
            "sum: simulated over measured, all layers together, less 100 %%; median: of the layers' errors without "
            "signs;\np10, p90: the middle 80 %% of them; rank: Spearman's correlation of Base / this algorithm over "
            "the layers, as the machine is.\n");
    return err;
}

void exp_agreement_document(FILE *out)
{
    exp_csv_document(&point_file, out);
    exp_csv_document(&agreement_file, out);
}
