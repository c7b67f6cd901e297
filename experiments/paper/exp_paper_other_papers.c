#include "experiments/paper/exp_paper_other_papers.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/paper/exp_paper_formulas.h"
#include "experiments/setup/exp_model.h"

int exp_paper_others_read(struct exp_paper_others *o, const char *experiments_dir, struct exp_why *why)
{
    const struct {
        const char *name;
        size_t *column;
    } wanted[] = { { "paper", &o->paper },
                   { "figure_or_table", &o->figure },
                   { "workload", &o->workload },
                   { "metric", &o->metric },
                   { "value", &o->value } };
    char *path = exp_format("%s/published/others.csv", experiments_dir);
    int err;

    *o = (struct exp_paper_others){ 0 };
    err = path ? exp_table_read(&o->table, path, why) : exp_fail(why, -ENOMEM, "out of memory");
    free(path);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !err; i++)
        err = exp_table_column(&o->table, wanted[i].name, wanted[i].column, why) ? -EINVAL : 0;
    return err;
}

void exp_paper_others_release(struct exp_paper_others *o)
{
    exp_table_release(&o->table);
    *o = (struct exp_paper_others){ 0 };
}

/* ---- ours ---- */

/* Returns of() of a layer of a model; NaN if there is no such layer. */
static double of_layer(const char *dir, const char *model, const char *layer, double (*of)(const struct conv_problem *))
{
    struct exp_model m;
    struct exp_why ignored;
    double x = (double)NAN;

    if (exp_model_find(&m, dir, model, &ignored))
        return x;
    for (size_t l = 0; l < m.n_layers; l++) {
        if (!strcmp(m.layer[l].name, layer))
            x = of(&m.layer[l].problem);
    }
    exp_model_release(&m);
    return x;
}

static double lift_gemm_mb(const char *dir)
{
    return of_layer(dir, "vgg16", "conv1_2", exp_paper_im2col_bytes) / 1e6;
}

static double lift_direct_mb(const char *dir)
{
    return of_layer(dir, "vgg16", "conv1_2", exp_paper_input_bytes) / 1e6;
}

static double polydl_layers(const char *dir)
{
    return exp_models_rows(dir, "polydl/*.csv") - exp_models_rows(dir, "polydl/excluded.csv");
}

static double polydl_percent(const char *dir)
{
    return 100 * polydl_layers(dir) / exp_models_rows(dir, "polydl/*.csv");
}

static const struct other {
    const char *paper, *metric;
    double (*ours)(const char *experiments_dir);
    const char *unit;
    double tolerance;
    const char *why;
} others[] = {
#define OTHER(...) { __VA_ARGS__ },
#include "experiments/paper/other_papers.def"
};

enum { N_OTHERS = sizeof others / sizeof others[0] };

/* ---- the page ---- */

static bool fits(const char *wanted, const char *there)
{
    return !*wanted || !strcmp(wanted, there);
}

static const struct other *other_of(const struct exp_paper_others *o, size_t row)
{
    for (size_t i = 0; i < N_OTHERS; i++) {
        if (fits(others[i].paper, exp_table_string(&o->table, row, o->paper)) &&
            fits(others[i].metric, exp_table_string(&o->table, row, o->metric)))
            return &others[i];
    }
    return NULL;
}

static void print_checked(struct exp_paper_others *o, size_t row, const struct other *x, const char *dir, FILE *out)
{
    const char *text = exp_table_string(&o->table, row, o->value);
    double ours = x->ours(dir), paper = strtod(text, NULL);
    bool agrees = fabs(ours / paper - 1) <= x->tolerance;

    o->n_checked++;
    o->n_agree += agrees;
    fprintf(out, "- %s, %s, %s: printed %s%s%s, ours %.4g%s%s (%s): %s.\n", exp_table_string(&o->table, row, o->paper),
            exp_table_string(&o->table, row, o->workload), exp_table_string(&o->table, row, o->metric), text,
            *x->unit ? " " : "", x->unit, ours, *x->unit ? " " : "", x->unit, x->why, agrees ? "agrees" : "differs");
}

/* Those that a line says cannot be checked, with how many there are. */
static void print_unchecked(const struct exp_paper_others *o, const struct other *x, FILE *out)
{
    size_t n = 0;

    for (size_t r = 0; r < o->table.n_rows; r++)
        n += other_of(o, r) == x;
    if (n)
        fprintf(out, "- %s, %zu numbers: %s.\n", x->paper, n, x->why);
}

int exp_paper_others_print(struct exp_paper_others *o, const char *experiments_dir, FILE *out, struct exp_why *why)
{
    o->n_checked = o->n_agree = o->n_unused = 0;
    for (size_t r = 0; r < o->table.n_rows; r++) {
        const struct other *x = other_of(o, r);

        o->n_unused += !x;
        if (x && x->ours)
            print_checked(o, r, x, experiments_dir, out);
    }
    fprintf(out, "\nNot reproducible here:\n\n");
    for (size_t i = 0; i < N_OTHERS; i++) {
        if (!others[i].ours)
            print_unchecked(o, &others[i], out);
    }
    return ferror(out) ? exp_fail(why, -EIO, "cannot write the page") : 0;
}
