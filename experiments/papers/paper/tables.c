#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/cells.h"
#include "experiments/base/stats.h"
#include "experiments/papers/paper/paper.h"
#include "kernels/shape/problem.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- files ---- */

/* clang-format off */

#define COLUMN_VIEW { "view", "", "where our number is from: an id of experiments/papers/paper/views.def", "" }
#define COLUMN_HEADING { "heading", "", "the same, as figures and tables are headed", "" }
#define COLUMN_ARCH { "arch", "", "the paper's machine that it stands beside: x86 or P10", "" }

#define NUMBER struct exp_paper_result

static double ours_to_paper(const void *row)
{
    return ((const NUMBER *)row)->ours / ((const NUMBER *)row)->paper;
}

static const struct rec_field number_fields[] = {
    { { "figure", "", "where the paper prints the number", "" }, REC_AT(NUMBER, published.figure) },
    { { "model", "", "of which model; all, Geo Mean", "" }, REC_AT(NUMBER, published.model) },
    { { "arch", "", "x86, P10, both", "" }, REC_AT(NUMBER, published.arch) },
    { { "metric", "", "as in experiments/published/sconv.csv", "" }, REC_AT(NUMBER, published.metric) },
    { { "published", "", "the paper's number or word, as printed", "SConv" }, REC_AT(NUMBER, published.value) },
    { { "use", "", "compared, stated, or unused: no line of claims.def takes it", "" },
      REC_AT(NUMBER, use_name) },
    { COLUMN_VIEW, REC_AT(NUMBER, view_id) },
    { { "ours", "", "our number", "" }, REC_NAN_AS(NUMBER, ours, REC_DOES_NOT_APPLY) },
    { { "ours_to_paper", "", "ours over the paper's; the remark says so where that is of fewer models", "" },
      REC_DERIVED(ours_to_paper), .missing = REC_IF_NAN_AS, .why = REC_DOES_NOT_APPLY },
    { { "verdict", "", "agrees, points the same way, differs; empty: not compared", "" },
      REC_AT(NUMBER, verdict_name) },
    { { "remark", "", "a stated fact, why there is no number, or of how many models it is", "" },
      REC_AT(NUMBER, says) },
};

#define MODEL_NUMBER(name, ...) NUMBER_##name,
enum {
#include "experiments/papers/paper/model_numbers.def"
    N_MODEL_NUMBERS
};

#define MODEL struct model_row
struct model_row {
    const char *view, *heading, *arch, *model, *algo;
    size_t model_index, n_models;
    double number[N_MODEL_NUMBERS];
};

