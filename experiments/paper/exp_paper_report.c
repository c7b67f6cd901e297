#include "experiments/paper/exp_paper_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/paper/exp_paper_formulas.h"
#include "experiments/paper/exp_paper_oddities.h"
#include "experiments/record/record.h"
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

struct number_row {
    const char *figure, *model, *arch, *metric, *published, *use, *view;
    double ours, ours_to_paper; /* NaN: there is none */
    const char *verdict, *remark;
};

/* Where a row is from. */
struct place {
    const char *view, *heading, *arch;
};

enum { N_MODEL_NUMBERS = 18 };

struct model_row {
    struct place place;
    size_t model_index;
    const char *model;
    size_t n_models;
    const char *algo;
    double number[N_MODEL_NUMBERS]; /* as in model_numbers; NaN: there is none */
};

struct speedup_row {
    struct place place;
    const char *algo, *layers;
    size_t rank;
    double speedup;
};

#define NUMBER struct number_row
#define MODEL struct model_row
#define SPEEDUP struct speedup_row

/* clang-format off */
static const struct rec_field number_fields[] = {
    { { "figure", "", "where the paper prints the number", "" }, REC_AT(NUMBER, figure) },
    { { "model", "", "of which model; all, Geo Mean", "" }, REC_AT(NUMBER, model) },
    { { "arch", "", "x86, P10, both", "" }, REC_AT(NUMBER, arch) },
    { { "metric", "", "as in experiments/published/sconv.csv", "" }, REC_AT(NUMBER, metric) },
    { { "published", "", "the paper's number or word, as printed", "SConv" }, REC_AT(NUMBER, published) },
    { { "use", "", "compared, taken over, stated, or unused: no line of claims.def takes it", "" },
      REC_AT(NUMBER, use) },
    { COLUMN_VIEW, REC_AT(NUMBER, view) },
    { { "ours", "", "our number", "" }, REC_NAN_AS(NUMBER, ours, REC_DOES_NOT_APPLY) },
    { { "ours_to_paper", "", "ours over the paper's; the remark says so where that is of fewer models", "" },
      REC_NAN_AS(NUMBER, ours_to_paper, REC_DOES_NOT_APPLY) },
    { { "verdict", "", "agrees, points the same way, differs; empty: not compared", "" }, REC_AT(NUMBER, verdict) },
    { { "remark", "", "a stated fact, why there is no number, or of how many models it is", "" },
      REC_AT(NUMBER, remark) },
};

