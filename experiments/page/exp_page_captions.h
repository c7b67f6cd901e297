/*
 * What figures show, in words: the comments at the heads of their scripts in experiments/figures say it,
 *
 *     # question How many loads miss in each level?
 *     # caption In % of all loads.
 *     # caption Solid bars are simulated, hatched ones measured.
 *
 * and nothing else does. Lines of one kind are joined by blanks.
 */
#ifndef EXPERIMENTS_EXP_PAGE_CAPTIONS_H
#define EXPERIMENTS_EXP_PAGE_CAPTIONS_H

#include <stddef.h>

#include "experiments/base/exp_error.h"

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
