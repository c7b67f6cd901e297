/* Finds the folders below one that hold something: results, for instance. */
#ifndef EXPERIMENTS_EXP_FOLDERS_H
#define EXPERIMENTS_EXP_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"

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