static const struct rec_field model_fields[] = {
    { COLUMN_VIEW, REC_AT(MODEL, place.view) },
    { COLUMN_HEADING, REC_AT(MODEL, place.heading) },
    { COLUMN_ARCH, REC_AT(MODEL, place.arch) },
    { { "model_index", "", "position of the model, from 1; the last stands for all", "" }, REC_AT(MODEL, model_index) },
    { { "model", "", "name of the layer table; Geo Mean: over the models that have a number", "" },
      REC_AT(MODEL, model) },
    { { "models", "", "how many the row is of", "" }, REC_AT(MODEL, n_models) },
    { EXP_COLUMN_ALGO, REC_AT(MODEL, algo) },
    { { "conv_speedup", "", "time of Base over that of the algorithm, all convolutions", "" },
      REC_NAN_AS(MODEL, number[0], REC_DOES_NOT_APPLY) },
    { { "model_speedup", "", "whole model, by Amdahl's law with the paper's share", "SConv Table 2" },
      REC_NAN_AS(MODEL, number[1], REC_DOES_NOT_APPLY) },
    { { "paper_conv_speedup", "", "what the paper prints; Geo Mean: of the same models", "SConv Table 2" },
      REC_NAN_AS(MODEL, number[2], REC_DOES_NOT_APPLY) },
    { { "paper_model_speedup", "", "the same", "SConv Table 2" }, REC_NAN_AS(MODEL, number[3], REC_DOES_NOT_APPLY) },
    { { "base_packing_percent", "%", "im2col and packing, of Base's time step by step", "" },
      REC_NAN_AS(MODEL, number[4], REC_DOES_NOT_APPLY) },
    { { "base_kernel_percent", "%", "micro-kernel, likewise", "" }, REC_NAN_AS(MODEL, number[5], REC_DOES_NOT_APPLY) },
    { { "packing_percent", "%", "packing, of the algorithm's", "" }, REC_NAN_AS(MODEL, number[6], REC_DOES_NOT_APPLY) },
    { { "kernel_percent", "%", "micro-kernel, likewise", "" }, REC_NAN_AS(MODEL, number[7], REC_DOES_NOT_APPLY) },
    { { "packing_reduction", "", "packing time of Base over that of the algorithm", "" },
      REC_NAN_AS(MODEL, number[8], REC_DOES_NOT_APPLY) },
    { { "base_l1_miss_percent", "%", "load misses of all loads: Base", "" },
      REC_NAN_AS(MODEL, number[9], REC_DOES_NOT_APPLY) },
    { { "l1_miss_percent", "%", "the algorithm", "" }, REC_NAN_AS(MODEL, number[10], REC_DOES_NOT_APPLY) },
    { { "base_l2_miss_percent", "%", "likewise, L2", "" }, REC_NAN_AS(MODEL, number[11], REC_DOES_NOT_APPLY) },
    { { "l2_miss_percent", "%", "likewise", "" }, REC_NAN_AS(MODEL, number[12], REC_DOES_NOT_APPLY) },
    { { "base_l3_miss_percent", "%", "likewise, L3", "" }, REC_NAN_AS(MODEL, number[13], REC_DOES_NOT_APPLY) },
    { { "l3_miss_percent", "%", "likewise", "" }, REC_NAN_AS(MODEL, number[14], REC_DOES_NOT_APPLY) },
    { { "l1_miss_ratio", "", "Base's misses over the algorithm's", "" },
      REC_NAN_AS(MODEL, number[15], REC_DOES_NOT_APPLY) },
    { { "l2_miss_ratio", "", "likewise", "" }, REC_NAN_AS(MODEL, number[16], REC_DOES_NOT_APPLY) },
    { { "l3_miss_ratio", "", "likewise", "" }, REC_NAN_AS(MODEL, number[17], REC_DOES_NOT_APPLY) },
};

static const struct rec_field speedup_fields[] = {
    { COLUMN_VIEW, REC_AT(SPEEDUP, place.view) },
    { COLUMN_HEADING, REC_AT(SPEEDUP, place.heading) },
    { COLUMN_ARCH, REC_AT(SPEEDUP, place.arch) },
    { EXP_COLUMN_ALGO, REC_AT(SPEEDUP, algo) },
    { { "layers", "", "all, or pointwise", "" }, REC_AT(SPEEDUP, layers) },
    { { "rank", "", "position, from the smallest speed-up", "" }, REC_AT(SPEEDUP, rank) },
    { { "speedup", "", "time of Base over that of the algorithm", "" }, REC_AT(SPEEDUP, speedup) },
};
/* clang-format on */

const struct rec_table exp_paper_numbers_table = REC_TABLE("numbers.csv", number_fields, NUMBER);
const struct rec_table exp_paper_models_table = REC_TABLE("models.csv", model_fields, MODEL);
const struct rec_table exp_paper_speedups_table = REC_TABLE("speedups.csv", speedup_fields, SPEEDUP);

