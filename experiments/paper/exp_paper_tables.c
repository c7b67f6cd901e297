#include "experiments/paper/exp_paper_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* Prints a number of less than 10 with so many digits after the point, a larger one with fewer. */
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

/* A size as people write it: in the largest unit that leaves a whole number. */
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
    fprintf(out, "%s%s%s", text, *unit && is_plain_number(text) ? " " : "", is_plain_number(text) ? unit : "");
}

static void put_cell(double x, const char *unit, FILE *out)
{
    fprintf(out, " | ");
    exp_paper_put_unit(x, unit, out);
}

/* A table with a row per model and a column per view that has the number. */
struct model_table {
    const char *title, *unit;
    exp_paper_model_fn of;
    int arg;
    const char *paper; /* metric of Table 2, or NULL */
    const char *arch, *algo;
};

enum { MAX_COLUMNS = EXP_PAPER_N_VIEWS };

static size_t find_columns(const struct exp_paper_findings *f, const struct model_table *t,
                           struct exp_paper_set set[MAX_COLUMNS])
{
    size_t n = 0;

    for (size_t v = 0; v < EXP_PAPER_N_VIEWS; v++) {
        if (strcmp(exp_paper_view_arch(&exp_paper_views[v]), t->arch) != 0)
            continue;
        if (exp_paper_findings_set(f, &exp_paper_views[v], t->algo, &set[n]))
            continue;
        if (isnan(exp_paper_over(&set[n], t->of, EXP_PAPER_GEOMEAN, t->arg)))
            exp_paper_set_release(&set[n]);
        else
            n++;
    }
    return n;
}

/* Returns what the paper prints for a model, the last one for all. */
static double paper_number_of(const struct exp_paper_findings *f, const struct model_table *t, size_t model)
{
    const struct exp_published *p = &f->published;

    for (size_t r = 0; r < p->table.n_rows; r++) {
        const char *name = exp_paper_field(f, r, p->model);
        bool fits = model < f->models->n ? exp_published_is_model(name, f->models->model[model].name)
                                         : !strcmp(name, "GeoMean");

        if (fits && !strcmp(exp_paper_field(f, r, p->metric), t->paper) &&
            !strcmp(exp_paper_field(f, r, p->arch), t->arch))
            return exp_paper_number(exp_paper_field(f, r, p->value));
    }
    return (double)NAN;
}

