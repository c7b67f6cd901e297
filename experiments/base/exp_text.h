/* Whole text files in memory. */
#ifndef EXPERIMENTS_EXP_TEXT_H
#define EXPERIMENTS_EXP_TEXT_H

#include <stddef.h>

#include "experiments/base/exp_error.h"

/*
 * Reads a file of at most 64 MiB into *text, from malloc, with a zero byte behind it; *bytes is its length. Returns 0;
 * -errno of opening or reading; -EFBIG; -ENOMEM; with one line in why, and *text NULL.
 */
int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why);

/* Reads a file of a folder; "" if it is not there or cannot be read. From malloc; NULL when out of memory. */
char *exp_text_of(const char *folder, const char *file);

/* Returns what follows a key in the first line that begins with it; NULL if none does. The line ends as lines do. */
const char *exp_text_after(const char *text, const char *key);

#endif
