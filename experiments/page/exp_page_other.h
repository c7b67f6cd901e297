/* The chapter of any other folder. */
#ifndef EXPERIMENTS_EXP_PAGE_OTHER_H
#define EXPERIMENTS_EXP_PAGE_OTHER_H

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_folder.h"

/* Writes it. Returns 0, or -errno with one line in why. */
int exp_page_other_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);

/*
 * Writes what a program said in words, as a part of a chapter or several. Tables of Markdown become tables. In a file
 * of Markdown headings begin new parts, lines are paragraphs, and pictures are left out, which the chapter has already;
 * of any other file lines stay as they are.
 */

/* Writes a text file of the folder. Returns whether it is there. */
bool exp_page_words_write(struct exp_page_writer *w, const struct exp_page_folder *f, const char *file);

#endif
