#include "experiments/bench/course/course.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/program.h"
#include "experiments/base/slurm.h"
#include "experiments/base/text.h"
#include "experiments/bench/case/machine.h"
#include "experiments/bench/course/options_shared.h"
#include "experiments/bench/course/output.h"
#include "experiments/bench/course/project.h"
#include "kernels/emit/plan_json.h"

/* ---- the course ---- */

/* A question that is being run. */
struct course {
    const struct exp_question *question;
    char *session;
    struct exp_options_asked asked;
    struct exp_command_line line;
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
    const struct exp_options_of of = { exp_question_program(q), q->options, *q->needs ? q->needs : NULL,
                                       exp_question_has_tables(q) };

    if (q->argv_at)
        memcpy(c->session + q->argv_at, &argv, sizeof argv);
    return exp_options_parse(&of, options_of(c), &c->asked, argc, argv, why_of(c));
}

/* Changes to the project's folder, and reads the options again if paths became absolute. */
static int enter(struct course *c, int argc, char **argv)
{
    int err = exp_project_enter(&c->line, c->question->options, options_of(c), argc, argv, why_of(c));

    return err || !c->line.argv ? err : read_options(c, c->line.argc, c->line.argv);
}

static int do_part(const struct course *c, int (*part)(void *session))
{
    return part ? part(c->session) : 0;
}

/* ---- results ---- */

static struct exp_results *results_of(const struct course *c)
{
    return (struct exp_results *)(void *)(c->session + c->question->results_at);
}

static const char *what_of(const struct course *c)
{
    return c->question->what_at ? c->session + c->question->what_at : "";
}

static const struct sim_machine *machine_of(const struct course *c)
{
    const size_t at = c->question->machine_at;

    return at ? (const struct sim_machine *)(const void *)(c->session + at) : NULL;
}

/* Returns the models of the results. */
static const struct exp_model *models_of(const struct course *c, size_t *n)
{
    const struct exp_question *q = c->question;
    const struct exp_models *models = (const struct exp_models *)(const void *)(c->session + q->models_at);

    *n = q->models_at ? models->n : q->model_at ? 1 : 0;
    return q->models_at ? models->model : (const struct exp_model *)(const void *)(c->session + q->model_at);
}

static const char *option(const struct course *c, const char *name)
{
    return exp_options_text(c->question->options, options_of(c), name);
}

static unsigned number(const struct course *c, const char *name)
{
    return exp_options_number(c->question->options, options_of(c), name);
}

static bool has_results(const struct course *c)
{
    return c->question->place && c->question->results_at && !results_of(c)->leaves_none;
}

/* Finds the place of the results and opens the results, unless the question has done so. */
static int open_results(const struct course *c)
{
    struct exp_results *r = results_of(c);
    const struct exp_results_place place = { .layout = c->question->place,
                                             .options = options_of(c),
                                             .results = option(c, "RESULTS"),
                                             .model = option(c, "MODEL"),
                                             .layers = option(c, "LAYERS"),
                                             .machine = option(c, "MACHINE") };
    size_t n;
    const struct exp_model *model = models_of(c, &n);
    int err = 0;

    if (!has_results(c) || r->is_open)
        return 0;
    if (!r->path)
        err = exp_results_find(r, place, machine_of(c), model, n, why_of(c));
    return err ? err : exp_results_open(r, why_of(c));
}

static int write_results(const struct course *c)
{
    const struct exp_question *q = c->question;
    const struct exp_outdir *dir = &results_of(c)->dir;
    int err = do_part(c, q->write);

    if (!err && q->machine_at)
        err = exp_results_write_machine(dir, machine_of(c), option(c, "MACHINE"), why_of(c));
    if (!err && q->verdict)
        err = exp_outdir_write(dir, "verdict.txt", q->verdict, c->session, why_of(c));
    return err;
}

/* Sets the variables of all figures. */
static void set_common(struct exp_variables *v, const char *what)
{
    exp_variables_set(v, EXP_PLOT_SCRIPTS_VARIABLE, EXP_FIGURES_DIR);
    exp_variables_set(v, "what", what);
    exp_variables_of_algos(v);
}