static void release_columns(struct exp_paper_set *set, size_t n)
{
    for (size_t c = 0; c < n; c++)
        exp_paper_set_release(&set[c]);
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

/* Prints what a column has: of a model, or over the models that another column has. */
typedef void (*put_fn)(const struct model_table *t, const struct exp_paper_set *column, size_t model,
                       const struct exp_paper_set *like, FILE *out);

static void put_number(const struct model_table *t, const struct exp_paper_set *column, size_t model,
                       const struct exp_paper_set *like, FILE *out)
{
    put_cell(like ? exp_paper_geomean_like(column, t->of, t->arg, like) : t->of(column, model, t->arg), t->unit, out);
}

static void print_row(const struct exp_paper_findings *f, const struct model_table *t, const struct exp_paper_set *set,
                      size_t n, size_t model, put_fn put, FILE *out)
{
    fprintf(out, "| %s", f->models->model[model].name);
    if (t->paper)
        put_cell(paper_number_of(f, t, model), t->unit, out);
    for (size_t c = 0; c < n; c++)
        put(t, &set[c], model, NULL, out);
    fprintf(out, " |\n");
}

/* The paper's geometric mean over the models that a column has: of all, the one that it prints. */
static double paper_mean_of(const struct exp_paper_findings *f, const struct model_table *t,
                            const struct exp_paper_set *like)
{
    double x[EXP_MAX_MODELS];
    size_t n = 0;

    if (exp_paper_set_models(like) == f->models->n)
        return paper_number_of(f, t, f->models->n);
    for (size_t m = 0; m < f->models->n; m++) {
        if (exp_paper_set_has(like, m))
            x[n++] = paper_number_of(f, t, m);
    }
    return exp_stats_geomean(x, n);
}

static void print_mean(const struct exp_paper_findings *f, const struct model_table *t, const struct exp_paper_set *set,
                       size_t n, const struct exp_paper_set *like, put_fn put, FILE *out)
{
    fprintf(out, "| geometric mean of %zu", exp_paper_set_models(like));
    if (t->paper)
        put_cell(paper_mean_of(f, t, like), t->unit, out);
    for (size_t c = 0; c < n; c++)
        put(t, &set[c], 0, like, out);
    fprintf(out, " |\n");
}

static bool has_same_models(const struct exp_paper_set *a, const struct exp_paper_set *b)
{
    for (size_t m = 0; m < a->n_models; m++) {
        if (exp_paper_set_has(a, m) != exp_paper_set_has(b, m))
            return false;
    }
    return true;
}

/* A row for every choice of models that a column has: numbers of one row are means over the same models. */
static void print_means(const struct exp_paper_findings *f, const struct model_table *t,
                        const struct exp_paper_set *set, size_t n, put_fn put, FILE *out)
{
    for (size_t i = 0; i < n * f->models->n; i++) { /* those of more models first */
        size_t n_models = f->models->n - i / n, c = i % n, first = 0;

        while (!has_same_models(&set[first], &set[c]))
            first++;
        if (first == c && exp_paper_set_models(&set[c]) == n_models)
            print_mean(f, t, set, n, &set[c], put, out);
    }
}

static void print_model_table(const struct exp_paper_findings *f, const struct model_table *t, put_fn put, FILE *out)
{
    struct exp_paper_set set[MAX_COLUMNS];
    size_t n = find_columns(f, t, set);

    if (n) {
        fprintf(out, "\n%s\n", t->title);
        print_heading(t, set, n, out);
    }
    for (size_t m = 0; m < f->models->n && n; m++)
        print_row(f, t, set, n, m, put, out);
    print_means(f, t, set, n, put, out);
    release_columns(set, n);
}

void exp_paper_print_table1(const struct exp_paper_findings *f, FILE *out)
{
    (void)f;
    fprintf(out,
            "Ours are the machine files in `sim/machines`; they say where ways, latencies and issue rates are from.\n");
}

void exp_paper_print_table2(const struct exp_paper_findings *f, FILE *out)
{
    static const struct model_table tables[] = {
        { "Convolutions, x86: `sconv_openblas`, which is the paper's algorithm, over Base", "", exp_paper_speedup, 0,
          "conv_speedup", "x86", EXP_PAPER_ALGO },
        { "Whole model, x86, by Amdahl's law", "", exp_paper_model_speedup, 0, "model_speedup", "x86", EXP_PAPER_ALGO },
        { "Convolutions, POWER10", "", exp_paper_speedup, 0, "conv_speedup", "P10", EXP_PAPER_ALGO },
        { "Whole model, POWER10, by Amdahl's law", "", exp_paper_model_speedup, 0, "model_speedup", "P10",
          EXP_PAPER_ALGO },
        { "SConv with our own micro-kernel (not the paper's), x86", "", exp_paper_speedup, 0, NULL, "x86", "sconv" },
        { "SConv tuned for speed (not the paper's), x86", "", exp_paper_speedup, 0, NULL, "x86", "sconv_tuned" },
        { "SConv with our own micro-kernel (not the paper's), POWER10", "", exp_paper_speedup, 0, NULL, "P10",
          "sconv" },
        { "SConv tuned for speed (not the paper's), POWER10", "", exp_paper_speedup, 0, NULL, "P10", "sconv_tuned" },
    };

    for (size_t i = 0; i < N_OF(tables); i++)
        print_model_table(f, &tables[i], put_number, out);
}

void exp_paper_print_nothing(const struct exp_paper_findings *f, FILE *out)
{
    (void)f;
    (void)out;
}

/* Prints what each of SConv's ways of packing contributes: vector-based packing, filters ahead. */
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

            if (!exp_paper_views[v].packing || exp_paper_findings_set(f, &exp_paper_views[v], rows[i].algo, &s))
                continue;
            if (s.n && !isnan(exp_paper_over(&s, exp_paper_packing_reduction, EXP_PAPER_GEOMEAN, 0))) {
                fprintf(out, "| %s | %s", exp_paper_views[v].heading, rows[i].what);
                put_cell(exp_paper_over(&s, exp_paper_speedup, EXP_PAPER_GEOMEAN, 0), "", out);
                put_cell(exp_paper_over(&s, exp_paper_own_packing_percent, EXP_PAPER_GEOMEAN, 0), "%", out);
                put_cell(exp_paper_over(&s, exp_paper_packing_reduction, EXP_PAPER_GEOMEAN, 0), "", out);
                fprintf(out, " |\n");
            }
            exp_paper_set_release(&s);
        }
    }
    fprintf(
        out,
        "\nPadding: the paper pads the input up front, as loads and stores of its own, and counts them as 'others'; "
        "ours is padded while it is packed, but for the row that says otherwise.\n");
}

