/* What a folder of results found, in a sentence or two: for the overview of many folders, and for its own chapter. */
#ifndef EXPERIMENTS_EXP_PAGE_FOUND_H
#define EXPERIMENTS_EXP_PAGE_FOUND_H

#include <stddef.h>

#include "experiments/page/exp_page_folder.h"

/* Copies it; "" if the folder's files say nothing of the kind. Returns 0 or -ENOMEM. */
int exp_page_found(const struct exp_page_folder *f, char *text, size_t bytes);

#endif
