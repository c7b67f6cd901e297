/* Finds this program's folder and other programs. */
#ifndef SIM_CACHESIM_PLACE_H
#define SIM_CACHESIM_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum { CACHESIM_PLACE_BYTES = 48 };

/* Stores the folder of this program; "." if the system does not tell. */
void cachesim_place_folder(char *folder, size_t bytes);

/*
 * Finds a program as a shell does, by its path or in PATH. Returns whether there is such a program; then path is its
 * path.
 */
bool cachesim_place_program(const char *name, char *path, size_t bytes);

/*
 * Stores a path under which this process and child processes may open a descriptor's file. The path has no blanks,
 * colons or commas, whatever the file's name. The path's length is constant, so that the path does not shift a
 * program's memory layout.
 */
void cachesim_place_of_descriptor(int fd, char path[static CACHESIM_PLACE_BYTES]);

#endif
