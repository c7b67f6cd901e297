#include "experiments/run/exp_figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_plot.h"
#include "experiments/setup/exp_algo_plot.h"
#include "experiments/setup/exp_published.h"
#include "experiments/setup/exp_question.h"
#include "kernels/shape/problem.h"

extern const struct exp_question question_experiment;

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
    N_FIXED_VARIABLES = 8,
    SHAPE_BYTES = CONV_N_FIELDS * 16,
    N_VARIABLES = N_FIXED_VARIABLES + N_PAPER_NUMBERS + EXP_N_ALGO_VARIABLES,
};

struct drawing {
    const struct exp_figures *f;
    char *folder; /* of the scripts */
    char paper[N_PAPER_NUMBERS][32];
    char shape[SHAPE_BYTES];
    struct exp_algo_plot algos;
    struct exp_plot_variable variable[N_VARIABLES];
};

static int read_paper(struct drawing *d, struct exp_why *why)
{
    struct exp_published p;
    struct exp_why ignored;
    int err = exp_published_read(&p, d->f->experiments_dir, why);

    if (err)
        return err;
    for (size_t i = 0; i < N_PAPER_NUMBERS; i++) {
        const struct paper_number *n = &paper_numbers[i];
        double value;

        if (!exp_published_double(&p, n->figure, "all", d->f->arch, n->metric, &value, &ignored))
            snprintf(d->paper[i], sizeof d->paper[i], "%g", n->offset + n->scale * value);
    }
    exp_published_release(&p);
    return 0;
}

/* Sets the scripts' variables. */
static void set_variables(struct drawing *d)
{
    const struct exp_plot_variable fixed[N_FIXED_VARIABLES] = {
        { EXP_PLOT_SCRIPTS_VARIABLE, d->folder },
        { "machine", d->f->machine },
        { "simulator", d->f->simulator },
        { "host", d->f->host },
        { "what", d->f->host },
        { "observed_by", d->f->observed },
        { "levels", d->f->levels },
        { "shape_columns", d->shape },
    };

    for (size_t i = 0; i < CONV_N_FIELDS; i++)
        exp_say_more(d->shape, sizeof d->shape, "%s%s", i ? " " : "", conv_fields[i].name);
    memcpy(d->variable, fixed, sizeof fixed);
    for (size_t i = 0; i < N_PAPER_NUMBERS; i++)
        d->variable[N_FIXED_VARIABLES + i] = (struct exp_plot_variable){ paper_numbers[i].variable, d->paper[i] };
    exp_algo_plot_init(&d->algos);
    memcpy(&d->variable[N_FIXED_VARIABLES + N_PAPER_NUMBERS], d->algos.variable, sizeof d->algos.variable);
}

int exp_figures_draw(const struct exp_figures *f, exp_plot_report_fn report, void *ctx, struct exp_why *why)
{
    struct drawing d = { .f = f, .folder = exp_format("%s/figures", f->experiments_dir) };
    int err = d.folder ? read_paper(&d, why) : exp_fail(why, -ENOMEM, "out of memory");

    if (!err) {
        const struct exp_plot_figures figures = {
            .scripts_dir = d.folder,
            .data_dir = f->dir,
            .out_dir = f->dir,
            .figure = question_experiment.figures,
            .n_figures = exp_question_n_figures(&question_experiment),
            .variable = d.variable,
            .n_variables = N_VARIABLES,
        };

        set_variables(&d);
        err = exp_plot_recipe_draw(&figures, report, ctx, why);
    }
    free(d.folder);
    return err;
}
