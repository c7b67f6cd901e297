/* The machine that MACHINE= names. */
#ifndef EXPERIMENTS_EXP_MACHINE_H
#define EXPERIMENTS_EXP_MACHINE_H

#include "sim/machine.h"

/*
 * Finds a machine: "host", a name in sim/machines, or the path of a .cfg file (anything with a '/' or that ends in
 * .cfg). Returns 0; -errno of reading it with one line in why; -ENOENT for an unknown name; -ENOMEM.
 */
int exp_machine_find(struct sim_machine *m, const char *which, char *why, size_t why_bytes);

#endif
