/*
 * What a program said in words, as a part of a chapter or several. Tables of Markdown become tables. In a file of Markdown
 * headings begin new parts, lines are paragraphs, and pictures are left out, which the chapter has already; of any other
 * file lines stay as they are.
 */
#ifndef EXPERIMENTS_EXP_PAGE_WORDS_H
#define EXPERIMENTS_EXP_PAGE_WORDS_H

#include "experiments/page/exp_page_folder.h"

/* Writes a text file of the folder. Returns whether it is there. */
bool exp_page_words_write(struct exp_page_writer *w, const struct exp_page_folder *f, const char *file);

#endif