void exp_paper_print_figure10(const struct exp_paper_findings *f, FILE *out)
{
    static const struct model_table tables[] = {
        { "Base: im2col and packing, x86", "%", exp_paper_base_packing_percent, 0, NULL, "x86", EXP_PAPER_ALGO },
        { "SConv: packing, x86", "%", exp_paper_own_packing_percent, 0, NULL, "x86", EXP_PAPER_ALGO },
        { "Packing time, Base over SConv, x86", "", exp_paper_packing_reduction, 0, NULL, "x86", EXP_PAPER_ALGO },
        { "Base: im2col and packing, POWER10", "%", exp_paper_base_packing_percent, 0, NULL, "P10", EXP_PAPER_ALGO },
        { "SConv: packing, POWER10", "%", exp_paper_own_packing_percent, 0, NULL, "P10", EXP_PAPER_ALGO },
        { "Packing time, Base over SConv, POWER10", "", exp_paper_packing_reduction, 0, NULL, "P10", EXP_PAPER_ALGO },
    };

    for (size_t i = 0; i < N_OF(tables); i++)
        print_model_table(f, &tables[i], put_number, out);
    print_ablation(f, out);
}

/* A level's misses: of Base, of SConv, and how many times as many Base has. */
static void put_misses(const struct model_table *t, const struct exp_paper_set *column, size_t model,
                       const struct exp_paper_set *like, FILE *out)
{
    static const exp_paper_model_fn of[] = { exp_paper_base_miss_percent, exp_paper_own_miss_percent,
                                             exp_paper_miss_ratio };
    double x[N_OF(of)];

    for (size_t i = 0; i < N_OF(of); i++)
        x[i] = like ? exp_paper_geomean_like(column, of[i], t->arg, like) : of[i](column, model, t->arg);
    if (isnan(x[0]))
        fprintf(out, " | -");
    else
        fprintf(out, " | %.2g / %.2g %%; %.2f", x[0], x[1], x[2]);
}

void exp_paper_print_figure11(const struct exp_paper_findings *f, FILE *out)
{
    static const struct {
        const char *arch, *name;
    } machines[] = { { "x86", "x86" }, { "P10", "POWER10, which the paper does not show" } };
    char title[160];

    for (size_t a = 0; a < N_OF(machines); a++) {
        for (int level = 0; level < 3; level++) {
            const struct model_table t = { .title = title,
                                           .of = exp_paper_miss_ratio,
                                           .arg = level,
                                           .arch = machines[a].arch,
                                           .algo = EXP_PAPER_ALGO };

            exp_say(title, sizeof title,
                    "L%d, %s: misses of all loads, Base / SConv; then how many times as many misses Base has",
                    level + 1, machines[a].name);
            print_model_table(f, &t, put_misses, out);
        }
    }
}
