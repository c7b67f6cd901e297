#include "experiments/paper/exp_paper_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/paper/exp_paper_formulas.h"
#include "experiments/paper/exp_paper_oddities.h"
#include "experiments/report/exp_cells.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- findings ---- */

static const char *const archs[] = { "x86", "P10" };

int exp_paper_findings_set(const struct exp_paper_findings *f, const struct exp_paper_view *v, const char *algo,
                           struct exp_paper_set *s)
{
    int err = exp_paper_set_of(s, v, &f->part[v->setting], algo, f->models->n);

    for (size_t a = 0; a < N_OF(archs); a++) {
        if (!strcmp(exp_paper_view_arch(v), archs[a]))
            s->share = f->share[a];
    }
    return err;
}

/* The name that a model has in the paper's Table 2, or its own. */
static const char *paper_name(const struct exp_published *p, const char *model)
{
    for (size_t r = 0; r < p->table.n_rows; r++) {
        const char *name = exp_table_string(&p->table, r, p->model);

        if (exp_published_is_model(name, model))
            return name;
    }
    return model;
}

static int find_sets(struct exp_paper_findings *f)
{
    int err = 0;

    for (size_t m = 0; m < f->models->n; m++) {
        for (size_t a = 0; a < N_OF(archs); a++)
            f->share[a][m] =
                exp_paper_published(&f->published, "Table 2", paper_name(&f->published, f->models->model[m].name),
                                    archs[a], "conv_time_share");
    }
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS && !err; v++)
        err = exp_paper_findings_set(f, &exp_paper_views[v], EXP_PAPER_ALGO, &f->set[v]);
    return err;
}

int exp_paper_findings_of(struct exp_paper_findings *f, const char *experiments_dir, bool has_whole_models,
                          bool has_whole_set, const struct sim_machine *x86, const struct sim_machine *p10,
                          struct exp_why *why)
{
    const struct exp_paper_evidence e = {
        .published = &f->published,
        .models = f->models,
        .has_whole_models = has_whole_models,
        .has_whole_set = has_whole_set,
        .part = f->part,
        .set = f->set,
        .x86 = x86,
        .p10 = p10,
    };
    int err = exp_published_read(&f->published, experiments_dir, why);

    if (err)
        return err;
    err = find_sets(f);
    err = err ? err : exp_paper_results_of(&f->results, &e);
    return err ? exp_fail(why, err, "out of memory") : 0;
}

void exp_paper_findings_release(struct exp_paper_findings *f)
{
    exp_published_release(&f->published);
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++)
        exp_paper_set_release(&f->set[v]);
    exp_paper_results_release(&f->results);
}

const char *exp_paper_field(const struct exp_paper_findings *f, size_t row, size_t column)
{
    return exp_table_string(&f->published.table, row, column);
}

/* ---- files ---- */

#define COLUMN_VIEW                                                                                                    \
    {                                                                                                                  \
        "view", "", "where our number is from: an id of experiments/paper/views.def", ""                               \
    }
#define COLUMN_HEADING                                                                                                 \
    {                                                                                                                  \
        "heading", "", "the same, as figures and tables are headed", ""                                                \
    }
#define COLUMN_ARCH                                                                                                    \
    {                                                                                                                  \
        "arch", "", "the paper's machine that it stands beside: x86 or P10", ""                                        \
    }

/* clang-format off */
static const struct exp_csv_column number_columns[] = {
    { "figure", "", "where the paper prints the number", "" },
    { "model", "", "of which model; all, Geo Mean", "" },
    { "arch", "", "x86, P10, both", "" },
    { "metric", "", "as in experiments/published/sconv.csv", "" },
    { "published", "", "the paper's number or word, as printed", "SConv" },
    { "use", "", "compared, taken over, stated, or unused: no line of claims.def takes it", "" },
    COLUMN_VIEW,
    { "ours", "", "our number", "" },
    { "ours_to_paper", "", "ours over the paper's; the remark says so where that is of fewer models", "" },
    { "verdict", "", "agrees, points the same way, differs; empty: not compared", "" },
    { "remark", "", "a stated fact, why there is no number, or of how many models it is", "" },
};

