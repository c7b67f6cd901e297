/* The machine that MACHINE= names, and all machine files of a folder. */
#ifndef EXPERIMENTS_BENCH_CASE_MACHINE_H
#define EXPERIMENTS_BENCH_CASE_MACHINE_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "sim/machine/machine.h"

/*
 * Finds a machine: "host", a name in sim/machines, or the path of a .cfg file (anything with a '/' or the ending .cfg).
 * The host is described by hwloc, a calibration below a folder of results, and the file of the CPU (machine_here.h).
 * Returns 0; -errno of reading with one line in why; -ENOENT for an unknown name; -ENOMEM.
 */
int exp_machine_find(struct sim_machine *m, const char *which, const char *results, struct exp_why *why);

/* Checks a machine's name, and reads no file. Returns 0, or -ENOENT with one line in why. */
int exp_machine_check(const char *which, struct exp_why *why);

/* Says in one line the origin of a machine's values. */
void exp_machine_say_source(const char *which, const char *results, char *text, size_t bytes);

/*
 * Says the name of the machine's kind, shared by all computers of the kind: of the host, the name of the CPU's file;
 * "host" without a file.
 */
void exp_machine_say_kind(const char *which, const struct sim_machine *m, char *text, size_t bytes);

/*
 * Prints notes on a host machine, each in a line behind `start`: values left out, guessed or assumed. A machine from a
 * file has no notes.
 */
void exp_machine_print_notes(const char *which, const char *results, const char *start, FILE *out);

/* Returns the file that exp_machine_find reads, or "host". From malloc. */
char *exp_machine_origin(const char *which);

/*
 * Tells whether this computer has the machine's L1 and L2 (bytes, ways, line), so that times measured here compare with
 * the simulation. L3 differs between computers of one kind. Returns 0, or -ENODEV with the difference in why.
 */
int exp_machine_why_not_here(const struct sim_machine *m, struct exp_why *why);

/* ---- all machine files of a folder ---- */

#define EXP_MACHINES_DIR "sim/machines"
#define EXP_MACHINES_SUFFIX ".cfg"

/*
 * Shows each machine, in order of name, to visit, until visit returns a value other than 0. Returns this value; -errno
 * with one line in why if the folder or a file cannot be read.
 */
int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct exp_why *why);

#endif
