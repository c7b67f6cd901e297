/* All machine files of a folder. */
#ifndef EXPERIMENTS_EXP_MACHINES_H
#define EXPERIMENTS_EXP_MACHINES_H

#include "experiments/base/exp_error.h"
#include "sim/machine/machine.h"

#define EXP_MACHINES_DIR "sim/machines"
#define EXP_MACHINES_SUFFIX ".cfg"

/*
 * Shows each, in the order of their names, to visit, until that returns other than 0. Returns what it returned; -errno
 * with one line in why if the folder or a file cannot be read.
 */
int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct exp_why *why);

#endif