/* Draws the record's figures, and lists the files. */
static int draw_all(const struct exp_question *q, const struct exp_results *r, const struct exp_variables *v,
                    struct exp_why *why)
{
    struct exp_program_figures list = { .program = exp_question_program(q), .dir = r->path };
    const struct exp_plot_figures figures = {
        .scripts_dir = EXP_FIGURES_DIR,
        .data_dir = r->dir.path,
        .out_dir = r->dir.path,
        .figure = q->figures,
        .n_figures = exp_question_n_figures(q),
        .variable = v->variable,
        .n_variables = v->n,
    };

    printf("\nfigures\n");
    return exp_plot_recipe_draw(&figures, exp_program_report_figure, &list, why);
}

static int draw(const struct course *c)
{
    const struct exp_question *q = c->question;
    struct exp_variables v = { 0 };
    int err = 0;

    if (q->draw || !*q->figures)
        return do_part(c, q->draw);
    set_common(&v, what_of(c));
    if (!q->variables || q->variables(c->session, &v))
        err = draw_all(q, results_of(c), &v, why_of(c));
    exp_variables_release(&v);
    return err;
}

/* Says where the results are, and the answer, unless the question does so. */
static int answer(const struct course *c)
{
    const struct exp_question *q = c->question;
    int err;

    if (q->answer)
        return q->answer(c->session);
    printf("\n%s\ntables: %s/\n", what_of(c), results_of(c)->path);
    if (q->say_kept)
        q->say_kept(c->session, stdout);
    if (!q->verdict)
        return 0;
    printf("\n");
    err = q->verdict(c->session, stdout);
    return err ? exp_fail(why_of(c), err, "out of memory for the verdict") : 0;
}

static void print_screen(const struct course *c, FILE *out)
{
    const struct exp_terminal terminal = exp_terminal_of(out);
    struct exp_screen screen = { 0 };

    c->question->screen(c->session, &screen);
    exp_screen_print(&screen, &terminal, out);
    exp_screen_release(&screen);
}

/* Prints the screen to the user, while the standard output is diverted. A reader that has gone is no error. */
static int show_screen(const struct course *c, const struct exp_output *output)
{
    const int fd = dup(output->own);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    int err = out ? 0 : -errno;

    if (out) {
        print_screen(c, out);
        err = fclose(out) ? -errno : 0;
    } else if (fd >= 0) {
        close(fd);
    }
    return err == -EPIPE ? 0 : err;
}

/* Moves the results into place and answers, unless a screen has the answer: then the results have the whole output. */
static int conclude(const struct course *c, struct exp_output *output)
{
    int err = output->own < 0 ? 0 : answer(c);

    if (!err && output->own >= 0)
        err = exp_output_write(output, &results_of(c)->dir, why_of(c));
    if (!err)
        err = exp_results_commit(results_of(c), why_of(c));
    return err || output->own >= 0 ? err : answer(c);
}

static int finish(const struct course *c, struct exp_output *output)
{
    const struct exp_question *q = c->question;
    int err = write_results(c), shown, drawn, paged;

    if (err)
        return err;
    shown = output->own < 0 ? 0 : show_screen(c, output); /* before figures and pages, which take seconds */
    drawn = draw(c);
    paged = q->add_page ? q->add_page(results_of(c), exp_question_program(q)) : do_part(c, q->page);
    err = conclude(c, output);
    if (!err && shown)
        return exp_fail(why_of(c), shown, "cannot write to standard output: %s", strerror(-shown));
    return err ? err : exp_program_drawn(drawn ? drawn : paged, why_of(c));
}

/* ---- tasks, and jobs of a cluster ---- */

static struct exp_crew *crew_of(const struct course *c)
{
    return (struct exp_crew *)(void *)(c->session + c->question->crew_at);
}