static const struct exp_csv_column model_columns[] = {
    COLUMN_VIEW,
    COLUMN_HEADING,
    COLUMN_ARCH,
    { "model_index", "", "position of the model, from 1; the last stands for all", "" },
    { "model", "", "name of the layer table; Geo Mean: over the models that have a number", "" },
    { "models", "", "how many the row is of", "" },
    EXP_COLUMN_ALGO,
    { "conv_speedup", "", "time of Base over that of the algorithm, all convolutions", "" },
    { "model_speedup", "", "whole model, by Amdahl's law with the paper's share", "SConv Table 2" },
    { "paper_conv_speedup", "", "what the paper prints; Geo Mean: of the same models", "SConv Table 2" },
    { "paper_model_speedup", "", "the same", "SConv Table 2" },
    { "base_packing_percent", "%", "im2col and packing, of Base's time step by step", "" },
    { "base_kernel_percent", "%", "micro-kernel, likewise", "" },
    { "packing_percent", "%", "packing, of the algorithm's", "" },
    { "kernel_percent", "%", "micro-kernel, likewise", "" },
    { "packing_reduction", "", "packing time of Base over that of the algorithm", "" },
    { "base_l1_miss_percent", "%", "load misses of all loads: Base", "" },
    { "l1_miss_percent", "%", "the algorithm", "" },
    { "base_l2_miss_percent", "%", "likewise, L2", "" },
    { "l2_miss_percent", "%", "likewise", "" },
    { "base_l3_miss_percent", "%", "likewise, L3", "" },
    { "l3_miss_percent", "%", "likewise", "" },
    { "l1_miss_ratio", "", "Base's misses over the algorithm's", "" },
    { "l2_miss_ratio", "", "likewise", "" },
    { "l3_miss_ratio", "", "likewise", "" },
};

static const struct exp_csv_column speedup_columns[] = {
    COLUMN_VIEW,
    COLUMN_HEADING,
    COLUMN_ARCH,
    EXP_COLUMN_ALGO,
    { "layers", "", "all, or pointwise", "" },
    { "rank", "", "position, from the smallest speed-up", "" },
    { "speedup", "", "time of Base over that of the algorithm", "" },
};
/* clang-format on */

static const struct exp_csv_file numbers_file = EXP_CSV_FILE("numbers.csv", number_columns);
static const struct exp_csv_file models_file = EXP_CSV_FILE("models.csv", model_columns);
static const struct exp_csv_file speedups_file = EXP_CSV_FILE("speedups.csv", speedup_columns);

static const struct exp_csv_file *const files[] = { &numbers_file, &models_file, &speedups_file,
                                                    &exp_paper_cases_file };

void exp_paper_report_document(FILE *out)
{
    for (size_t i = 0; i < N_OF(files); i++)
        exp_csv_document(files[i], out);
}

/* ---- numbers.csv ---- */

static const char *use_name(const struct exp_paper_claim *c)
{
    static const char *const names[] = { "compared", "taken over", "stated" };

    return c ? names[c->use] : "unused";
}

static int write_numbers(const struct exp_paper_findings *f, const struct exp_outdir *dir, struct exp_why *why)
{
    const struct exp_published *p = &f->published;
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &numbers_file, f->what, why);

    for (size_t i = 0; i < f->results.n && !err; i++) {
        const struct exp_paper_result *r = &f->results.result[i];

        exp_csv_string(csv, "figure", exp_paper_field(f, r->published, p->figure));
        exp_csv_string(csv, "model", exp_paper_field(f, r->published, p->model));
        exp_csv_string(csv, "arch", exp_paper_field(f, r->published, p->arch));
        exp_csv_string(csv, "metric", exp_paper_field(f, r->published, p->metric));
        exp_csv_string(csv, "published", exp_paper_field(f, r->published, p->value));
        exp_csv_string(csv, "use", use_name(r->claim));
        exp_csv_string(csv, "view", r->view ? r->view->id : "");
        if (isnan(r->ours))
            exp_csv_empty(csv, "ours");
        else
            exp_csv_double(csv, "ours", r->ours);
        if (isfinite(r->ours / r->paper))
            exp_csv_double(csv, "ours_to_paper", r->ours / r->paper);
        else
            exp_csv_empty(csv, "ours_to_paper");
        exp_csv_string(csv, "verdict", exp_paper_verdict_name(r->verdict));
        exp_csv_string(csv, "remark", r->says);
        exp_csv_end_row(csv);
    }
    return err ? err : exp_csv_close(csv, why);
}

