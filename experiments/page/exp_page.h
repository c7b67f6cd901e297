/* The report of a folder of results: report.html. */
#ifndef EXPERIMENTS_EXP_PAGE_H
#define EXPERIMENTS_EXP_PAGE_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_folder.h"
#include "experiments/setup/exp_results.h"

#define EXP_PAGE_FILE "report.html"

struct exp_page_request {
    const char *results;         /* folder whose results, and those below it, are reported on */
    const char *name;            /* path that the folder will have; NULL: the one that it has */
    const char *out_dir;         /* where the file goes; it must be there */
    const char *model;           /* only folders of that name; "all": all of them */
    const char *experiments_dir; /* holds figures/ and page/ */
};

/*
 * Writes the page, whole or not at all. *n is how many folders it is about. A folder that cannot be
 * read is told about in the report. Returns 0, or with one line in why: -ENOENT if there are no results; -errno of
 * reading folders or writing.
 */
int exp_page_write(const struct exp_page_request *q, size_t *n, struct exp_why *why);

/*
 * Adds the report of results that a program has written, to the folder in which they are still open, and lists it on
 * standard output. Says on standard error what went wrong, if anything: no table depends on it. Returns as
 * exp_page_write.
 */
int exp_page_add(const struct exp_results *r, const char *program);

#endif
