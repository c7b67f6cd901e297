#include "experiments/page/exp_page_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_names.h"
#include "experiments/base/exp_plot_recipe.h"
#include "experiments/base/exp_text.h"

bool exp_page_folder_has(const struct exp_page_folder *f, const char *file)
{
    char path[PATH_MAX];
    struct stat st;

    return snprintf(path, sizeof path, "%s/%s", f->path, file) < (int)sizeof path && !stat(path, &st) &&
           S_ISREG(st.st_mode);
}

void exp_page_folder_id(const struct exp_page_folder *f, const char *part, char *id, size_t bytes)
{
    exp_say(id, bytes, "%s-%s", f->id, part);
}

char *exp_page_folder_text(const struct exp_page_folder *f, const char *file)
{
    return exp_text_of(f->path, file);
}

/* ---- figures ---- */

static bool is_drawn(const struct exp_page_folder *f, const char *name)
{
    static const char *const kinds[] = { "svg", "png" };
    char file[NAME_MAX + 1];

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (snprintf(file, sizeof file, "%s.%s", name, kinds[i]) < (int)sizeof file && exp_page_folder_has(f, file))
            return true;
    }
    return false;
}

static void write_figure(struct exp_page_writer *w, const struct exp_page_folder *f, const char *name)
{
    const struct exp_page_caption *c = exp_page_captions_find(f->captions, name);

    exp_page_figure(
        w, &(struct exp_page_figure){
               .folder = f->path, .name = name, .title = c ? c->question : name, .caption = c ? c->reading : "" });
}

/* Calls take for the figures of figures.txt. Returns 0, or an error if there is none. */
static int each_of_recipe(const struct exp_page_folder *f, void (*take)(void *ctx, const char *name), void *ctx)
{
    struct exp_plot_recipe r;
    int err = exp_plot_recipe_read(&r, f->path, "", NULL);

    if (err)
        return err;
    for (size_t i = 0; i < r.figures.n_figures; i++)
        take(ctx, r.figures.figure[i]);
    exp_plot_recipe_release(&r);
    return 0;
}

static int is_picture(const struct dirent *entry)
{
    return exp_name_ends_in(entry->d_name, ".png");
}

/* Calls take for the pictures that are there. Returns 0, or -errno if the folder cannot be read. */
static int each_of_folder(const struct exp_page_folder *f, void (*take)(void *ctx, const char *name), void *ctx)
{
    struct dirent **entry;
    int n = scandir(f->path, &entry, is_picture, alphasort);

    if (n < 0)
        return -errno;

    for (int i = 0; i < n; i++) {
        entry[i]->d_name[strlen(entry[i]->d_name) - strlen(".png")] = '\0';
        take(ctx, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return 0;
}

struct choice {
    struct exp_page_writer *w;
    const struct exp_page_folder *f;
    const char *but;
};

static void take_figure(void *ctx, const char *name)
{
    const struct choice *c = ctx;

    if (is_drawn(c->f, name) && (!c->but || strcmp(c->but, name) != 0))
        write_figure(c->w, c->f, name);
}

void exp_page_folder_figures(struct exp_page_writer *w, const struct exp_page_folder *f, const char *const *first,
                             bool only_first)
{
    struct choice c = { w, f, NULL };

    for (; first && *first && !c.but; first++)
        c.but = is_drawn(f, *first) ? *first : NULL;
    if (only_first) {
        if (c.but)
            write_figure(w, f, c.but);
    } else {
        int err = each_of_recipe(f, take_figure, &c);

        if (err && err != -ENOMEM)
            err = each_of_folder(f, take_figure, &c);
        if (err == -ENOMEM)
            exp_page_lacks(w);
    }
}

/* ---- origin ---- */

/* What of a table's head says how its numbers came about. */
static const char *const head_keys[] = { "date",
                                         "commit",
                                         "compiler",
                                         "simulated machine",
                                         "levels",
                                         "OpenBLAS that ran",
                                         "caches at the start of a layer",
                                         "filters",
                                         "timed rounds",
                                         "disturbance",
                                         "observed by" };

enum { N_KEYS = sizeof head_keys / sizeof head_keys[0], VALUE_BYTES = 600 };

void exp_page_folder_origin(struct exp_page_writer *w, const struct exp_page_folder *f, const struct exp_page_csv *csv)
{
    struct exp_page_fact fact[N_KEYS];
    char(*value)[VALUE_BYTES] = calloc(N_KEYS, sizeof *value);
    char *host = exp_page_folder_text(f, "host.txt");
    size_t n = 0;

    if (!value || !host)
        exp_page_lacks(w);
    for (size_t i = 0; value && i < N_KEYS; i++) {
        exp_page_csv_said(csv, head_keys[i], value[i], VALUE_BYTES);
        if (*value[i])
            fact[n++] = (struct exp_page_fact){ head_keys[i], value[i], "", false };
    }
    if (n)
        exp_page_facts(w, EXP_PAGE_LIST, fact, n);
    if (host && *host) {
        exp_page_say(w, EXP_PAGE_PARAGRAPH, "The computer that ran all this (host.txt):");
        exp_page_text(w, EXP_PAGE_CODE, host);
    }
    free(host);
    free(value);
}
