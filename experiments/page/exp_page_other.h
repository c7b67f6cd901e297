/* The chapter of any other folder. */
#ifndef EXPERIMENTS_EXP_PAGE_OTHER_H
#define EXPERIMENTS_EXP_PAGE_OTHER_H

#include "experiments/base/exp_error.h"
#include "experiments/page/exp_page_folder.h"

/* Writes it. Returns 0, or -errno with one line in why. */
int exp_page_other_write(struct exp_page_writer *w, const struct exp_page_folder *f, struct exp_why *why);

#endif
