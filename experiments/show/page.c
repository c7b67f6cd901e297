#include "experiments/show/page.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "experiments/base/text.h"
#include "experiments/bench/course/course.h"

/* ---- which folders ---- */

struct job {
    const char *results, *name, *model; /* as of exp_page_write */
    struct exp_folders folders;
    struct exp_page_folder *chapter; /* [n] */
    size_t n;
};

/*
 * Returns a folder's place below the folder of all results; for the folder of all results, the last two parts of the
 * path.
 */
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

/* Tells whether a file of this name marks a folder of results: each kind of result has a table or a page of its own. */
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

enum { LONG_OVERVIEW = 12, DAY_BYTES = 11 }; /* "2026-11-28" */

/* A folder of the overview, and the day of its results. */
struct dated {
    char day[DAY_BYTES];
    const struct exp_page_folder *f;
};

/* Takes the day that a table's head says. */
static bool take_said_day(struct dated *d, const char *file)
{
    struct exp_page_csv csv = { .head = exp_text_of(d->f->path, file) };
    char date[64];

    exp_page_csv_said(&csv, "date", date, sizeof date);
    exp_page_csv_release(&csv);
    if (strlen(date) < DAY_BYTES - 1)
        return false;
    exp_say(d->day, sizeof d->day, "%.10s", date);
    return true;
}

/* Finds the day of a folder's results: as a table says, else as the chapter's file was written. */
static void find_day(struct dated *d)
{
    char *path = exp_format("%s/%s", d->f->path, exp_page_chapter_of(d->f)->marker);
    struct exp_words tables = { 0 };
    struct tm utc;
    struct stat st;
    bool is_said = false;

    exp_page_files(&tables, d->f->path, ".csv");
    for (size_t i = 0; i < tables.n && !is_said; i++)
        is_said = take_said_day(d, tables.word[i]);
    if (!is_said && !stat(path, &st) && gmtime_r(&st.st_mtime, &utc))
        strftime(d->day, sizeof d->day, "%Y-%m-%d", &utc);
    exp_words_release(&tables);
    free(path);
}

/* Compares for qsort: the newest first, then in the order of the chapters. */
static int by_day(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    const int order = strcmp(y->day, x->day);

    return order ? order : (x->f > y->f) - (x->f < y->f);
}

static void write_overview_row(struct exp_page_writer *w, const struct dated *d)
{
    char answer[640];

    exp_page_found(d->f, answer, sizeof answer);
    if (!*answer)
        exp_say(answer, sizeof answer, "no verdict: this folder has tables and figures only");
    exp_page_row(w, (struct exp_page_cell[]){ { d->f->name, d->f->id }, { answer, NULL }, { d->day, NULL } }, 3);
}

/* Writes the findings of each of several folders, the newest first. */
static void write_overview(struct exp_page_writer *w, const struct job *j)
{
    static const struct exp_page_column columns[] = { { "results", "", NULL, false },
                                                      { "answer", "", NULL, false },
                                                      { "day", "", NULL, false } };
    struct dated *d = exp_new(j->n, sizeof *d);

    for (size_t i = 0; i < j->n; i++) {
        d[i].f = &j->chapter[i];
        find_day(&d[i]);
    }
    qsort(d, j->n, sizeof *d, by_day);
    exp_page_open(w, &(struct exp_page_section){ EXP_PAGE_CHAPTER, "overview", "Overview", NULL });
    exp_page_table_begin(w, &(struct exp_page_table){ "What each folder of results found, the newest first", columns, 3,
                                                      j->n > LONG_OVERVIEW, true });
    for (size_t i = 0; i < j->n; i++)
        write_overview_row(w, &d[i]);
    exp_page_table_end(w);
    exp_page_close(w);
    exp_page_contents_here(w);
    free(d);
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
