/*
 * Draws the figures of results again, from the tables and the figures.txt of each folder. `redraw --help` lists the
 * options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/tasks.h"
#include "experiments/base/program.h"
#include "experiments/bench/course/course.h"

/* The outcome of a folder's figures. */
struct place {
    int err;
    struct exp_why why;
};

struct options {
    const char *results;
    unsigned jobs;
};

struct session {
    struct options options;
    struct exp_folders folders;
    struct place *place; /* [folders.n] */
    struct exp_why why;
};

static bool has_figures(const char *file)
{
    return !strcmp(file, EXP_PLOT_RECIPE_FILE);
}

/* A folder whose figures fail is reported at the end; every further folder is drawn. */
static int draw_place(void *session, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct session *s = session;
    struct place *p = &s->place[index];
    struct exp_program_figures list = { .program = "redraw", .dir = s->folders.path[index] };
    struct exp_plot_recipe r;

    (void)thread;
    (void)pool;
    p->err = exp_plot_recipe_read(&r, list.dir, EXP_FIGURES_DIR, &p->why);
    if (p->err)
        return 0;
    p->err = exp_plot_figures(&r.figures, exp_program_report_figure, &list, &p->why);
    exp_plot_recipe_release(&r);
    return p->err == -EINTR ? p->err : 0;
}

static int work(void *session)
{
    struct session *s = session;
    const struct exp_folders *f = &s->folders;
    size_t n_failed = 0, first = 0;
    int err = exp_folders_find(&s->folders, s->options.results, has_figures, &s->why);

    if (err)
        return err;
    if (!f->n)
        return exp_fail(&s->why, -ENOENT, "no figures to draw again: there is no %s in '%s' or below it",
                        EXP_PLOT_RECIPE_FILE, s->options.results);
    s->place = exp_new(f->n, sizeof *s->place);
    err = exp_pool_run(f->n, s->options.jobs, draw_place, s, exp_interrupted, NULL);
    if (err)
        return err;
    for (size_t i = f->n; i-- > 0;) {
        n_failed += s->place[i].err != 0;
        first = s->place[i].err ? i : first;
    }
    if (!n_failed)
        return 0;
    return exp_fail(&s->why, s->place[first].err, "%zu of %zu folders have figures that were not drawn: %s: %s",
                    n_failed, f->n, f->path[first], s->place[first].why.text);
}

static void release(void *session)
{
    struct session *s = session;

    exp_folders_release(&s->folders);
    free(s->place);
}

#define OPTIONS struct options

static const struct exp_option options[] = {
    EXP_FOLDER("RESULTS", "folder of results, with all folders below it (default results)", results, "results"),
    EXP_NUMBER("JOBS", "folders whose figures are drawn at once (default: all cores)", jobs, EXP_ALL_CORES, 1, 1000000),
    EXP_OPTIONS_END,
};

const struct exp_question question_redraw = {
    .name = "redraw",
    .asks = "Draw the figures of all results again, from their tables",
    .wants = { "results: redraw all figures|make redraw RESULTS=results/host|figures" },
    .takes = "Seconds.",
    .examples = { "make redraw RESULTS=results/host/vgg16" },
    .options = options,
    EXP_SESSION(struct session),
    .work = work,
    .release = release,
};
