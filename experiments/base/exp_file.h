/* Files that appear whole or not at all; or standard output, or what is no file, such as a pipe. */
#ifndef EXPERIMENTS_EXP_FILE_H
#define EXPERIMENTS_EXP_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"

/*
 * Has print(ctx, out) write the file; "": standard output. print returns 0 or -errno, may write one line into the same why,
 * which is emptied before, and need not look after write errors. Returns what print returned, or -errno of writing, with
 * one line in why; the file is then as it was.
 */
int exp_file_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, struct exp_why *why);

#endif
