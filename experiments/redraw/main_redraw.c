/*
 * Draws the figures of results again, from the tables and the figures.txt of each folder. `redraw --help` lists the
 * options; the Makefile passes them on.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_plot_recipe.h"
#include "experiments/base/exp_pool.h"
#include "experiments/base/exp_program.h"
#include "experiments/base/exp_signal.h"
#include "experiments/setup/exp_main.h"

enum { WHY_BYTES = 1024 };

/* A folder with figures, and what became of them. */
struct place {
    char *path;
    int err;
    char why[WHY_BYTES];
};

struct session {
    struct exp_options options;
    struct place *place;
    size_t n, room;
    char why[WHY_BYTES];
};

/* ---- finding ---- */

static int out_of_memory(struct session *s)
{
    return exp_fail(s->why, sizeof s->why, -ENOMEM, "out of memory");
}

static int add(struct session *s, const char *path)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        struct place *more = realloc(s->place, room * sizeof *more);

        if (!more)
            return out_of_memory(s);
        s->place = more;
        s->room = room;
    }
    s->place[s->n] = (struct place){ .path = exp_format("%s", path) };
    return s->place[s->n++].path ? 0 : out_of_memory(s);
}

/* Hidden folders are results that are not complete yet. Links are not followed: they could lead round in circles. */
static bool may_hold_results(const char *path, const char *name)
{
    struct stat st;

    return *name != '.' && !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static int is_visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

static int find_below(struct session *s, const char *folder);

static int look_at(struct session *s, const char *folder, const char *name)
{
    char *path = exp_format("%s/%s", folder, name);
    int err = 0;

    if (!path)
        return out_of_memory(s);
    if (!strcmp(name, EXP_PLOT_RECIPE_FILE))
        err = add(s, folder);
    else if (may_hold_results(path, name))
        err = find_below(s, path);
    free(path);
    return err;
}

/* Finds the folders that have figures: this one, and those below it. */
static int find_below(struct session *s, const char *folder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_visible, alphasort), err = 0;

    if (n < 0)
        return exp_fail(s->why, sizeof s->why, -errno, "cannot read the folder '%s': %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!err)
            err = look_at(s, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return err;
}

/* ---- drawing ---- */

/* A folder whose figures fail is told about at the end; the others are drawn all the same. */
static int draw_place(void *session, size_t index, size_t thread, const struct exp_pool *pool)
{
    struct session *s = session;
    struct place *p = &s->place[index];
    struct exp_program_figures list = { .program = exp_options_program(EXP_REDRAW), .dir = p->path };
    struct exp_plot_recipe r;

    (void)thread;
    (void)pool;
    p->err = exp_plot_recipe_read(&r, p->path, EXP_FIGURES_DIR, p->why, sizeof p->why);
    if (p->err)
        return 0;
    p->err = exp_plot_figures(&r.figures, exp_program_report_figure, &list, p->why, sizeof p->why);
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
    return exp_fail(s->why, sizeof s->why, first->err, "%zu of %zu folders have figures that were not drawn: %s: %s",
                    n_failed, s->n, first->path, first->why);
}

static int run(void *session)
{
    struct session *s = session;
    int err = find_below(s, s->options.results);

    if (!err && !s->n)
        err = exp_fail(s->why, sizeof s->why, -ENOENT, "no figures to draw again: there is no %s in '%s' or below it",
                       EXP_PLOT_RECIPE_FILE, s->options.results);
    if (!err)
        err = exp_pool_run(s->n, s->options.jobs, draw_place, s, exp_interrupted, NULL);
    return err ? err : summarise(s);
}

static void release(void *session)
{
    struct session *s = session;

    for (size_t i = 0; i < s->n; i++)
        free(s->place[i].path);
    free(s->place);
}

int main(int argc, char **argv)
{
    struct session s = { .why = "" };
    const struct exp_main course = {
        .program = EXP_REDRAW,
        .options = &s.options,
        .run = run,
        .release = release,
        .session = &s,
        .why = s.why,
        .why_bytes = sizeof s.why,
    };

    return exp_main(&course, argc, argv);
}
