/* Files that appear whole or not at all; or standard output, or what is no file, such as a pipe. */
#ifndef EXPERIMENTS_EXP_EMIT_FILE_H
#define EXPERIMENTS_EXP_EMIT_FILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Has print(ctx, out), which returns 0 or -errno with one line in why, write the file; "": standard output. Returns
 * that, or -errno of writing with one line in why; the file is then as it was.
 */
int exp_emit_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, char *why, size_t why_bytes);

#endif
