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

/* A question that is being run. */
struct course {
    const struct exp_question *question;
    char *session;
    struct exp_options_asked asked;
    struct exp_elsewhere elsewhere;
};

static void *options_of(const struct course *c)
{
    return c->session + c->question->options_at;
}

static struct exp_why *why_of(const struct course *c)
{
    return (struct exp_why *)(void *)(c->session + c->question->why_at);
}

static int read_options(struct course *c, int argc, char **argv)
{
    const struct exp_question *q = c->question;
    const struct exp_options_of of = { exp_question_program(q), q->options, *q->needs ? q->needs : NULL, q->document };

    if (q->argv_at)
        memcpy(c->session + q->argv_at, &argv, sizeof argv);
    return exp_options_parse(&of, options_of(c), &c->asked, argc, argv, why_of(c));
}

/* Goes to the project's folder. The options are read again if that changes what they say. */
static int enter(struct course *c, int argc, char **argv)
{
    int err = exp_elsewhere_enter(&c->elsewhere, c->question->options, options_of(c), argc, argv, why_of(c));

    return err || !c->elsewhere.argv ? err : read_options(c, c->elsewhere.argc, c->elsewhere.argv);
}

static int do_part(const struct course *c, int (*part)(void *session))
{
    return part ? part(c->session) : 0;
}

static int follow(const struct course *c)
{
    const struct exp_question *q = c->question;
    int err = do_part(c, q->prepare), drawn;

    if (!err)
        err = do_part(c, q->work);
    if (!err)
        err = do_part(c, q->write);
    if (err)
        return err;
    drawn = do_part(c, q->draw);
    err = exp_results_commit((struct exp_results *)(void *)(c->session + q->results_at), why_of(c));
    if (!err)
        err = do_part(c, q->answer);
    return err ? err : exp_program_drawn(drawn, why_of(c));
}

static int obey(const struct course *c)
{
    const struct exp_question *q = c->question;
    const struct exp_options_of of = { exp_question_program(q), q->options, NULL, q->document };

    if (c->asked.helps)
        exp_options_usage(&of, stdout);
    else if (c->asked.documents)
        q->document(stdout);
    else if (c->asked.queries && q->query)
        return q->query(c->session);
    else
        return q->run ? q->run(c->session) : follow(c);
    return 0;
}

/* Runs it, and releases all but the session. Returns the exit status. */
static int run(struct course *c, int argc, char **argv)
{
    const struct exp_question *q = c->question;
    int err = read_options(c, argc, argv), status = 0;

    if (!err && !c->asked.helps && !c->asked.documents)
        err = enter(c, argc, argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!err)
        err = exp_signal_install(exp_question_program(q));
    if (!err)
        err = obey(c);
    if (!err && q->status)
        status = q->status(c->session);
    if (q->release)
        q->release(c->session);
    exp_elsewhere_release(&c->elsewhere);
    err = exp_program_end(exp_question_program(q), err, why_of(c));
    return err ? err : status;
}

int exp_main(const struct exp_question *q, int argc, char **argv)
{
    struct course c = { .question = q, .session = calloc(1, q->session_bytes) };
    int status;

    if (!c.session) {
        fprintf(stderr, "%s: out of memory\n", exp_question_program(q));
        return EXP_EXIT_BAD_INPUT;
    }
    status = run(&c, argc, argv);
    free(c.session);
    return status;
}

int exp_main_models(struct exp_models *m, const char *model, const char *layers, struct exp_why *why)
{
    int err = exp_models_read(m, EXP_EXPERIMENTS_DIR, model, layers, why);

    for (size_t i = 0; i < m->n && !err; i++)
        exp_model_print_notes(&m->model[i], stderr);
    return err;
}

int exp_main_model(struct exp_model *m, const char *model, const char *layers, struct exp_why *why)
{
    int err = exp_model_find(m, EXP_EXPERIMENTS_DIR, model, why);

    if (!err && *layers)
        err = exp_model_filter(m, layers, why);
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

int exp_main_store(struct exp_store **s, const char *store, const char *results, const char *known, struct exp_why *why)
{
    char *path;
    size_t n;
    int err;

    *s = NULL;
    if (!strcmp(store, EXP_NO_FILE))
        return 0;
    path = *store ? exp_format("%s", store) : exp_format("%s/store.sqlite", results);
    if (!path)
        return exp_fail(why, -ENOMEM, "out of memory");
    err = exp_store_open(s, path, why);
    free(path);
    if (!err && known && *known)
        err = exp_store_merge(*s, known, &n, why);
    return err;
}

int exp_main_needs_store(struct exp_why *why)
{
    return exp_fail(why, -EINVAL, "LAUNCHER=slurm: needs a store, not STORE=%s", EXP_NO_FILE);
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

int exp_main_share(size_t *share, size_t *n_shares, const char *text, const char *store, struct exp_why *why)
{
    const char *at = text;

    *share = *n_shares = 0;
    if (!*text)
        return 0;
    if (!read_digits(&at, share, '/') || !read_digits(&at, n_shares, '\0') || *share >= *n_shares)
        return exp_fail(why, -EINVAL, "SHARE: must be as 0/8, up to 7/8, not '%s'", text);
    if (!*store || !strcmp(store, EXP_NO_FILE))
        return exp_fail(why, -EINVAL, "SHARE=%s: STORE must name the file that keeps the share", text);
    return 0;
}

static int draw(const struct exp_question *q, const struct exp_main_figures *f,
                const struct exp_plot_variable *variable, size_t n, struct exp_why *why)
{
    const size_t n_figures = exp_question_n_figures(q);
    struct exp_program_figures list = { .program = exp_question_program(q), .dir = f->results->path };
    const struct exp_plot_figures figures = {
        .scripts_dir = EXP_FIGURES_DIR,
        .data_dir = f->results->dir.path,
        .out_dir = f->results->dir.path,
        .figure = q->figures,
        .n_figures = n_figures,
        .variable = variable,
        .n_variables = n,
    };

    printf("\nfigures\n");
    return exp_plot_recipe_draw(&figures, exp_program_report_figure, &list, why);
}

int exp_main_draw(const struct exp_question *q, const struct exp_main_figures *f, struct exp_why *why)
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
    err = draw(q, f, variable, n, why);
    free(variable);
    return err;
}
