/* The first screen of an experiment's chapter. */
#ifndef EXPERIMENTS_EXP_PAGE_ANSWER_H
#define EXPERIMENTS_EXP_PAGE_ANSWER_H

#include <stddef.h>

#include "experiments/page/exp_page_folder.h"
#include "experiments/page/exp_page_run.h"

/* Writes the question, the verdict's first paragraph, and the numbers that matter. */
void exp_page_answer_write(struct exp_page_writer *w, const struct exp_page_run *r);

/*
 * Copies a sentence of a verdict's first paragraph, the one after `before` others, without whose it is; "" of none.
 * Questions do not count.
 */
void exp_page_answer_of(const char *verdict, size_t before, char *text, size_t bytes);

/* Copies the question that a folder's verdict begins with; "" if it begins with none. */
void exp_page_question_of_folder(const struct exp_page_folder *f, char *text, size_t bytes);

/*
 * Says in a sentence or two what a folder of results found: for the overview of many folders, and for its own chapter.
 */

/* Copies it; "" if the folder's files say nothing of the kind. Returns 0 or -ENOMEM. */
int exp_page_found(const struct exp_page_folder *f, char *text, size_t bytes);

#endif
