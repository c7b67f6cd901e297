/* A folder of files between programs. */
#ifndef EXPERIMENTS_BASE_WORKDIR_H
#define EXPERIMENTS_BASE_WORKDIR_H

#include "experiments/base/error.h"
#include "experiments/base/program.h"

/* The folder is removed with all files, however this program ends. */
struct exp_workdir {
    char *path; /* NULL: not open */
    struct exp_guard guard;
};

/*
 * Makes a folder of a path from malloc, and takes over the path; a path that ends in XXXXXX gets a unique name. The
 * struct must stay at its address. Returns 0, or -errno with one line in why; must be closed in any case.
 */
int exp_workdir_open(struct exp_workdir *w, char *path, struct exp_why *why);
void exp_workdir_close(struct exp_workdir *w); /* a zeroed struct is fine */

/* Returns the path of a new temporary folder, for exp_workdir_open. */
char *exp_workdir_temporary(void);

void exp_workdir_remove(const char *path); /* the folder and its files */

#endif
