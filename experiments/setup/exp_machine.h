/* The machine that MACHINE= names. */
#ifndef EXPERIMENTS_EXP_MACHINE_H
#define EXPERIMENTS_EXP_MACHINE_H

#include "sim/machine/machine.h"

/*
 * Finds a machine: "host", a name in sim/machines, or the path of a .cfg file (anything with a '/' or that ends in
 * .cfg). Returns 0; -errno of reading it with one line in why; -ENOENT for an unknown name; -ENOMEM.
 */
int exp_machine_find(struct sim_machine *m, const char *which, char *why, size_t why_bytes);

/* Returns the file that exp_machine_find reads, or "host". From malloc; NULL when out of memory. */
char *exp_machine_origin(const char *which);

/*
 * Tells whether the computer this runs on has the machine's L1 and L2 (bytes, ways, line), so that times measured here
 * may be held against what was simulated. L3 differs between computers of one kind. Returns 0, or -ENODEV with the
 * difference in why.
 */
int exp_machine_why_not_here(const struct sim_machine *m, char *why, size_t why_bytes);

#endif
