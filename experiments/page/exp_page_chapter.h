/* A chapter of a page: what kind of results a folder has, and who writes it. */
#ifndef EXPERIMENTS_EXP_PAGE_CHAPTER_H
#define EXPERIMENTS_EXP_PAGE_CHAPTER_H

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_folder.h"

/*
 * Tells whether a folder with a file of this name is one of results: each kind of result has a table or a page that no
 * other has.
 */
bool exp_page_is_marker(const char *file);

/* Writes a folder's chapter. Returns 0, or -errno with one line in why, that names the file. */
int exp_page_chapter_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);

#endif