/* Tells whether jobs of a cluster do this process's work. */
static bool is_launched(const struct course *c)
{
    return c->question->jobs && number(c, "LAUNCHER") == EXP_LAUNCH_SLURM && !crew_of(c)->n_shares;
}

static int open_store(const struct course *c)
{
    struct exp_crew *crew = crew_of(c);
    int err = exp_store_asked(&crew->store, option(c, "STORE"), option(c, "RESULTS"), option(c, "KNOWN"), why_of(c));

    if (!err && !crew->store && is_launched(c))
        err = exp_fail(why_of(c), -EINVAL, "LAUNCHER=slurm: needs a store, not STORE=%s", EXP_NO_FILE);
    return err;
}

/* Merges the stores of the jobs. The store of one job for everything is not needed again. */
static int merge_parts(const struct course *c, const struct exp_slurm *s, struct exp_why *why)
{
    int err = 0;

    for (unsigned i = 0; i < (s->n_shares ? s->n_shares : 1) && !err; i++) {
        char *path = exp_format("%s%u.sqlite", s->part, i);
        size_t n;

        if (!access(path, F_OK))
            err = exp_store_merge(crew_of(c)->store, path, &n, why);
        if (!err && !s->n_shares)
            unlink(path);
        free(path);
    }
    return err;
}

/* Tells whether tasks have no results. */
static int are_tasks_left(const struct course *c, const struct exp_tasks *tasks, bool *are_left)
{
    const size_t n = exp_tasks_first(tasks, tasks->n_jobs);
    int64_t *id = exp_new(n, sizeof *id);
    struct exp_store_states states;
    int err = exp_store_add(crew_of(c)->store, tasks->task, n, id, why_of(c));

    if (!err)
        err = exp_store_count(crew_of(c)->store, id, n, &states, why_of(c));
    *are_left = !err && states.n_done < n;
    free(id);
    return err;
}

/* Has the jobs do the work. Where sbatch refuses, the store stays as before. */
static int run_jobs(const struct course *c, const struct exp_slurm *s)
{
    int err = exp_slurm_run(s, why_of(c)), merged = 0;

    if (!err || err == -ECHILD || err == -EINTR)
        merged = merge_parts(c, s, err ? NULL : why_of(c));
    else if (err != -ETIMEDOUT)
        exp_store_withdraw(crew_of(c)->store);
    return err ? err : merged;
}

/* Has jobs of a cluster do the tasks without a result; without tasks, one job does the whole run. */
static int launch(const struct course *c, const struct exp_tasks *tasks, double seconds)
{
    const struct exp_question_jobs *jobs = c->question->jobs;
    const char *store = exp_store_path(crew_of(c)->store);
    char *folder = exp_format("%s.parts", store);
    char *part = tasks ? exp_format("%s/", folder) : exp_format("%s/%ld-", folder, (long)getpid());
    struct exp_slurm s = { .name = exp_question_program(c->question),
                           .has_threads = jobs->has_threads,
                           .needs = jobs->needs,
                           .words = option(c, "SLURM"),
                           .known = store,
                           .part = part,
                           .n_shares = tasks ? number(c, "SHARES") : 0,
                           .doing = tasks ? jobs->doing : "the whole run",
                           .progress = crew_of(c)->progress,
                           .work = tasks ? tasks->work : EXP_WORK_REPLAY,
                           .seconds = seconds };
    bool are_left = true;
    int err = mkdir(folder, 0777) && errno != EEXIST
                  ? exp_fail(why_of(c), -errno, "cannot make the folder '%s': %s", folder, strerror(errno))
                  : 0;

    memcpy(&s.argv, c->session + c->question->argv_at, sizeof s.argv);
    if (!err && tasks)
        err = merge_parts(c, &s, why_of(c)); /* of an earlier, killed run */
    if (!err && tasks)
        err = are_tasks_left(c, tasks, &are_left);
    if (!err && are_left)
        err = run_jobs(c, &s);
    rmdir(folder); /* only an empty folder goes */
    free(folder);
    free(part);
    return err;
}

