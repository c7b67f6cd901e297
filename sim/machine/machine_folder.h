/* Folders of machine files. */
#ifndef SIM_MACHINE_FOLDER_H
#define SIM_MACHINE_FOLDER_H

#include "sim/base/why.h"
#include "sim/machine/machine.h"

#define SIM_MACHINE_SUFFIX ".cfg"

/*
 * Calls visit for each file of a folder, in the order of their names, until visit returns a value other than 0. Returns
 * visit's value; -errno with a line in why if the folder or a file cannot be read.
 */
int sim_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct sim_why why);

/*
 * Writes a line that says that no machine has the name, the nearest name, and the known names: host, and the files of
 * the folder.
 */
void sim_machine_say_unknown(const char *folder, const char *name, struct sim_why why);

/* Appends the names of the machines in a folder: "known: apple-m1 clx4208 ..."; names without room are left out. */
void sim_machine_say_known(const char *folder, char *text, size_t bytes);

#endif