static const struct exp_csv_file *const files[] = { &exp_paper_numbers_table.file, &exp_paper_models_table.file,
                                                    &exp_paper_speedups_table.file, &exp_paper_cases_table.file };

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
    int err = exp_csv_create(&csv, dir, &exp_paper_numbers_table.file, f->what, why);

    for (size_t i = 0; i < f->results.n && !err; i++) {
        const struct exp_paper_result *r = &f->results.result[i];
        const NUMBER row = {
            .figure = exp_paper_field(f, r->published, p->figure),
            .model = exp_paper_field(f, r->published, p->model),
            .arch = exp_paper_field(f, r->published, p->arch),
            .metric = exp_paper_field(f, r->published, p->metric),
            .published = exp_paper_field(f, r->published, p->value),
            .use = use_name(r->claim),
            .view = r->view ? r->view->id : "",
            .ours = r->ours,
            .ours_to_paper = r->ours / r->paper,
            .verdict = exp_paper_verdict_name(r->verdict),
            .remark = r->says,
        };

        rec_put(csv, &exp_paper_numbers_table, &row);
    }
    return err ? err : exp_csv_close(csv, why);
}

/* ---- models.csv ---- */

/* The numbers of a row, in the order of the columns: a function each, but what the paper prints is looked up. */
static const struct {
    exp_paper_model_fn of;
    int arg;
    const char *printed; /* metric of Table 2 */
} model_numbers[N_MODEL_NUMBERS] = {
    { exp_paper_speedup, 0, NULL },
    { exp_paper_model_speedup, 0, NULL },
    { NULL, 0, "conv_speedup" },
    { NULL, 0, "model_speedup" },
    { exp_paper_base_packing_percent, 0, NULL },
    { exp_paper_base_kernel_percent, 0, NULL },
    { exp_paper_own_packing_percent, 0, NULL },
    { exp_paper_own_kernel_percent, 0, NULL },
    { exp_paper_packing_reduction, 0, NULL },
    { exp_paper_base_miss_percent, 0, NULL },
    { exp_paper_own_miss_percent, 0, NULL },
    { exp_paper_base_miss_percent, 1, NULL },
    { exp_paper_own_miss_percent, 1, NULL },
    { exp_paper_base_miss_percent, 2, NULL },
    { exp_paper_own_miss_percent, 2, NULL },
    { exp_paper_miss_ratio, 0, NULL },
    { exp_paper_miss_ratio, 1, NULL },
    { exp_paper_miss_ratio, 2, NULL },
};

static double paper_of_model(const struct exp_paper_findings *f, const char *metric, size_t model, const char *arch)
{
    return exp_paper_published(&f->published, "Table 2", paper_name(&f->published, f->models->model[model].name), arch,
                               metric);
}

/* Returns what Table 2 prints for a model; for all: its mean, or that of the models that the set has. */
static double paper_of(const struct exp_paper_findings *f, const struct exp_paper_set *s, const char *metric,
                       size_t model)
{
    const char *arch = exp_paper_view_arch(s->view);
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

static struct place place_of(const struct exp_paper_set *s)
{
    return (struct place){ s->view->id, s->view->heading, exp_paper_view_arch(s->view) };
}

static void write_model(const struct exp_paper_findings *f, struct exp_csv *csv, const struct exp_paper_set *s,
                        const char *algo, size_t model)
{
    bool is_all = model == s->n_models;
    MODEL row = { .place = place_of(s),
                  .model_index = model + 1,
                  .model = is_all ? "Geo Mean" : f->models->model[model].name,
                  .n_models = is_all ? exp_paper_set_models(s) : 1,
                  .algo = algo };

    for (size_t i = 0; i < N_MODEL_NUMBERS; i++) {
        exp_paper_model_fn of = model_numbers[i].of;
        int arg = model_numbers[i].arg;

        row.number[i] = !of      ? paper_of(f, s, model_numbers[i].printed, model)
                        : is_all ? exp_paper_over(s, of, EXP_PAPER_GEOMEAN, arg)
                                 : of(s, model, arg);
    }
    rec_put(csv, &exp_paper_models_table, &row);
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
        const SPEEDUP row = { place_of(s), algo, only_pointwise ? "pointwise" : "all", i + 1, x[i] };

        rec_put(csv, &exp_paper_speedups_table, &row);
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

    err = err ? err : write_sets(f, dir, &exp_paper_models_table.file, write_set, why);
    return err ? err : write_sets(f, dir, &exp_paper_speedups_table.file, write_curves, why);
}
