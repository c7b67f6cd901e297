#include "experiments/exp_figures.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/exp_error.h"
#include "experiments/exp_published.h"
#include "experiments/exp_table.h"

static const char *const figure_names[] = {
    "miss_rates_model",       "miss_rates_layers", "misses_tensors",       "misses_layers",
    "predicted_vs_simulated", "speedup_layers",    "observed_vs_replayed",
};

/* Published numbers that figures show: the variable's name, and value = scale * printed + offset. */
struct paper_number {
    const char *variable, *figure, *metric;
    double offset, scale;
};

static const struct paper_number paper_numbers[] = {
    { "paper_l1_base", "Figure 11a", "base_l1_hit_percent_of_loads", 100.0, -1.0 },
    { "paper_l1_sconv", "Figure 11a", "sconv_l1_hit_percent_of_loads", 100.0, -1.0 },
    { "paper_l2_ratio", "Figure 11b", "l2_miss_improvement_avg", 0.0, 1.0 },
    { "paper_l3_ratio", "Figure 11c", "l3_miss_improvement_avg", 0.0, 1.0 },
};

enum {
    N_PAPER_NUMBERS = sizeof paper_numbers / sizeof paper_numbers[0],
    N_FIXED_VARIABLES = 9,
    N_VARIABLES = N_FIXED_VARIABLES + N_PAPER_NUMBERS,
};

struct drawing {
    const struct exp_figures *f;
    char *folder;                               /* of the scripts */
    char *layers, *totals, *classes, *observed; /* plain copies */
    char paper[N_PAPER_NUMBERS][32];
    struct exp_plot_variable variable[N_VARIABLES];
};

/* ---- plain copies: gnuplot 5.4 cuts a quoted string at its first comma, so it gets tabs and no quotes ---- */

static void put_plain(FILE *out, const char *text, bool is_last)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text == '"' ? '\'' : *text, out);
    fputc(is_last ? '\n' : '\t', out);
}

static int write_plain(const struct exp_table *t, const char *path)
{
    FILE *out = fopen(path, "w");
    bool failed;

    if (!out)
        return -errno;
    errno = 0;
    for (size_t c = 0; c < t->n_columns; c++)
        put_plain(out, t->column[c], c + 1 == t->n_columns);
    for (size_t i = 0; i < t->n_rows * t->n_columns; i++)
        put_plain(out, t->field[i], (i + 1) % t->n_columns == 0);
    failed = ferror(out) != 0;
    if (fclose(out) || failed)
        return errno ? -errno : -EIO;
    return 0;
}

static int make_plain(const struct drawing *d, const char *csv, const char *name, char **path, char *why,
                      size_t why_bytes)
{
    struct exp_table t;
    int err = exp_table_read(&t, csv, why, why_bytes);

    if (err)
        return err;
    if (!t.n_rows)
        err = exp_fail(why, why_bytes, -EINVAL, "%s: no rows to draw", csv);
    *path = err ? NULL : exp_format("%s/.%s.plain.%ld", d->f->out_dir, name, (long)getpid());
    if (!err) {
        err = *path ? write_plain(&t, *path) : -ENOMEM;
        if (err)
            exp_fail(why, why_bytes, err, "cannot write to '%s': %s", d->f->out_dir, strerror(-err));
    }
    exp_table_release(&t);
    return err;
}

/* Classes of misses and observed streams are not in every result: without them, the path stays NULL. */
static int make_plain_if_any(const struct drawing *d, const char *csv, const char *name, char **path, char *why,
                             size_t why_bytes)
{
    struct exp_table t;
    int err = csv ? exp_table_read(&t, csv, why, why_bytes) : -ENOENT;
    size_t n_rows = err ? 0 : t.n_rows;

    if (csv)
        exp_table_release(&t);
    if (err == -ENOENT || (!err && !n_rows))
        return 0;
    return err ? err : make_plain(d, csv, name, path, why, why_bytes);
}

/* ---- variables ---- */

static int read_paper(struct drawing *d, char *why, size_t why_bytes)
{
    struct exp_published p;
    char ignored[256];
    int err = exp_published_read(&p, d->f->experiments_dir, why, why_bytes);

    if (err)
        return err;
    for (size_t i = 0; i < N_PAPER_NUMBERS; i++) {
        const struct paper_number *n = &paper_numbers[i];
        double value;

        if (!exp_published_double(&p, n->figure, "all", d->f->arch, n->metric, &value, ignored, sizeof ignored))
            snprintf(d->paper[i], sizeof d->paper[i], "%g", n->offset + n->scale * value);
    }
    exp_published_release(&p);
    return 0;
}

static void set_variables(struct drawing *d)
{
    const struct exp_plot_variable fixed[N_FIXED_VARIABLES] = {
        { "figures", d->folder },
        { "layers", d->layers },
        { "totals", d->totals },
        { "classes", d->classes ? d->classes : "" },
        { "machine", d->f->machine },
        { "simulator", d->f->simulator },
        { "host", d->f->host },
        { "observed", d->observed ? d->observed : "" },
        { "observed_by", d->f->observed ? d->f->observed : "" },
    };

    memcpy(d->variable, fixed, sizeof fixed);
    for (size_t i = 0; i < N_PAPER_NUMBERS; i++)
        d->variable[N_FIXED_VARIABLES + i] = (struct exp_plot_variable){ paper_numbers[i].variable, d->paper[i] };
}

static int prepare(struct drawing *d, char *why, size_t why_bytes)
{
    int err;

    d->folder = exp_format("%s/figures", d->f->experiments_dir);
    err = d->folder ? read_paper(d, why, why_bytes) : exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    if (!err)
        err = make_plain(d, d->f->layers_csv, "layers", &d->layers, why, why_bytes);
    if (!err)
        err = make_plain(d, d->f->totals_csv, "totals", &d->totals, why, why_bytes);
    if (!err)
        err = make_plain_if_any(d, d->f->classes_csv, "classes", &d->classes, why, why_bytes);
    if (!err)
        err = make_plain_if_any(d, d->f->observed_csv, "observed", &d->observed, why, why_bytes);
    if (!err)
        set_variables(d);
    return err;
}

static void finish(struct drawing *d)
{
    char *const temporary[] = { d->layers, d->totals, d->classes, d->observed };

    for (size_t i = 0; i < sizeof temporary / sizeof temporary[0]; i++) {
        if (temporary[i])
            unlink(temporary[i]);
        free(temporary[i]);
    }
    free(d->folder);
}

int exp_figures_draw(const struct exp_figures *f, exp_plot_report_fn report, void *ctx, char *why, size_t why_bytes)
{
    struct drawing d = { .f = f };
    int err = prepare(&d, why, why_bytes);

    if (!err) {
        const struct exp_plot_figures figures = {
            .scripts_dir = d.folder,
            .out_dir = f->out_dir,
            .figure = figure_names,
            .n_figures = sizeof figure_names / sizeof figure_names[0],
            .variable = d.variable,
            .n_variables = N_VARIABLES,
        };

        err = exp_plot_figures(&figures, report, ctx, why, why_bytes);
    }
    finish(&d);
    return err;
}
