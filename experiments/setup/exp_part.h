/*
 * Parts of long work: folders that are made once. A part is kept as long as its key is the same: a text of everything
 * that its numbers depend on. A folder appears complete or not at all (exp_outdir.h), so that an interruption costs no
 * more than the part that was being made.
 */
#ifndef EXPERIMENTS_EXP_PART_H
#define EXPERIMENTS_EXP_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"

#define EXP_PART_KEY_FILE "key.txt"

/* Returns the text of a file in a folder, "" if there is none; from malloc, NULL when out of memory. */
char *exp_part_text(const char *folder, const char *file);

/*
 * Tells whether the folder holds what has this key. Numbers of sources that have no name, a commit with changes or
 * none, are never kept.
 */
bool exp_part_is_kept(const char *folder, const char *commit, const char *key);

/*
 * Makes the folder: its key, and what write() puts beside it, of which the file `marker` is one. Returns 0 or -errno
 * with one line in why; write() likewise.
 */
int exp_part_write(const char *folder, const char *marker, const char *key,
                   int (*write)(const void *ctx, const struct exp_outdir *dir, struct exp_why *why), const void *ctx,
                   struct exp_why *why);

#endif
