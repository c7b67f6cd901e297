#include "experiments/paper/exp_paper_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/paper/exp_paper_formulas.h"
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

/* clang-format off */

#define COLUMN_VIEW { "view", "", "where our number is from: an id of experiments/paper/views.def", "" }
#define COLUMN_HEADING { "heading", "", "the same, as figures and tables are headed", "" }
#define COLUMN_ARCH { "arch", "", "the paper's machine that it stands beside: x86 or P10", "" }

#define NUMBER struct number_row
struct number_row {
    const char *figure, *model, *arch, *metric, *published, *use, *view;
    double ours, ours_to_paper;
    const char *verdict, *remark;
};

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

/* Numbers of a model, one line each: what makes one of a set, its argument. NULL: Table 2 of the paper prints it. */
#define EACH_MODEL_NUMBER(N)                                                                                           \
    N(conv_speedup, exp_paper_speedup, 0, "", "time of Base over that of the algorithm, all convolutions", "")         \
    N(model_speedup, exp_paper_model_speedup, 0, "",                                                                   \
      "whole model, by Amdahl's law with the paper's share", "SConv Table 2")                                          \
    N(paper_conv_speedup, NULL, 0, "", "what the paper prints; Geo Mean: of the same models", "SConv Table 2")         \
    N(paper_model_speedup, NULL, 0, "", "the same", "SConv Table 2")                                                   \
    N(base_packing_percent, exp_paper_base_packing_percent, 0, "%",                                                    \
      "im2col and packing, of Base's time step by step", "")                                                           \
    N(base_kernel_percent, exp_paper_base_kernel_percent, 0, "%", "micro-kernel, likewise", "")                        \
    N(packing_percent, exp_paper_own_packing_percent, 0, "%", "packing, of the algorithm's", "")                       \
    N(kernel_percent, exp_paper_own_kernel_percent, 0, "%", "micro-kernel, likewise", "")                              \
    N(packing_reduction, exp_paper_packing_reduction, 0, "", "packing time of Base over that of the algorithm", "")    \
    N(base_l1_miss_percent, exp_paper_base_miss_percent, 0, "%", "load misses of all loads: Base", "")                 \
    N(l1_miss_percent, exp_paper_own_miss_percent, 0, "%", "the algorithm", "")                                        \
    N(base_l2_miss_percent, exp_paper_base_miss_percent, 1, "%", "likewise, L2", "")                                   \
    N(l2_miss_percent, exp_paper_own_miss_percent, 1, "%", "likewise", "")                                             \
    N(base_l3_miss_percent, exp_paper_base_miss_percent, 2, "%", "likewise, L3", "")                                   \
    N(l3_miss_percent, exp_paper_own_miss_percent, 2, "%", "likewise", "")                                             \
    N(l1_miss_ratio, exp_paper_miss_ratio, 0, "", "Base's misses over the algorithm's", "")                            \
    N(l2_miss_ratio, exp_paper_miss_ratio, 1, "", "likewise", "")                                                      \
    N(l3_miss_ratio, exp_paper_miss_ratio, 2, "", "likewise", "")

#define NUMBER_OF(name, ...) NUMBER_##name,
enum { EACH_MODEL_NUMBER(NUMBER_OF) N_MODEL_NUMBERS };

#define MODEL struct model_row
struct model_row {
    const char *view, *heading, *arch, *model, *algo;
    size_t model_index, n_models;
    double number[N_MODEL_NUMBERS];
};

