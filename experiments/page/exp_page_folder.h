/*
 * A result folder as a chapter of a page: its files, its figures, and who made it.
 */
#ifndef EXPERIMENTS_EXP_PAGE_FOLDER_H
#define EXPERIMENTS_EXP_PAGE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_data.h"
#include "experiments/page/exp_page_writer.h"

struct exp_page_folder {
    const char *path;
    const char *name; /* for people: its place below the folder of all results */
    const char *id;   /* of its chapter: unique within a page */
    const struct exp_page_captions *captions;
};

bool exp_page_folder_has(const struct exp_page_folder *f, const char *file);

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

/*
 * The heads of the scripts in experiments/figures say in words what figures show,
 *
 *     # question How many loads miss in each level?
 *     # caption In % of all loads.
 *     # caption Solid bars are simulated, hatched ones measured.
 *
 * and nothing else does. Lines of one kind are joined by blanks.
 */

struct exp_page_caption {
    char *name, *question, *reading;
};

struct exp_page_captions {
    struct exp_page_caption *caption;
    size_t n;
};

/* Reads the scripts (*.gp) of a folder that have both. Returns 0, or -errno with one line in why. */
int exp_page_captions_read(struct exp_page_captions *c, const char *folder, struct exp_why *why);
void exp_page_captions_release(struct exp_page_captions *c);

/* Finds a figure's caption; NULL if nothing is said of it. */
const struct exp_page_caption *exp_page_captions_find(const struct exp_page_captions *c, const char *name);

#endif
