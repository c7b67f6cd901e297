/*
 * A result folder as a chapter of a page: what kind it is, its tables, its figures.
 */
#ifndef EXPERIMENTS_EXP_PAGE_FOLDER_H
#define EXPERIMENTS_EXP_PAGE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/page/exp_page_captions.h"
#include "experiments/page/exp_page_data.h"
#include "experiments/page/exp_page_writer.h"

struct exp_page_folder {
    const char *path;
    const char *name; /* for people: its place below the folder of all results */
    const char *id;   /* of its chapter: unique within a page */
    const struct exp_page_captions *captions;
};

/*
 * Tells whether a folder with a file of this name is one of results: each kind of result has a table or a page that no
 * other has.
 */
bool exp_page_is_marker(const char *file);

/* Writes a folder's chapter. Returns 0, or -errno with one line in why, that names the file. */
int exp_page_folder_write(struct exp_page_writer *w, const struct exp_page_folder *f, char *why, size_t why_bytes);

/* Reads a text file of the folder; "" if there is none. From malloc; NULL when out of memory. */
char *exp_page_folder_text(const struct exp_page_folder *f, const char *file);

/* ---- parts that chapters share ---- */

/*
 * Writes the figures that the folder has, each with its caption, in the order of figures.txt, else of their names. Of
 * those in first[], which ends with NULL, only the first one that is there, if only_first; else all others.
 */
void exp_page_folder_figures(struct exp_page_writer *w, const struct exp_page_folder *f, const char *const *first,
                             bool only_first);

/* Writes who made the folder's results: host.txt and the head of a table. */
void exp_page_folder_origin(struct exp_page_writer *w, const struct exp_page_folder *f, const struct exp_page_csv *csv);

/* Makes the id of a part of the chapter: "<id>-<part>". */
void exp_page_folder_id(const struct exp_page_folder *f, const char *part, char *id, size_t bytes);

/* An experiment's chapter (exp_page_run.c), and that of any other folder (exp_page_other.c). */
int exp_page_run_write(struct exp_page_writer *w, const struct exp_page_folder *f, char *why, size_t why_bytes);
int exp_page_other_write(struct exp_page_writer *w, const struct exp_page_folder *f, char *why, size_t why_bytes);

#endif
