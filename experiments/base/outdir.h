/* The word for no file and no folder, in options that name a file. */
#define EXP_NO_FILE "no"

/*
 * A result directory that appears complete or not at all.
 *
 * All files are written into a hidden sibling, `.<name>.partial.<pid>`. Committing renames the old directory away,
 * renames the new directory in and removes the old directory. Aborting removes the hidden directory. After a killed
 * process, the next exp_outdir_open clears up: partial directories of dead processes in the parent are removed, under
 * any name. An old directory that was renamed away without a successor is renamed back by the next exp_outdir_open of
 * this name. A partial directory holds a lock while its process lives, because process numbers are reused.
 *
 * An existing directory is replaced only if empty or if the directory holds the marker, a file in every result: a slip
 * like OUT=$HOME must not delete a user's files.
 *
 * A program that is ended while a directory is open (program.h) leaves the disk as exp_outdir_abort does. A program is
 * not ended between the two renamings.
 *
 * Not for two threads at once; a process opens each path at most once at a time.
 */
#ifndef EXPERIMENTS_BASE_OUTDIR_H
#define EXPERIMENTS_BASE_OUTDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/program.h"

struct exp_outdir {
    int parent_fd; /* -1 when released */
    int lock_fd;   /* the partial directory's lock: held as long as the process lives */
    char *parent;  /* path of the parent directory */
    char *name;    /* last component of the final path */
    char *partial; /* name of the hidden sibling */
    char *path;    /* parent/partial: where to write */
    char *marker;
    size_t existing_length; /* length of the part of `parent` that existed before */
    struct exp_guard guard; /* an open directory must stay where it is in memory */
};

/*
 * Prepares to write the directory `path`; missing parents are created. marker is the name of a file that the finished
 * directory will hold. Returns 0, or -errno with one line in why: -EINVAL for a path without a name ("/", "..");
 * -EEXIST if path exists and may not be replaced; -EACCES, -EROFS, -ENOSPC, ... if the parent cannot be written.
 */
int exp_outdir_open(struct exp_outdir *d, const char *path, const char *marker, struct exp_why *why);

/* Locks a new folder for as long as this process lives. *lock_fd is the lock's file descriptor. Returns 0 or -errno. */
int exp_folder_lock(int parent_fd, const char *folder, int *lock_fd);

/*
 * Tells whether the process that made a folder is gone; pid is the number in the folder's name. The folder's lock
 * decides. Without a lock of the folder or the file system, the number decides. Not for folders that this process has
 * locked.
 */
bool exp_folder_is_abandoned(int parent_fd, const char *folder, long pid);

/* Removes the files of a folder whose name is `begin` and then the number of a process that has ended. */
void exp_leftovers_clear(const char *folder, const char *begin);

/* Returns the path of a file inside the directory while it is being written, from malloc. */
char *exp_outdir_file(const struct exp_outdir *d, const char *file);

/*
 * Writes one file through print(ctx, out). print returns 0 or -errno and need not check for write errors. Returns
 * print's result, or -errno of writing, with one line in why.
 */
int exp_outdir_write(const struct exp_outdir *d, const char *file, int (*print)(const void *ctx, FILE *out),
                     const void *ctx, struct exp_why *why);

/*
 * Puts the directory in its final place and releases d. Returns 0, or -errno with one line in why: -EINVAL if the
 * marker is missing, -EIO, -ENOSPC, ... if synchronising or renaming fails. On failure d stays open, and an old
 * directory stays in place.
 */
int exp_outdir_commit(struct exp_outdir *d, struct exp_why *why);

/* Removes the partial directory and the parents made for it, and releases d. A released d is fine. */
void exp_outdir_abort(struct exp_outdir *d);

/* Files that appear whole or not at all; standard output; and special files such as pipes. */

/*
 * Has print(ctx, out) write the file; "": standard output. print returns 0 or -errno, may write one line into why,
 * empty until then, and need not check for write errors. Returns print's result, or -errno of writing, with one line in
 * why; after an error the file is unchanged.
 */
int exp_file_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, struct exp_why *why);

/* Finds folders with given files: results, for example. */

/* Paths in the order of their names. Starts as { 0 }. */
struct exp_folders {
    char **path;
    size_t n;
};

/*
 * Finds the folders with a file that is_wanted accepts: `root` and the folders below. Hidden folders are left out,
 * because their results are incomplete; links are not followed. Returns 0; -errno of reading a folder, with one line in
 * why.
 */
int exp_folders_find(struct exp_folders *f, const char *root, bool (*is_wanted)(const char *file), struct exp_why *why);

void exp_folders_release(struct exp_folders *f);

#endif
