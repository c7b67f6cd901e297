/*
 * A file that cachesim writes: whole, or not at all. It grows under a temporary name in the same folder and takes its
 * own name when it is complete; until then a file of that name stays what it was. Standard output, devices and pipes
 * are written as they are. Through a symbolic link, what the link leads to is replaced.
 */
#ifndef SIM_CACHESIM_FILE_H
#define SIM_CACHESIM_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct cachesim_file {
    FILE *out;
    char *target;    /* NULL: written in place */
    char *temporary; /* NULL: likewise */
};

/* Tells whether path ("-": standard output) is that very file, by device and inode. Only regular files count. */
bool cachesim_file_is(const char *path, const struct stat *that);

/*
 * Tells, before any work is done, whether a file can be written: its folder exists, and permissions allow writing.
 * Returns 0 or -errno; "-" and devices are fine.
 */
int cachesim_file_check(const char *path);

/* Opens path ("-": standard output) for writing. Returns 0 or -errno, with nothing to release. */
int cachesim_file_open(struct cachesim_file *f, const char *path);

/* Ends the file and gives it its name. Returns 0, or -errno and the file is as it was before. Releases f either way. */
int cachesim_file_commit(struct cachesim_file *f);

/* Gives up what was written, where that is possible. Releases f. */
void cachesim_file_discard(struct cachesim_file *f);

#endif