static const struct rec_field model_fields[] = {
    { COLUMN_VIEW, REC_AT(MODEL, view) },
    { COLUMN_HEADING, REC_AT(MODEL, heading) },
    { COLUMN_ARCH, REC_AT(MODEL, arch) },
    { { "model_index", "", "position of the model, from 1; the last stands for all", "" }, REC_AT(MODEL, model_index) },
    { { "model", "", "name of the layer table; Geo Mean: over the models that have a number", "" },
      REC_AT(MODEL, model) },
    { { "models", "", "how many the row is of", "" }, REC_AT(MODEL, n_models) },
    { EXP_COLUMN_ALGO, REC_AT(MODEL, algo) },
#define MODEL_NUMBER(name, of, arg, ...)                                                                               \
    { { #name, __VA_ARGS__ }, REC_NAN_AS(MODEL, number[NUMBER_##name], REC_DOES_NOT_APPLY) },
#include "experiments/papers/paper/model_numbers.def"
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

static const struct {
    const char *name;
    enum exp_paper_model_number of;
    int arg;
} makers[] = {
#define MODEL_NUMBER(name, of, arg, ...) { #name, EXP_PAPER_OF_##of, arg },
#include "experiments/papers/paper/model_numbers.def"
};

/* The rows of both files. */
struct rows {
    MODEL *model;
    SPEEDUP *speedup;
    size_t n_models, n_speedups;
};

static void add_model(const struct exp_paper_findings *f, struct rows *rows, const struct exp_paper_set *s,
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
        const enum exp_paper_model_number of = makers[i].of;

        row.number[i] = !of      ? exp_paper_table2_like(f, makers[i].name + strlen("paper_"), model, row.arch, s)
                        : is_all ? exp_paper_over(s, of, EXP_PAPER_GEOMEAN, makers[i].arg)
                                 : exp_paper_of_model(s, of, model, makers[i].arg);
    }
    *(MODEL *)exp_append(&rows->model, &rows->n_models, sizeof row) = row;
}

static void add_curve(struct rows *rows, const struct exp_paper_set *s, const char *algo, bool only_pointwise)
{
    SPEEDUP row = {
        .view = s->view->id,
        .heading = s->view->heading,
        .arch = exp_paper_view_arch(s->view),
        .algo = algo,
        .layers = only_pointwise ? "pointwise" : "all",
    };
    double *x = exp_new(s->n, sizeof *x);
    size_t n = 0;

    for (size_t i = 0; i < s->n && !s->view->whole; i++) { /* networks are no layers */
        const double speedup = exp_paper_pair_speedup(s, &s->pair[i]);

        if (!isnan(speedup) && (!only_pointwise || conv_is_pointwise(&s->pair[i].base->layer->problem)))
            x[n++] = speedup;
    }
    exp_stats_sort_up(x, n);
    while (row.rank < n) {
        row.speedup = x[row.rank++];
        *(SPEEDUP *)exp_append(&rows->speedup, &rows->n_speedups, sizeof row) = row;
    }
    free(x);
}

int exp_paper_report_write(const struct exp_paper_findings *f, const struct exp_outdir *dir, struct exp_why *why)
{
    struct rows rows = { NULL, NULL, 0, 0 };
    int err = rec_write(&exp_paper_numbers_table, f->result, f->n, dir, f->what, why);

    assert(f->what && dir);
    for (size_t i = 0; i < EXP_PAPER_N_VIEWS * exp_algo_record_count(); i++) {
        const struct exp_algo *algo = exp_algo_record(i % exp_algo_record_count());
        struct exp_paper_set s;

        if (algo == exp_algo_base())
            continue;
        exp_paper_findings_set(f, &exp_paper_views[i / exp_algo_record_count()], algo->name, &s);
        for (size_t m = 0; m <= s.n_models && s.n; m++)
            add_model(f, &rows, &s, algo->name, m);
        add_curve(&rows, &s, algo->name, false);
        add_curve(&rows, &s, algo->name, true);
        exp_paper_set_release(&s);
    }
    if (!err)
        err = rec_write(&exp_paper_models_table, rows.model, rows.n_models, dir, f->what, why);
    if (!err)
        err = rec_write(&exp_paper_speedups_table, rows.speedup, rows.n_speedups, dir, f->what, why);
    free(rows.model);
    free(rows.speedup);
    return err;
}

/* ---- numbers for people ---- */

/* Prints a number of less than 10 with this many digits after the point, a larger number with fewer. */
static void put_digits(double x, int digits, FILE *out)
{
    double size = fabs(x);

    if (isnan(x))
        fprintf(out, "-");
    else if (x == floor(x) || size >= 100)
        fprintf(out, "%.0f", x);
    else
        fprintf(out, "%.*f", size >= 10 ? 1 : digits, x);
}

void exp_paper_put(double x, FILE *out)
{
    put_digits(x, 2, out);
}

static bool is_plain_number(const char *text)
{
    char *end;

    strtod(text, &end);
    return end != text && !*end;
}

/* Prints a size in the largest unit that leaves a whole number. */
static void put_bytes(double x, FILE *out)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB" };
    size_t i = 0;

    for (; i + 1 < N_OF(units) && x >= 1024 && fmod(x, 1024) == 0; i++)
        x /= 1024;
    exp_paper_put(x, out);
    fprintf(out, " %s", units[i]);
}

void exp_paper_put_unit(double x, const char *unit, FILE *out)
{
    assert(unit && out);
    if (!strcmp(unit, "bytes") && !isnan(x)) {
        put_bytes(x, out);
        return;
    }
    if (!strcmp(unit, "% faster") && x < 0) {
        exp_paper_put_unit(-x, "% slower", out);
        return;
    }
    put_digits(x, *unit == '%' ? 1 : 2, out);
    if (*unit && !isnan(x))
        fprintf(out, " %s", unit);
}

void exp_paper_put_published(const char *text, const char *unit, FILE *out)
{
    assert(text && unit);
    fprintf(out, "%s%s%s", text, *unit && is_plain_number(text) ? " " : "", is_plain_number(text) ? unit : "");
}

static void put_cell(double x, const char *unit, FILE *out)
{
    fprintf(out, " | ");
    exp_paper_put_unit(x, unit, out);
}

/* ---- tables with a row per model and a column per view with the number ---- */

static const struct model_table {
    enum exp_paper_section section;
    const char *title, *unit;
    enum exp_paper_model_number of;
    int arg;
    const char *paper; /* metric of Table 2, or NULL */
    const char *arch, *algo;
} model_tables[] = {
#define MODEL_TABLE(section, title, unit, of, ...) { EXP_PAPER_##section, title, unit, EXP_PAPER_OF_##of, __VA_ARGS__ },
#include "experiments/papers/paper/model_tables.def"
};

static size_t find_columns(const struct exp_paper_findings *f, const struct model_table *t,
                           struct exp_paper_set set[EXP_PAPER_N_VIEWS])
{
    size_t n = 0;

    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        if (strcmp(exp_paper_view_arch(&exp_paper_views[v]), t->arch) != 0)
            continue;
        exp_paper_findings_set(f, &exp_paper_views[v], t->algo, &set[n]);
        if (isnan(exp_paper_over(&set[n], t->of, EXP_PAPER_GEOMEAN, t->arg)))
            exp_paper_set_release(&set[n]);
        else
            n++;
    }
    return n;
}

