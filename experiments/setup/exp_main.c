#include "experiments/setup/exp_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_plot.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_algo_plot.h"
#include "experiments/setup/exp_elsewhere.h"
#include "experiments/setup/exp_model_build.h"

static int obey(const struct exp_main *m, void *session, const struct exp_options *o)
{
    if (o->helps)
        exp_options_usage(m->program, stdout);
    else if (o->documents)
        m->document(stdout);
    else
        return m->run(session);
    return 0;
}

/* Goes to the project's folder. The options are read again if that changes what they say. */
static int enter(struct exp_elsewhere *e, enum exp_program program, struct exp_options *options, int argc, char **argv,
                 struct exp_why *why)
{
    int err = exp_elsewhere_enter(e, options, program, argc, argv, why);

    return err || !e->argv ? err : exp_options_parse(options, program, e->argc, e->argv, why);
}

int exp_main(const struct exp_main *m, void *session, struct exp_options *options, struct exp_why *why, int argc,
             char **argv)
{
    const char *name = exp_options_program(m->program);
    struct exp_elsewhere elsewhere = { 0 };
    int err = exp_options_parse(options, m->program, argc, argv, why);

    if (!err && !options->helps && !options->documents)
        err = enter(&elsewhere, m->program, options, argc, argv, why);

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!err)
        err = exp_signal_install(name);
    if (!err)
        err = obey(m, session, options);
    m->release(session);
    exp_elsewhere_release(&elsewhere);
    return exp_program_end(name, err, why);
}

int exp_main_models(struct exp_models *m, const struct exp_options *o, struct exp_why *why)
{
    int err = exp_models_read(m, EXP_EXPERIMENTS_DIR, o->model, o->layers, why);

    for (size_t i = 0; i < m->n && !err; i++)
        exp_model_print_notes(&m->model[i], stderr);
    return err;
}

int exp_main_model(struct exp_model *m, const struct exp_options *o, struct exp_why *why)
{
    int err = exp_model_find(m, EXP_EXPERIMENTS_DIR, o->model, why);

    if (!err && *o->layers)
        err = exp_model_filter(m, o->layers, why);
    if (!err)
        exp_model_print_notes(m, stderr);
    return err;
}

int exp_main_progress(struct exp_progress **p, const double seconds[EXP_N_WORKS], struct exp_why *why)
{
    int err = exp_progress_new(p, stderr, exp_progress_is_terminal(stderr), seconds, ctr_now_ns);

    if (!err)
        err = exp_progress_live(*p);
    if (!err)
        return 0;
    exp_progress_free(*p);
    *p = NULL;
    return exp_fail(why, err, "out of memory");
}

int exp_main_store(struct exp_store **s, const struct exp_options *o, struct exp_why *why)
{
    char *path;
    size_t n;
    int err;

    *s = NULL;
    if (!strcmp(o->store, EXP_STORE_NONE))
        return 0;
    path = *o->store ? exp_format("%s", o->store) : exp_format("%s/store.sqlite", o->results);
    if (!path)
        return exp_fail(why, -ENOMEM, "out of memory");
    err = exp_store_open(s, path, why);
    free(path);
    if (!err && *o->known)
        err = exp_store_merge(*s, o->known, &n, why);
    return err;
}

int exp_main_needs_store(struct exp_why *why)
{
    return exp_fail(why, -EINVAL, "LAUNCHER=slurm: needs a store, not STORE=%s", EXP_STORE_NONE);
}

/* Reads a whole number of at most so many digits, and the character behind it, which must be `end`. */
static bool read_digits(const char **at, size_t *value, char end)
{
    enum { MOST_DIGITS = 9 };
    size_t n = strspn(*at, "0123456789");

    if (!n || n > MOST_DIGITS || (*at)[n] != end)
        return false;
    *value = strtoul(*at, NULL, 10);
    *at += n + 1;
    return true;
}

int exp_main_share(size_t *share, size_t *n_shares, const struct exp_options *o, struct exp_why *why)
{
    const char *at = o->share;

    *share = *n_shares = 0;
    if (!*o->share)
        return 0;
    if (!read_digits(&at, share, '/') || !read_digits(&at, n_shares, '\0') || *share >= *n_shares)
        return exp_fail(why, -EINVAL, "SHARE: must be as 0/8, up to 7/8, not '%s'", o->share);
    if (!*o->store || !strcmp(o->store, EXP_STORE_NONE))
        return exp_fail(why, -EINVAL, "SHARE=%s: STORE must name the file that keeps the share", o->share);
    return 0;
}

static int draw(const struct exp_main_figures *f, const struct exp_plot_variable *variable, size_t n,
                struct exp_why *why)
{
    struct exp_program_figures list = { .program = exp_options_program(f->program), .dir = f->results->path };
    const struct exp_plot_figures figures = {
        .scripts_dir = EXP_FIGURES_DIR,
        .data_dir = f->results->dir.path,
        .out_dir = f->results->dir.path,
        .figure = f->figure,
        .n_figures = f->n_figures,
        .variable = variable,
        .n_variables = n,
    };

    printf("\nfigures\n");
    return exp_plot_recipe_draw(&figures, exp_program_report_figure, &list, why);
}

int exp_main_draw(const struct exp_main_figures *f, struct exp_why *why)
{
    const struct exp_plot_variable common[] = { { EXP_PLOT_SCRIPTS_VARIABLE, EXP_FIGURES_DIR }, { "what", f->what } };
    const size_t n_common = sizeof common / sizeof common[0], n = n_common + EXP_N_ALGO_VARIABLES + f->n_variables;
    struct exp_plot_variable *variable = calloc(n, sizeof *variable);
    struct exp_algo_plot algos;
    int err;

    if (!variable)
        return exp_fail(why, -ENOMEM, "out of memory");
    exp_algo_plot_init(&algos);
    memcpy(variable, common, sizeof common);
    memcpy(variable + n_common, algos.variable, sizeof algos.variable);
    if (f->n_variables)
        memcpy(variable + n_common + EXP_N_ALGO_VARIABLES, f->variable, f->n_variables * sizeof *variable);
    err = draw(f, variable, n, why);
    free(variable);
    return err;
}