static int run_tasks(const struct course *c, const struct exp_tasks *tasks)
{
    struct exp_crew *crew = crew_of(c);
    const struct exp_question_jobs *jobs = c->question->jobs;
    const struct exp_tasks_options o = { .store = crew->store,
                                         .n_threads = jobs->has_threads ? number(c, "JOBS") : 1,
                                         .rules.retries_failed = true,
                                         .share = crew->share,
                                         .n_shares = crew->n_shares,
                                         .progress = crew->progress };
    int err = exp_tasks_run(tasks, &o, &crew->counts, why_of(c));

    if (err || !crew->counts.n_failed)
        return err;
    return exp_fail(why_of(c), -EIO, "%zu of %zu %s failed, such as %s; run it again to try these again",
                    crew->counts.n_failed, crew->counts.n_tasks, jobs->results, crew->counts.failure);
}

static int do_tasks(const struct course *c)
{
    struct exp_crew *crew = crew_of(c);
    double seconds[EXP_N_WORKS] = { 0 };
    struct exp_tasks tasks;
    int err = open_store(c);

    if (err)
        return err;
    c->question->jobs->announce(c->session, seconds);
    crew->progress = exp_main_progress(seconds);
    tasks = c->question->jobs->tasks(c->session);
    if (is_launched(c))
        err = launch(c, &tasks, seconds[tasks.work]);
    if (!err && c->question->jobs->first)
        err = c->question->jobs->first(c->session);
    if (!err)
        err = run_tasks(c, &tasks);
    exp_progress_free(crew->progress);
    crew->progress = NULL;
    if (!err && crew->n_shares)
        c->question->say_kept(c->session, stdout);
    return err;
}

/* Reads a whole number of few digits, and the character `end` behind the number. */
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

/* Reads SHARE, "2/8"; *n_shares is 0 without SHARE. */
static int read_share(size_t *share, size_t *n_shares, const char *text, const char *store, struct exp_why *why)
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

/* Tells whether the run is a share. A share leaves no results. */
static int take_share(const struct course *c)
{
    struct exp_crew *crew = crew_of(c);
    int err;

    if (!c->question->jobs)
        return 0;
    err = read_share(&crew->share, &crew->n_shares, option(c, "SHARE"), option(c, "STORE"), why_of(c));
    results_of(c)->leaves_none = crew->n_shares > 0;
    return err;
}

/* Has one job do the whole run, including the results, and prints the job's log. */
static int launch_run(const struct course *c)
{
    char *folder, *file, *log;
    int err = open_store(c);

    exp_results_release(results_of(c));
    results_of(c)->leaves_none = true;
    if (err)
        return err;
    crew_of(c)->progress = exp_main_progress(NULL);
    err = launch(c, NULL, 0);
    exp_progress_free(crew_of(c)->progress);
    crew_of(c)->progress = NULL;
    folder = exp_format("%s.parts", exp_store_path(crew_of(c)->store));
    file = exp_format("%ld-0.log", (long)getpid());
    log = exp_text_of(folder, file);
    fputs(log, stdout);
    free(folder);
    free(file);
    free(log);
    return err;
}

static int work(const struct course *c)
{
    const struct exp_question_jobs *jobs = c->question->jobs;
    int err;

    if (is_launched(c) && !jobs->tasks)
        return launch_run(c);
    err = do_part(c, c->question->work);
    return err || !jobs || !jobs->tasks ? err : do_tasks(c);
}

/* Tells whether the user sees a screen; with MORE=1, the user sees the whole output. A share of work has no answer. */
static bool has_screen(const struct course *c)
{
    const bool is_share = c->question->jobs && crew_of(c)->n_shares;

    return c->question->screen && !number(c, "MORE") && !is_share && !is_launched(c);
}

