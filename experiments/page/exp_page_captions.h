/*
 * What figures show, in words: read from experiments/figures/README.md, whose tables have a row
 *
 *     | `name` | question | how to read it |
 *
 * for each figure. It is the only place where that is said.
 */
#ifndef EXPERIMENTS_EXP_PAGE_CAPTIONS_H
#define EXPERIMENTS_EXP_PAGE_CAPTIONS_H

#include <stddef.h>

enum { EXP_PAGE_CAPTIONS = 64 };

struct exp_page_caption {
    const char *name, *question, *reading;
};

struct exp_page_captions {
    char *text;
    struct exp_page_caption caption[EXP_PAGE_CAPTIONS];
    size_t n;
};

/* Reads <folder>/README.md. Returns 0, or -errno with one line in why. */
int exp_page_captions_read(struct exp_page_captions *c, const char *folder, char *why, size_t why_bytes);
void exp_page_captions_release(struct exp_page_captions *c);

/* Finds a figure's caption; NULL if nothing is said of it. */
const struct exp_page_caption *exp_page_captions_find(const struct exp_page_captions *c, const char *name);

#endif
