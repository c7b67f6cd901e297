/* Folders of machine files. */
#ifndef SIM_MACHINE_FOLDER_H
#define SIM_MACHINE_FOLDER_H

#include "sim/machine/machine.h"

#define SIM_MACHINE_SUFFIX ".cfg"

/*
 * Shows each file of a folder, in the order of their names, to visit, until that returns other than 0. Returns what it
 * returned; -errno with one line in why if the folder or a file cannot be read.
 */
int sim_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, char *why, size_t why_bytes);

/*
 * Writes one line that says that no machine is called so, which one may be meant, and which there are: host, and the
 * files of the folder.
 */
void sim_machine_say_unknown(const char *folder, const char *name, char *why, size_t why_bytes);

/* Appends the names of the machines in a folder: "known: apple-m1 clx4208 ..."; names without room are left out. */
void sim_machine_say_known(const char *folder, char *text, size_t bytes);

#endif
