/*
 * Draws the figures of results again, from the tables and the figures.txt of each folder. `redraw --help` lists the
 * options; the Makefile passes them on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_plot.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_program.h"
#include "experiments/setup/exp_main.h"

/* A folder with figures, and what became of them. */
struct place {
    const char *path;
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
    struct place *place; /* [n] */
    size_t n;
    struct exp_why why;
};

/* ---- finding ---- */

static bool has_figures(const char *file)
{
    return !strcmp(file, EXP_PLOT_RECIPE_FILE);
}

/* Finds the folders that have figures. */
static int find(struct session *s)
{
    int err = exp_folders_find(&s->folders, s->options.results, has_figures, &s->why);

    if (err)
        return err;
    if (!s->folders.n)
        return exp_fail(&s->why, -ENOENT, "no figures to draw again: there is no %s in '%s' or below it",
                        EXP_PLOT_RECIPE_FILE, s->options.results);
    s->place = calloc(s->folders.n, sizeof *s->place);
    if (!s->place)
        return exp_fail(&s->why, -ENOMEM, "out of memory");
    for (s->n = 0; s->n < s->folders.n; s->n++)
        s->place[s->n].path = s->folders.path[s->n];
    return 0;
}

/* ---- drawing ---- */

/* A folder whose figures fail is told about at the end; the others are drawn all the same. */
static int draw_place(void *session, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct session *s = session;
    struct place *p = &s->place[index];
    struct exp_program_figures list = { .program = "redraw", .dir = p->path };
    struct exp_plot_recipe r;

    (void)thread;
    (void)pool;
    p->err = exp_plot_recipe_read(&r, p->path, EXP_FIGURES_DIR, &p->why);
    if (p->err)
        return 0;
    p->err = exp_plot_figures(&r.figures, exp_program_report_figure, &list, &p->why);
    exp_plot_recipe_release(&r);
    return p->err == -EINTR ? p->err : 0;
}

static int summarise(struct session *s)
{
    size_t n_failed = 0;
    const struct place *first = NULL;

    for (size_t i = 0; i < s->n; i++) {
        if (!s->place[i].err)
            continue;
        n_failed++;
        if (!first)
            first = &s->place[i];
    }
    if (!first)
        return 0;
    return exp_fail(&s->why, first->err, "%zu of %zu folders have figures that were not drawn: %s: %s", n_failed, s->n,
                    first->path, first->why.text);
}

static int run(void *session)
{
    struct session *s = session;
    int err = find(s);

    if (!err)
        err = exp_pool_run(s->n, s->options.jobs, draw_place, s, exp_interrupted, NULL);
    return err ? err : summarise(s);
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
    .takes = "Seconds.",
    .examples = { "make redraw RESULTS=results/host/vgg16" },
    .options = options,
    EXP_SESSION(struct session),
    .run = run,
    .release = release,
};
