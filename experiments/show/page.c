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
            exp_page_fact(w, EXP_PAGE_LIST, &(struct exp_page_fact){ head_keys[i], value, "", false });
    }
    exp_page_facts_end(w);
    if (*host) {
        exp_page_text(w, EXP_PAGE_PARAGRAPH, "The computer that ran all this (host.txt):");
        exp_page_text(w, EXP_PAGE_CODE, host);
    }
    free(host);
}

/* ---- which folders ---- */

struct job {
    const char *results, *name, *model; /* as of exp_page_write */
    struct exp_folders folders;
    struct exp_page_folder *chapter; /* [n] */
    size_t n;
};

/* Returns a folder's place below the folder of all results; of that itself, the last two parts of its path. */
static const char *place(const struct job *j, const char *path)
{
    const size_t length = strlen(j->results);
    const char *last;

    if (!strncmp(path, j->results, length) && path[length])
        return path + length + strspn(path + length, "/");
    path = j->name ? j->name : path;
    last = exp_last_part(path);
    while (last > path + 1 && last[-2] != '/')
        last--;
    return last > path + 1 ? last - 1 : path;
}

/*
 * Tells whether a folder with a file of this name is one of results: each kind of result has a table or a page that no
 * other has.
 */
static bool is_marker(const char *file)
{
    for (const struct exp_question *const *q = exp_questions; *q; q++) {
        if ((*q)->chapter.marker && !strcmp((*q)->chapter.marker, file))
            return true;
    }
    return false;
}

static int find(struct job *j, struct exp_why *why)
{
    const bool is_all = !strcmp(j->model, "all");
    int err = exp_folders_find(&j->folders, j->results, is_marker, why);

    if (err)
        return err;
    for (size_t i = 0; i < j->folders.n; i++) {
        const char *path = j->folders.path[i];
        struct exp_page_folder *f;

        if (!is_all && strcmp(j->model, exp_last_part(path)) != 0)
            continue;
        f = exp_append(&j->chapter, &j->n, sizeof *f);
        *f = (struct exp_page_folder){ .path = path, .name = place(j, path) };
        snprintf(f->id, sizeof f->id, "r%zu", j->n);
    }
    if (j->n)
        return 0;
    return exp_fail(why, -ENOENT, "nothing to report on: there are no results%s%s in '%s' or below it",
                    is_all ? "" : " of ", is_all ? "" : j->model, j->results);
}

/* ---- writing ---- */

/* Says first what each of several folders found. */
static void write_overview(struct exp_page_writer *w, const struct job *j)
{
    static const struct exp_page_column columns[] = { { "results", "", NULL, false }, { "answer", "", NULL, false } };

    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, "overview", "Overview", NULL });
    exp_page_table_begin(w, &(struct exp_page_table){ "What each folder of results found", columns, 2, false });
    for (size_t i = 0; i < j->n; i++) {
        const struct exp_page_folder *f = &j->chapter[i];
        char answer[640];

        exp_page_found(f, answer, sizeof answer);
        if (!*answer)
            exp_say(answer, sizeof answer, "no verdict: this folder has tables and figures only");
        exp_page_row(w, (struct exp_page_cell[]){ { f->name, f->id }, { answer, NULL } }, 2);
    }
    exp_page_table_end(w);
    exp_page_close(w);
}

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

static void write_chapter(struct exp_page_writer *w, const struct exp_page_folder *f)
{
    const struct exp_chapter *c = exp_page_chapter_of(f);
    struct exp_why why = { "" };
    char title[512];
    int err;

    exp_say(title, sizeof title, "%s: %s", f->name, c->title);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, f->id, title, NULL });
    err = (c->write ? c->write : exp_page_other_write)(w, f, &why);
    exp_page_close(w);
    if (err)
        exp_page_say(w, EXP_PAGE_PARAGRAPH, "This folder could not be read: %s", why.text);
}

static int print_page(void *job, FILE *out)
{
    const struct job *j = job;
    struct exp_page_writer w;
    char title[512];
    int err;

    exp_say(title, sizeof title, "%zu sets of results", j->n);
    exp_page_begin(&w, j->n == 1 ? j->chapter->name : title);
    if (j->n > 1)
        write_overview(&w, j);
    for (size_t i = 0; i < j->n; i++)
        write_chapter(&w, &j->chapter[i]);
    err = exp_page_finish(&w, out);
    exp_page_release(&w);
    return err;
}

int exp_page_write(const char *results, const char *name, const char *model, size_t *n, struct exp_why *why)
{
    struct job j = { .results = results, .name = name, .model = model };
    char *path = exp_format("%s/" EXP_PAGE_FILE, results);
    int err = find(&j, why);

    if (!err)
        err = exp_file_write(path, print_page, &j, why);
    *n = j.n;
    exp_folders_release(&j.folders);
    free(j.chapter);
    free(path);
    return err;
}

int exp_page_add(const struct exp_results *r, const char *program)
{
    struct exp_why why = { "" };
    size_t n;
    int err = exp_page_write(r->dir.path, r->path, "all", &n, &why);

    if (err)
        fprintf(stderr, "%s: there is no report: %s\n", program, why.text);
    else
        printf("report\n  %s/" EXP_PAGE_FILE "\n", r->path);
    return err;
}
