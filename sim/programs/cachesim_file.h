/*
 * A file that cachesim writes as a whole, or not at all. The file grows under a temporary name in its folder and takes
 * its own name when complete; until then an old file of the name stays unchanged. Standard output, devices and pipes
 * are written directly. A symbolic link stays, and its target is replaced.
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

/* Tells whether path ("-": standard output) is the file `that`, by device and inode. Only regular files count. */
bool cachesim_file_is(const char *path, const struct stat *that);

/*
 * Tells, before any work is done, whether a file can be written: its folder exists, and permissions allow writing.
 * Returns 0 or -errno; "-" and devices are fine.
 */
int cachesim_file_check(const char *path);

/* Opens path ("-": standard output) for writing. Returns 0 or -errno, with nothing to release. */
int cachesim_file_open(struct cachesim_file *f, const char *path);

/*
 * Completes the file and gives the file its name. Returns 0, or -errno with the old file unchanged. Releases f in both
 * cases.
 */
int cachesim_file_commit(struct cachesim_file *f);

/* Discards the written part, where possible. Releases f. */
void cachesim_file_discard(struct cachesim_file *f);

#endif
