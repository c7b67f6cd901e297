/* Files that appear whole or not at all; or standard output, or what is no file, such as a pipe. */
#ifndef EXPERIMENTS_EXP_FILE_H
#define EXPERIMENTS_EXP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/base/exp_error.h"

/*
 * Has print(ctx, out) write the file; "": standard output. print returns 0 or -errno, may write one line into the same
 * why, which is emptied before, and need not look after write errors. Returns what print returned, or -errno of
 * writing, with one line in why; the file is then as it was.
 */
int exp_file_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, struct exp_why *why);

/* Whole text files in memory. */

/*
 * Reads a file of at most 64 MiB into *text, from malloc, with a zero byte behind it; *bytes is its length. Returns 0;
 * -errno of opening or reading; -EFBIG; -ENOMEM; with one line in why, and *text NULL.
 */
int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why);

/* Reads a file of a folder; "" if it is not there or cannot be read. From malloc; NULL when out of memory. */
char *exp_text_of(const char *folder, const char *file);

/* Returns what follows a key in the first line that begins with it; NULL if none does. The line ends as lines do. */
const char *exp_text_after(const char *text, const char *key);

/* Hashes of bytes and files: to tell apart what differs by accident. */

/* Adds bytes to a hash, which starts from 0. */
uint64_t exp_hash_bytes(uint64_t hash, const void *bytes, size_t n);

/* Adds a file to a hash, which starts from 0. Returns 0 or -errno of reading it. */
int exp_hash_file(uint64_t *hash, const char *path);

/* Finds the folders below one that hold something: results, for instance. */

/* Paths in the order of their names. Starts as { 0 }. */
struct exp_folders {
    char **path;
    size_t n, room;
};

/*
 * Finds the folders that hold a file which is_wanted names: `root`, and those below it. Hidden ones are left out, as
 * they are results that are not complete yet, and links are not followed. Returns 0; -errno of reading a folder, with
 * one line in why; -ENOMEM.
 */
int exp_folders_find(struct exp_folders *f, const char *root, bool (*is_wanted)(const char *file), struct exp_why *why);

void exp_folders_release(struct exp_folders *f);

#endif