static void print_heading(const struct model_table *t, const struct exp_paper_set *set, size_t n, FILE *out)
{
    fprintf(out, "\n| model%s", t->paper ? " | paper" : "");
    for (size_t c = 0; c < n; c++)
        fprintf(out, " | %s", set[c].view->heading);
    fprintf(out, " |\n|---");
    for (size_t c = 0; c < n + (t->paper != NULL); c++)
        fprintf(out, "|---:");
    fprintf(out, "|\n");
}

/* Returns a number of a model, or the mean over the models of another set. */
static double number_of(const struct exp_paper_set *s, enum exp_paper_model_number of, int arg, size_t model,
                        const struct exp_paper_set *like)
{
    return like ? exp_paper_geomean_of(s, of, arg, like->models) : exp_paper_of_model(s, of, model, arg);
}

/* Prints a column's number; of Figure 11 a level's misses of Base, of SConv, and how many times as many Base has. */
static void put_column(const struct model_table *t, const struct exp_paper_set *column, size_t model,
                       const struct exp_paper_set *like, FILE *out)
{
    const double base = number_of(column, EXP_PAPER_OF_BASE_MISS_PERCENT, t->arg, model, like);
    const double own = number_of(column, EXP_PAPER_OF_OWN_MISS_PERCENT, t->arg, model, like);
    const double x = number_of(column, t->of, t->arg, model, like);

    if (t->section != EXP_PAPER_FIGURE11)
        put_cell(x, t->unit, out);
    else if (isnan(base))
        fprintf(out, " | -");
    else
        fprintf(out, " | %.2g / %.2g %%; %.2f", base, own, x);
}