static int follow(const struct course *c)
{
    struct exp_output output = { .own = -1, .file = -1 };
    int err = take_share(c);

    if (!err && has_screen(c))
        err = exp_output_divert(&output, why_of(c));
    if (!err)
        err = do_part(c, c->question->prepare);
    if (!err)
        exp_machine_print_notes(option(c, "MACHINE"), option(c, "RESULTS"), "machine host: ", stderr);
    if (!err)
        err = open_results(c);
    if (!err)
        err = work(c);
    if (!err && has_results(c)) {
        err = finish(c, &output);
    } else if (!err && output.own >= 0) { /* the answer of a run without results */
        exp_output_restore(&output);
        print_screen(c, stdout);
    }
    exp_output_restore(&output);
    return err;
}

static void release(const struct course *c)
{
    const struct exp_question *q = c->question;

    if (q->jobs)
        exp_store_close(crew_of(c)->store);
    if (q->release)
        q->release(c->session);
    if (q->results_at)
        exp_results_release(results_of(c));
    if (q->models_at)
        exp_models_release((struct exp_models *)(void *)(c->session + q->models_at));
    if (q->model_at)
        exp_model_release((struct exp_model *)(void *)(c->session + q->model_at));
}

int exp_main_follow(const struct exp_question *q, void *session)
{
    const struct course c = { .question = q, .session = session };

    return follow(&c);
}

void exp_main_release(const struct exp_question *q, void *session)
{
    const struct course c = { .question = q, .session = session };

    release(&c);
}

/* ---- the program ---- */

void exp_question_document(const struct exp_question *q, FILE *out)
{
    if (q->about_tables)
        fprintf(out, "\n%s\n", q->about_tables);
    for (const struct rec_table *const *t = q->tables; *t; t++)
        exp_csv_document(&(*t)->file, out);
}

static int obey(const struct course *c)
{
    const struct exp_question *q = c->question;
    const struct exp_options_of of = { exp_question_program(q), q->options, NULL, exp_question_has_tables(q) };

    if (c->asked.helps)
        exp_options_usage(&of, stdout);
    else if (c->asked.documents)
        exp_question_document(q, stdout);
    else if (c->asked.queries && q->query)
        return q->query(c->session);
    else
        return q->run ? q->run(c->session) : follow(c);
    return 0;
}

/* Runs the question, and releases everything but the session. Returns the exit status. */
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
    release(c);
    exp_command_line_release(&c->line);
    err = exp_program_end(exp_question_program(q), err, why_of(c));
    return err ? err : status;
}

int exp_main(const struct exp_question *q, int argc, char **argv)
{
    struct course c = { .question = q };
    int status;

    exp_program_named(exp_question_program(q));
    c.session = exp_new(1, q->session_bytes);
    status = run(&c, argc, argv);
    free(c.session);
    return status;
}

int exp_main_models(struct exp_models *m, const char *model, const struct exp_model_ask *ask, struct exp_why *why)
{
    int err = exp_models_read_as(m, EXP_EXPERIMENTS_DIR, model, ask, why);

    if (!err)
        exp_models_print_notes(m, stderr);
    return err;
}

int exp_main_model(struct exp_model *m, const char *model, const struct exp_model_ask *ask, struct exp_why *why)
{
    int err = exp_model_find_as(m, EXP_EXPERIMENTS_DIR, model, ask, why);

    if (!err)
        exp_model_print_notes(m, stderr);
    return err;
}

struct exp_progress *exp_main_progress(const double seconds[EXP_N_WORKS])
{
    struct exp_progress *p = exp_progress_new(stderr, exp_progress_is_terminal(stderr), seconds, ctr_now_ns);

    exp_progress_live(p);
    return p;
}

int exp_main_plans(struct exp_setup *s, const char *path, unsigned *algos, struct exp_why *why)
{
    unsigned noted;
    int err = exp_algo_select(exp_algo_noted()->name, &noted, why);

    if (err)
        return err;
    if (!*path)
        return *algos & noted ? exp_fail(why, -EINVAL, "ALGO=%s needs PLAN=file", exp_algo_noted()->name) : 0;
    *algos |= noted;
    return conv_plans_read(&s->plans, path, &s->openblas_ukr.ukr, SIM_WHY(why->text));
}
