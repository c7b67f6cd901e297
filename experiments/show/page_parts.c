/* Parts of the chapters of all kinds of results. */
#include "experiments/show/page.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"

/* ---- a folder's files ---- */

static bool page_folder_has(const struct exp_page_folder *f, const char *file)
{
    char path[PATH_MAX];
    struct stat st;

    return snprintf(path, sizeof path, "%s/%s", f->path, file) < (int)sizeof path && !stat(path, &st) &&
           S_ISREG(st.st_mode);
}

int exp_page_files(struct exp_words *names, const char *folder, const char *suffix)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort);

    *names = (struct exp_words){ 0 };
    if (n < 0)
        return -errno;
    for (int i = 0; i < n; i++) {
        if (exp_name_ends_in(entry[i]->d_name, suffix))
            exp_words_add(names, "%s", entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return 0;
}

void exp_page_part(struct exp_page_writer *w, const struct exp_page_folder *f, const char *part, const char *title)
{
    char id[80];

    exp_say(id, sizeof id, "%s-%s", f->id, part);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_PART, id, title, NULL });
}

/* ---- captions ---- */

/* Adds what stands behind the mark to the text, if the line begins with it. */
static void take_words(char **text, const char *mark, const char *line)
{
    char *old = *text;

    if (strncmp(line, mark, strlen(mark)) != 0)
        return;
    *text = exp_format("%s%s%s", old ? old : "", old ? " " : "", line + strlen(mark));
    free(old);
}

/* Takes the comments at a script's head, which text loses. */
static void take_head(struct exp_page_caption *c, char *text)
{
    for (char *line = text, *next; line && *line == '#'; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        take_words(&c->question, "# question ", line);
        take_words(&c->reading, "# caption ", line);
    }
}

int exp_page_caption_read(struct exp_page_caption *c, const char *scripts, const char *name, struct exp_why *why)
{
    char *path = exp_plot_script_path(scripts, name), *text;
    size_t bytes;
    int err = exp_text_read(&text, &bytes, path, why);

    *c = (struct exp_page_caption){ 0 };
    if (!err)
        take_head(c, text);
    if (!c->question || !c->reading)
        exp_page_caption_release(c);
    free(text);
    free(path);
    return err;
}

void exp_page_caption_release(struct exp_page_caption *c)
{
    free(c->question);
    free(c->reading);
    *c = (struct exp_page_caption){ 0 };
}

/* ---- figures ---- */

static bool is_drawn(const struct exp_page_folder *f, const char *name)
{
    static const char *const kinds[] = { "svg", "png" };
    char file[NAME_MAX + 1];

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (snprintf(file, sizeof file, "%s.%s", name, kinds[i]) < (int)sizeof file && page_folder_has(f, file))
            return true;
    }
    return false;
}

void exp_page_folder_figure(struct exp_page_writer *w, const struct exp_page_folder *f, const char *name)
{
    struct exp_page_caption c;

    exp_page_caption_read(&c, EXP_FIGURES_DIR, name, NULL);
    exp_page_figure(w, &(struct exp_page_figure){ .folder = f->path,
                                                  .name = name,
                                                  .title = c.question ? c.question : name,
                                                  .caption = c.reading ? c.reading : "" });
    exp_page_caption_release(&c);
}

/* Lists the figures of figures.txt, else the pictures that are there. */
static struct exp_words list_figures(const struct exp_page_folder *f)
{
    static const char suffix[] = ".png";
    struct exp_words names = { 0 };
    struct exp_plot_recipe r;

    if (exp_plot_recipe_read(&r, f->path, "", NULL)) {
        exp_page_files(&names, f->path, suffix);
        for (size_t i = 0; i < names.n; i++)
            names.word[i][strlen(names.word[i]) - strlen(suffix)] = '\0';
        return names;
    }
    for (size_t i = 0; i < r.figures.n_figures; i++)
        exp_words_add(&names, "%s", r.figures.figure[i]);
    exp_plot_recipe_release(&r);
    return names;
}

void exp_page_folder_figures(struct exp_page_writer *w, const struct exp_page_folder *f, const char *const *first,
                             bool only_first)
{
    struct exp_words names = list_figures(f);
    const char *but = NULL;

    for (; first && *first && !but; first++)
        but = is_drawn(f, *first) ? *first : NULL;
    if (only_first && but)
        exp_page_folder_figure(w, f, but);
    for (size_t i = 0; i < names.n && !only_first; i++) {
        if (is_drawn(f, names.word[i]) && (!but || strcmp(but, names.word[i]) != 0))
            exp_page_folder_figure(w, f, names.word[i]);
    }
    exp_words_release(&names);
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

void exp_page_folder_origin(struct exp_page_writer *w, const struct exp_page_folder *f, const struct exp_page_csv *csv)
{
    char value[600], *host = exp_text_of(f->path, "host.txt");

    for (size_t i = 0; csv && i < sizeof head_keys / sizeof head_keys[0]; i++) {
        exp_page_csv_said(csv, head_keys[i], value, sizeof value);
        if (*value)
            exp_page_fact(w, EXP_PAGE_LIST, &(struct exp_page_fact){ head_keys[i], value, "", false, NULL });
    }
    exp_page_facts_end(w);
    if (*host) {
        exp_page_text(w, EXP_PAGE_PARAGRAPH, "The computer that ran all this (host.txt):");
        exp_page_text(w, EXP_PAGE_CODE, host);
    }
    free(host);
}

/* ---- chapters ---- */

const struct exp_chapter *exp_page_chapter_of(const struct exp_page_folder *f)
{
    const struct exp_chapter *c = NULL;

    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if (!(*q)->chapter.marker)
            continue;
        c = &(*q)->chapter;
        if (page_folder_has(f, c->marker))
            break;
    }
    return c;
}