/* Prints the paper's number and the numbers of all columns: of a model, or means over the models of a column. */
static void print_row(const struct exp_paper_findings *f, const struct model_table *t, const struct exp_paper_set *set,
                      size_t n, size_t model, const struct exp_paper_set *like, FILE *out)
{
    if (like)
        fprintf(out, "| geometric mean of %zu", exp_paper_set_models(like));
    else
        fprintf(out, "| %s", f->models->model[model].name);
    if (t->paper)
        put_cell(like ? exp_paper_table2_like(f, t->paper, model, t->arch, like)
                      : exp_paper_table2(f, t->paper, model, t->arch),
                 t->unit, out);
    for (size_t c = 0; c < n; c++)
        put_column(t, &set[c], model, like, out);
    fprintf(out, " |\n");
}

/* Prints a row for every choice of models in a column: numbers of a row are means over the same models. */
static void print_means(const struct exp_paper_findings *f, const struct model_table *t,
                        const struct exp_paper_set *set, size_t n, FILE *out)
{
    for (size_t i = 0; i < n * f->models->n; i++) { /* columns of most models first */
        size_t n_models = f->models->n - i / n, c = i % n, first = 0;

        while (set[first].models != set[c].models)
            first++;
        if (first == c && exp_paper_set_models(&set[c]) == n_models)
            print_row(f, t, set, n, f->models->n, &set[c], out);
    }
}

/* Prints the gain by each of SConv's ways of packing: vector-based packing, filters ahead. */
static void print_ablation(const struct exp_paper_findings *f, FILE *out)
{
    static const struct {
        const char *algo, *what;
    } rows[] = {
        { EXP_PAPER_ALGO, "as in the paper" },
        { "sconv_no_vbp", "without vector-based packing: element by element, plain C without vectors" },
        { "sconv_run_time", "filters packed at run time" },
        { "sconv_pads_first", "image padded up front, which counts as packing" },
    };

    fprintf(out,
            "\nWhat the ways of packing contribute (geometric means over the models; speed-up over Base, packing's "
            "share, Base's packing time over it):\n\n| source | SConv | speed-up | packing | reduction |\n"
            "|---|---|---:|---:|---:|\n");
    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        for (size_t i = 0; i < N_OF(rows); i++) {
            struct exp_paper_set s;

            if (!exp_paper_views[v].packing)
                continue;
            exp_paper_findings_set(f, &exp_paper_views[v], rows[i].algo, &s);
            if (s.n && !isnan(exp_paper_over(&s, EXP_PAPER_OF_PACKING_REDUCTION, EXP_PAPER_GEOMEAN, 0))) {
                fprintf(out, "| %s | %s", exp_paper_views[v].heading, rows[i].what);
                put_cell(exp_paper_over(&s, EXP_PAPER_OF_SPEEDUP, EXP_PAPER_GEOMEAN, 0), "", out);
                put_cell(exp_paper_over(&s, EXP_PAPER_OF_OWN_PACKING_PERCENT, EXP_PAPER_GEOMEAN, 0), "%", out);
                put_cell(exp_paper_over(&s, EXP_PAPER_OF_PACKING_REDUCTION, EXP_PAPER_GEOMEAN, 0), "", out);
                fprintf(out, " |\n");
            }
            exp_paper_set_release(&s);
        }
    }
    fprintf(out, "\nPadding: the paper pads the input up front, as loads and stores of its own, and counts them as "
                 "'others'; ours is padded while it is packed, but for the row that says otherwise.\n");
}

void exp_paper_print_tables(const struct exp_paper_findings *f, enum exp_paper_section section, FILE *out)
{
    for (size_t i = 0; i < N_OF(model_tables); i++) {
        const struct model_table *t = &model_tables[i];
        struct exp_paper_set set[EXP_PAPER_N_VIEWS];
        const size_t n = t->section == section ? find_columns(f, t, set) : 0;

        if (n) {
            fprintf(out, "\n%s\n", t->title);
            print_heading(t, set, n, out);
        }
        for (size_t m = 0; m < f->models->n && n; m++)
            print_row(f, t, set, n, m, NULL, out);
        print_means(f, t, set, n, out);
        for (size_t c = 0; c < n; c++)
            exp_paper_set_release(&set[c]);
    }
    if (section == EXP_PAPER_FIGURE10)
        print_ablation(f, out);
}
