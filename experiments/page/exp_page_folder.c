#include "experiments/page/exp_page_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/base/exp_plot.h"
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

/* These keys of a table's head say how its numbers came about. */
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

/* ---- captions ---- */

static const char script_suffix[] = ".gp";

static void release_caption(struct exp_page_caption *c)
{
    free(c->name);
    free(c->question);
    free(c->reading);
    *c = (struct exp_page_caption){ 0 };
}

/* Adds what stands behind the mark to the text, if the line begins with it. Returns 0 or -ENOMEM. */
static int take_words(char **text, const char *mark, const char *line)
{
    const char *words = line + strlen(mark);
    char *longer;

    if (strncmp(line, mark, strlen(mark)) != 0)
        return 0;
    longer = *text ? exp_format("%s %s", *text, words) : strdup(words);
    free(*text);
    *text = longer;
    return longer ? 0 : -ENOMEM;
}

/* Takes the comments at a script's head, which text loses. */
static int take_head(struct exp_page_caption *c, char *text)
{
    int err = 0;

    for (char *line = text, *next; !err && line && *line == '#'; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        err = take_words(&c->question, "# question ", line);
        if (!err)
            err = take_words(&c->reading, "# caption ", line);
    }
    return err;
}

static int read_script(struct exp_page_captions *all, const char *folder, const char *file, struct exp_why *why)
{
    struct exp_page_caption c = { .name = strndup(file, strlen(file) - strlen(script_suffix)) };
    char *path = exp_format("%s/%s", folder, file), *text = NULL;
    size_t bytes;
    int err = path && c.name ? exp_text_read(&text, &bytes, path, why) : -ENOMEM;

    if (!err)
        err = take_head(&c, text);
    if (err == -ENOMEM)
        exp_fail(why, err, "out of memory");
    if (!err && c.question && c.reading)
        all->caption[all->n++] = c;
    else
        release_caption(&c);
    free(text);
    free(path);
    return err;
}

static int is_script(const struct dirent *entry)
{
    return exp_name_ends_in(entry->d_name, script_suffix);
}

int exp_page_captions_read(struct exp_page_captions *c, const char *folder, struct exp_why *why)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_script, alphasort), err = 0;

    *c = (struct exp_page_captions){ 0 };
    if (n < 0)
        return exp_fail(why, -errno, "cannot list '%s': %s", folder, strerror(errno));
    c->caption = calloc((size_t)n + 1, sizeof *c->caption);
    if (!c->caption)
        err = exp_fail(why, -ENOMEM, "out of memory");
    for (int i = 0; i < n; i++) {
        if (!err)
            err = read_script(c, folder, entry[i]->d_name, why);
        free(entry[i]);
    }
    free(entry);
    return err;
}

void exp_page_captions_release(struct exp_page_captions *c)
{
    for (size_t i = 0; i < c->n; i++)
        release_caption(&c->caption[i]);
    free(c->caption);
    *c = (struct exp_page_captions){ 0 };
}

const struct exp_page_caption *exp_page_captions_find(const struct exp_page_captions *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++) {
        if (!strcmp(c->caption[i].name, name))
            return &c->caption[i];
    }
    return NULL;
}