/* ---- models.csv ---- */

/* Columns that are one function each; the paper's two are apart. */
static const struct {
    const char *column;
    exp_paper_model_fn of;
    int arg;
} model_numbers[] = {
    { "conv_speedup", exp_paper_speedup, 0 },
    { "model_speedup", exp_paper_model_speedup, 0 },
    { "paper_conv_speedup", NULL, 0 },
    { "paper_model_speedup", NULL, 0 },
    { "base_packing_percent", exp_paper_base_packing_percent, 0 },
    { "base_kernel_percent", exp_paper_base_kernel_percent, 0 },
    { "packing_percent", exp_paper_own_packing_percent, 0 },
    { "kernel_percent", exp_paper_own_kernel_percent, 0 },
    { "packing_reduction", exp_paper_packing_reduction, 0 },
    { "base_l1_miss_percent", exp_paper_base_miss_percent, 0 },
    { "l1_miss_percent", exp_paper_own_miss_percent, 0 },
    { "base_l2_miss_percent", exp_paper_base_miss_percent, 1 },
    { "l2_miss_percent", exp_paper_own_miss_percent, 1 },
    { "base_l3_miss_percent", exp_paper_base_miss_percent, 2 },
    { "l3_miss_percent", exp_paper_own_miss_percent, 2 },
    { "l1_miss_ratio", exp_paper_miss_ratio, 0 },
    { "l2_miss_ratio", exp_paper_miss_ratio, 1 },
    { "l3_miss_ratio", exp_paper_miss_ratio, 2 },
};

static double paper_of_model(const struct exp_paper_findings *f, const char *metric, size_t model, const char *arch)
{
    return exp_paper_published(&f->published, "Table 2", paper_name(&f->published, f->models->model[model].name), arch,
                               metric);
}

/* Returns what Table 2 prints for a model; for all: its mean, or that of the models that the set has. */
static double paper_of(const struct exp_paper_findings *f, const struct exp_paper_set *s, const char *column,
                       size_t model)
{
    const char *metric = column + strlen("paper_"), *arch = exp_paper_view_arch(s->view);
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    if (model < f->models->n)
        return paper_of_model(f, metric, model, arch);
    if (exp_paper_set_models(s) == f->models->n)
        return exp_paper_published(&f->published, "Table 2", "GeoMean", arch, metric);
    for (size_t m = 0; m < f->models->n; m++) {
        if (exp_paper_set_has(s, m))
            x[n++] = paper_of_model(f, metric, m, arch);
    }
    return exp_stats_geomean(x, n);
}

static void write_model(const struct exp_paper_findings *f, struct exp_csv *csv, const struct exp_paper_set *s,
                        const char *algo, size_t model)
{
    bool is_all = model == s->n_models;

    exp_csv_string(csv, "view", s->view->id);
    exp_csv_string(csv, "heading", s->view->heading);
    exp_csv_string(csv, "arch", exp_paper_view_arch(s->view));
    exp_csv_u64(csv, "model_index", model + 1);
    exp_csv_string(csv, "model", is_all ? "Geo Mean" : f->models->model[model].name);
    exp_csv_u64(csv, "models", is_all ? exp_paper_set_models(s) : 1);
    exp_csv_string(csv, "algo", algo);
    for (size_t i = 0; i < N_OF(model_numbers); i++) {
        exp_paper_model_fn of = model_numbers[i].of;
        int arg = model_numbers[i].arg;
        double x = !of      ? paper_of(f, s, model_numbers[i].column, model)
                   : is_all ? exp_paper_over(s, of, EXP_PAPER_GEOMEAN, arg)
                            : of(s, model, arg);

        if (isfinite(x))
            exp_csv_double(csv, model_numbers[i].column, x);
        else
            exp_csv_empty(csv, model_numbers[i].column);
    }
    exp_csv_end_row(csv);
}

