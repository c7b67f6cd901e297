/* The machine that MACHINE= names, and all machine files of a folder. */
#ifndef EXPERIMENTS_BENCH_CASE_MACHINE_H
#define EXPERIMENTS_BENCH_CASE_MACHINE_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "sim/machine/machine.h"

/*
 * Finds a machine: "host", a name in sim/machines, or the path of a .cfg file (anything with a '/' or that ends in
 * .cfg). Of the host it is what hwloc, a calibration below a folder of results, and the file of its CPU know
 * (machine_here.h). Returns 0; -errno of reading it with one line in why; -ENOENT for an unknown name; -ENOMEM.
 */
int exp_machine_find(struct sim_machine *m, const char *which, const char *results, struct exp_why *why);

/* Finds what is wrong with a machine's name, and reads no file. Returns 0, or -ENOENT with one line in why. */
int exp_machine_check(const char *which, struct exp_why *why);

/* Says in one line where a machine's values come from. */
void exp_machine_say_source(const char *which, const char *results, char *text, size_t bytes);

/*
 * Prints notes on a host machine, each in a line behind `start`: values left out, guessed or assumed. A machine from a
 * file has no notes.
 */
void exp_machine_print_notes(const char *which, const char *results, const char *start, FILE *out);

/* Returns the file that exp_machine_find reads, or "host". From malloc. */
char *exp_machine_origin(const char *which);

/*
 * Tells whether the computer this runs on has the machine's L1 and L2 (bytes, ways, line), so that times measured here
 * may be held against what was simulated. L3 differs between computers of one kind. Returns 0, or -ENODEV with the
 * difference in why.
 */
int exp_machine_why_not_here(const struct sim_machine *m, struct exp_why *why);

/* ---- all machine files of a folder ---- */

#define EXP_MACHINES_DIR "sim/machines"
#define EXP_MACHINES_SUFFIX ".cfg"

/*
 * Shows each, in the order of their names, to visit, until that returns other than 0. Returns what it returned; -errno
 * with one line in why if the folder or a file cannot be read.
 */
int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct exp_why *why);

#endif
