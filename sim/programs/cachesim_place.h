/* Finds where this program and others are. */
#ifndef SIM_CACHESIM_PLACE_H
#define SIM_CACHESIM_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Stores the folder of this program; "." if the system does not tell. */
void cachesim_place_folder(char *folder, size_t bytes);

/* Finds a program as a shell does, by its path or in PATH. Returns whether it is there; then path is where. */
bool cachesim_place_program(const char *name, char *path, size_t bytes);

#endif