/* Calls do_set for every view and every algorithm but Base that it has. */
static int for_sets(const struct exp_paper_findings *f,
                    int (*do_set)(const struct exp_paper_findings *f, struct exp_csv *csv,
                                  const struct exp_paper_set *s, const char *algo),
                    struct exp_csv *csv)
{
    int err = 0;

    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        for (size_t a = 0; a < EXP_N_ALGO_RECORDS && !err; a++) {
            struct exp_paper_set s;

            if (exp_algo_record(a) == exp_algo_base())
                continue;
            err = exp_paper_findings_set(f, &exp_paper_views[v], exp_algo_record(a)->name, &s);
            if (!err && s.n)
                err = do_set(f, csv, &s, exp_algo_record(a)->name);
            exp_paper_set_release(&s);
        }
    }
    return err;
}

static int write_set(const struct exp_paper_findings *f, struct exp_csv *csv, const struct exp_paper_set *s,
                     const char *algo)
{
    for (size_t m = 0; m <= s->n_models; m++)
        write_model(f, csv, s, algo, m);
    return 0;
}

/* ---- speedups.csv ---- */

static int write_curve(struct exp_csv *csv, const struct exp_paper_set *s, const char *algo, bool only_pointwise)
{
    double *x = calloc(s->n + 1, sizeof *x);
    size_t n = 0;

    if (!x)
        return -ENOMEM;
    for (size_t i = 0; i < s->n; i++) {
        x[n] = s->pair[i].base->value[s->view->time] / s->pair[i].own->value[s->view->time];
        if (!only_pointwise || conv_is_pointwise(&s->pair[i].base->layer->problem))
            n += isnan(x[n]) ? 0 : 1;
    }
    exp_stats_sort_up(x, n);
    for (size_t i = 0; i < n; i++) {
        exp_csv_string(csv, "view", s->view->id);
        exp_csv_string(csv, "heading", s->view->heading);
        exp_csv_string(csv, "arch", exp_paper_view_arch(s->view));
        exp_csv_string(csv, "algo", algo);
        exp_csv_string(csv, "layers", only_pointwise ? "pointwise" : "all");
        exp_csv_u64(csv, "rank", i + 1);
        exp_csv_double(csv, "speedup", x[i]);
        exp_csv_end_row(csv);
    }
    free(x);
    return 0;
}

static int write_curves(const struct exp_paper_findings *f, struct exp_csv *csv, const struct exp_paper_set *s,
                        const char *algo)
{
    int err = write_curve(csv, s, algo, false);

    (void)f;
    return err ? err : write_curve(csv, s, algo, true);
}

static int write_sets(const struct exp_paper_findings *f, const struct exp_outdir *dir, const struct exp_csv_file *file,
                      int (*do_set)(const struct exp_paper_findings *f, struct exp_csv *csv,
                                    const struct exp_paper_set *s, const char *algo),
                      struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, file, f->what, why);

    if (err)
        return err;
    err = for_sets(f, do_set, csv);
    if (err) {
        exp_csv_close(csv, NULL);
        return exp_fail(why, err, "out of memory");
    }
    return exp_csv_close(csv, why);
}

int exp_paper_report_write(const struct exp_paper_findings *f, const struct exp_outdir *dir, struct exp_why *why)
{
    int err = write_numbers(f, dir, why);

    err = err ? err : write_sets(f, dir, &models_file, write_set, why);
    return err ? err : write_sets(f, dir, &speedups_file, write_curves, why);
}
