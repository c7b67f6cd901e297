/* Whole text files in memory. */
#ifndef EXPERIMENTS_EXP_TEXT_H
#define EXPERIMENTS_EXP_TEXT_H

#include <stddef.h>

/*
 * Reads a file of at most 64 MiB into *text, from malloc, with a zero byte behind it; *bytes is its length. Returns 0;
 * -errno of opening or reading; -EFBIG; -ENOMEM; with one line in why, and *text NULL.
 */
int exp_text_read(char **text, size_t *bytes, const char *path, char *why, size_t why_bytes);

#endif