#define MODEL_FIELD(name, of, arg, ...)                                                                                \
    { { #name, __VA_ARGS__ }, REC_NAN_AS(MODEL, number[NUMBER_##name], REC_DOES_NOT_APPLY) },

static const struct rec_field model_fields[] = {
    { COLUMN_VIEW, REC_AT(MODEL, view) },
    { COLUMN_HEADING, REC_AT(MODEL, heading) },
    { COLUMN_ARCH, REC_AT(MODEL, arch) },
    { { "model_index", "", "position of the model, from 1; the last stands for all", "" }, REC_AT(MODEL, model_index) },
    { { "model", "", "name of the layer table; Geo Mean: over the models that have a number", "" },
      REC_AT(MODEL, model) },
    { { "models", "", "how many the row is of", "" }, REC_AT(MODEL, n_models) },
    { EXP_COLUMN_ALGO, REC_AT(MODEL, algo) },
    EACH_MODEL_NUMBER(MODEL_FIELD)
};

#define SPEEDUP struct speedup_row
struct speedup_row {
    const char *view, *heading, *arch, *algo, *layers;
    size_t rank;
    double speedup;
};

static const struct rec_field speedup_fields[] = {
    { COLUMN_VIEW, REC_AT(SPEEDUP, view) },
    { COLUMN_HEADING, REC_AT(SPEEDUP, heading) },
    { COLUMN_ARCH, REC_AT(SPEEDUP, arch) },
    { EXP_COLUMN_ALGO, REC_AT(SPEEDUP, algo) },
    { { "layers", "", "all, or pointwise", "" }, REC_AT(SPEEDUP, layers) },
    { { "rank", "", "position, from the smallest speed-up", "" }, REC_AT(SPEEDUP, rank) },
    { { "speedup", "", "time of Base over that of the algorithm", "" }, REC_AT(SPEEDUP, speedup) },
};
/* clang-format on */

const struct rec_table exp_paper_numbers_table = REC_TABLE("numbers.csv", number_fields, NUMBER);
const struct rec_table exp_paper_models_table = REC_TABLE("models.csv", model_fields, MODEL);
const struct rec_table exp_paper_speedups_table = REC_TABLE("speedups.csv", speedup_fields, SPEEDUP);

void exp_paper_report_document(FILE *out)
{
    static const struct rec_table *const tables[] = { &exp_paper_numbers_table, &exp_paper_models_table,
                                                      &exp_paper_speedups_table, &exp_paper_cases_table };

    for (size_t i = 0; i < N_OF(tables); i++)
        exp_csv_document(&tables[i]->file, out);
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

#define MAKER(name, of, arg, ...) { #name, of, arg },

static const struct {
    const char *name;
    exp_paper_model_fn of;
    int arg;
} makers[] = { EACH_MODEL_NUMBER(MAKER) };

static void write_model(const struct exp_paper_findings *f, struct exp_csv *csv, const struct exp_paper_set *s,
                        const char *algo, size_t model)
{
    const bool is_all = model == s->n_models;
    MODEL row = {
        .view = s->view->id,
        .heading = s->view->heading,
        .arch = exp_paper_view_arch(s->view),
        .model_index = model + 1,
        .model = is_all ? "Geo Mean" : f->models->model[model].name,
        .n_models = is_all ? exp_paper_set_models(s) : 1,
        .algo = algo,
    };

    for (size_t i = 0; i < N_OF(makers); i++) {
        exp_paper_model_fn of = makers[i].of;

        row.number[i] = !of      ? paper_of(f, s, makers[i].name, model)
                        : is_all ? exp_paper_over(s, of, EXP_PAPER_GEOMEAN, makers[i].arg)
                                 : of(s, model, makers[i].arg);
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
        const SPEEDUP row = { s->view->id,
                              s->view->heading,
                              exp_paper_view_arch(s->view),
                              algo,
                              only_pointwise ? "pointwise" : "all",
                              i + 1,
                              x[i] };

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

static int write_sets(const struct exp_paper_findings *f, const struct exp_outdir *dir, const struct rec_table *t,
                      int (*do_set)(const struct exp_paper_findings *f, struct exp_csv *csv,
                                    const struct exp_paper_set *s, const char *algo),
                      struct exp_why *why)
{
    struct exp_csv *csv;
    int err = exp_csv_create(&csv, dir, &t->file, f->what, why);

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

    err = err ? err : write_sets(f, dir, &exp_paper_models_table, write_set, why);
    return err ? err : write_sets(f, dir, &exp_paper_speedups_table, write_curves, why);
}
