#include "experiments/page/exp_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_file.h"
#include "experiments/page/exp_page_answer.h"
#include "experiments/page/exp_page_other.h"
#include "experiments/setup/exp_main.h"

/* ---- chapters ---- */

/* Returns the next chapter that a question has, from *q on; NULL behind the last. */
static const struct exp_chapter *next(const struct exp_question *const **q)
{
    while (**q) {
        const struct exp_chapter *c = &(*(*q)++)->chapter;

        if (c->marker)
            return c;
    }
    return NULL;
}

/*
 * Tells whether a folder with a file of this name is one of results: each kind of result has a table or a page that no
 * other has.
 */
static bool is_marker(const char *file)
{
    const struct exp_question *const *q = exp_questions;

    for (const struct exp_chapter *c; (c = next(&q));) {
        if (!strcmp(c->marker, file))
            return true;
    }
    return false;
}

/* Returns the chapter about a folder: the first whose file is there. */
static const struct exp_chapter *chapter_of(const struct exp_page_folder *f)
{
    const struct exp_question *const *q = exp_questions;
    const struct exp_chapter *found = NULL, *c;

    while ((c = next(&q)) && !(found && exp_page_folder_has(f, found->marker)))
        found = c;
    return found;
}

/* Writes a folder's chapter. Returns 0, or -errno with one line in why, that names the file. */
static int write_by_kind(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why)
{
    const struct exp_chapter *c = chapter_of(f);
    char title[512];
    int err;

    exp_say(title, sizeof title, "%s: %s", f->name, c->title);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, f->id, title, NULL });
    err = (c->write ? c->write : exp_page_other_write)(w, f, why);
    exp_page_close(w);
    return err;
}

struct job {
    const struct exp_page_request *q;
    struct exp_folders folders;
    struct exp_page_captions captions;
    char *assets, *figures, *title;
    struct exp_why *why;
};

static int out_of_memory(const struct job *j)
{
    return exp_fail(j->why, -ENOMEM, "out of memory");
}

/* ---- which folders ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Returns a folder's place below the folder of all results; of that itself, the last two parts of its path. */
static const char *place(const struct job *j, const char *path)
{
    const size_t length = strlen(j->q->results);
    const char *last;

    if (!strncmp(path, j->q->results, length) && path[length])
        return path + length + strspn(path + length, "/");
    path = j->q->name ? j->q->name : path;
    last = last_part(path);
    while (last > path + 1 && last[-2] != '/')
        last--;
    return last > path + 1 ? last - 1 : path;
}

static bool is_all(const struct job *j)
{
    return !strcmp(j->q->model, "all");
}

static bool is_asked_for(const struct job *j, const char *path)
{
    return is_all(j) || !strcmp(j->q->model, last_part(path));
}

static int find(struct job *j)
{
    size_t kept = 0;
    int err = exp_folders_find(&j->folders, j->q->results, is_marker, j->why);

    if (err)
        return err;
    for (size_t i = 0; i < j->folders.n; i++) {
        char *path = j->folders.path[i];

        if (is_asked_for(j, path)) {
            j->folders.path[i] = j->folders.path[kept];
            j->folders.path[kept++] = path;
        }
    }
    if (kept) {
        while (j->folders.n > kept)
            free(j->folders.path[--j->folders.n]);
        return 0;
    }
    return exp_fail(j->why, -ENOENT, "nothing to report on: there are no results%s%s in '%s' or below it",
                    is_all(j) ? "" : " of ", is_all(j) ? "" : j->q->model, j->q->results);
}

/* ---- writing ---- */

/* A folder as a chapter; id is where its id goes. */
static struct exp_page_folder chapter(const struct job *j, size_t i, char *id, size_t bytes)
{
    snprintf(id, bytes, "r%zu", i + 1);
    return (struct exp_page_folder){ j->folders.path[i], place(j, j->folders.path[i]), id, &j->captions };
}

static void write_overview_row(const struct job *j, struct exp_page_writer *w, size_t i)
{
    char id[24], answer[640] = "";
    const struct exp_page_folder f = chapter(j, i, id, sizeof id);

    if (exp_page_found(&f, answer, sizeof answer))
        exp_page_lacks(w);
    if (!*answer)
        exp_say(answer, sizeof answer, "no verdict: this folder has tables and figures only");
    exp_page_row(w, (struct exp_page_cell[]){ { f.name, id }, { answer, NULL } }, 2);
}

/* Says first what each of several folders found. */
static void write_overview(const struct job *j, struct exp_page_writer *w)
{
    static const struct exp_page_column columns[] = { { "results", "", NULL, false }, { "answer", "", NULL, false } };

    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, "overview", "Overview", NULL });
    exp_page_table_begin(w, &(struct exp_page_table){ "What each folder of results found", columns, 2, false });
    for (size_t i = 0; i < j->folders.n; i++)
        write_overview_row(j, w, i);
    exp_page_table_end(w);
    exp_page_close(w);
}

static void write_chapter(struct job *j, struct exp_page_writer *w, size_t i)
{
    char id[24];
    struct exp_why reason = { "" };
    const struct exp_page_folder f = chapter(j, i, id, sizeof id);

    int err = write_by_kind(w, &f, &reason);

    if (err == -ENOMEM)
        exp_page_lacks(w);
    else if (err)
        exp_page_say(w, EXP_PAGE_PARAGRAPH, "This folder could not be read: %s", reason.text);
}

static int print_page(void *job, FILE *out)
{
    struct job *j = job;
    struct exp_page_writer w;
    int err = exp_page_begin(&w, j->title, j->assets);

    if (err)
        return err;
    if (j->folders.n > 1)
        write_overview(j, &w);
    for (size_t i = 0; i < j->folders.n; i++)
        write_chapter(j, &w, i);
    err = exp_page_finish(&w, out);
    exp_page_release(&w);
    return err;
}

static int write_page(struct job *j)
{
    char *path = exp_format("%s/" EXP_PAGE_FILE, j->q->out_dir);
    int err = path ? exp_file_write(path, print_page, j, j->why) : out_of_memory(j);

    free(path);
    return err;
}

int exp_page_write(const struct exp_page_request *q, size_t *n, struct exp_why *why)
{
    struct job j = { .q = q, .why = why };
    int err = find(&j);

    j.assets = exp_format("%s/page", q->experiments_dir);
    j.figures = exp_format("%s/figures", q->experiments_dir);
    if (!err)
        j.title = j.folders.n == 1 ? exp_format("%s", place(&j, j.folders.path[0]))
                                   : exp_format("%zu sets of results", j.folders.n);
    if (!err && (!j.assets || !j.figures || !j.title))
        err = out_of_memory(&j);
    if (!err)
        err = exp_page_captions_read(&j.captions, j.figures, why);
    if (!err)
        err = write_page(&j);
    *n = j.folders.n;
    exp_page_captions_release(&j.captions);
    exp_folders_release(&j.folders);
    free(j.title);
    free(j.figures);
    free(j.assets);
    return err;
}

int exp_page_add(const struct exp_results *r, const char *program)
{
    const struct exp_page_request q = { .results = r->dir.path,
                                        .name = r->path,
                                        .out_dir = r->dir.path,
                                        .model = "all",
                                        .experiments_dir = EXP_EXPERIMENTS_DIR };
    struct exp_why why = { "" };
    size_t n;
    int err = exp_page_write(&q, &n, &why);

    if (err)
        fprintf(stderr, "%s: there is no report: %s\n", program, why.text);
    else
        printf("report\n  %s/" EXP_PAGE_FILE "\n", r->path);
    return err;
}
