/* Single files that are whole or not there, and searches of folders (outdir.h). */
#include "experiments/base/outdir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"

/* ---- files ---- */

/* Removes the partial copies of a file left by processes that have ended. */
static void clear_files(const char *path)
{
    const char *name = exp_last_part(path);
    char *folder = exp_format("%.*s", (int)(name - path), path), *begin = exp_format("%s.partial.", name);

    exp_leftovers_clear(*folder ? folder : ".", begin);
    free(folder);
    free(begin);
}

static void remove_file(void *path)
{
    unlink(path);
}

/* Begins the file at *arg, a path. */
static int create(void *arg)
{
    FILE *out = fopen(arg, "w");

    return !out || fclose(out) ? -errno : 0;
}

struct renaming {
    const char *from, *to;
};

static int rename_whole(void *arg)
{
    const struct renaming *r = arg;

    return rename(r->from, r->to) ? -errno : 0;
}

/* Synchronises a regular file with the disk: a full disk is noticed only now. */
static int end(FILE *out)
{
    int err = 0;

    errno = 0;
    if (fflush(out) || ferror(out) || (fsync(fileno(out)) && errno != EINVAL && errno != ENOTSUP))
        err = errno ? -errno : -EIO;
    if (fclose(out) && !err)
        err = -errno;
    return err;
}

/* Says why there is no file, unless the file's print function has written a line. */
static int fail(const char *path, int err, struct exp_why *why)
{
    return *why->text ? err : exp_fail(why, err, "cannot write '%s': %s", path, strerror(-err));
}

static int fill(const char *path, int (*print)(void *ctx, FILE *out), void *ctx)
{
    FILE *out = fopen(path, "w");
    int err = out ? print(ctx, out) : -errno;
    int failed = out ? end(out) : 0;

    return err ? err : failed;
}

static int write_partial(char *partial, const char *path, int (*print)(void *ctx, FILE *out), void *ctx,
                         struct exp_why *why)
{
    struct exp_guard guard = { .undo = remove_file, .ctx = partial };
    struct renaming renaming = { partial, path };
    int err = exp_guard_begin(&guard, create, partial);

    if (err)
        return fail(path, err, why);
    err = fill(partial, print, ctx);
    if (!err)
        err = exp_guard_end(&guard, rename_whole, &renaming);
    if (!err)
        return 0;
    exp_guard_end(&guard, NULL, NULL);
    unlink(partial);
    return fail(path, err, why);
}

/* Tells whether a path names a device or a pipe, which no file can replace. */
static bool is_no_file(const char *path)
{
    struct stat s;

    return !stat(path, &s) && !S_ISREG(s.st_mode);
}

int exp_file_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, struct exp_why *why)
{
    char *partial;
    int err;

    assert(path && print && why);
    *why->text = '\0';
    if (!*path)
        return print(ctx, stdout);
    if (is_no_file(path)) {
        err = fill(path, print, ctx);
        return err ? fail(path, err, why) : 0;
    }
    clear_files(path);
    partial = exp_format("%s.partial.%ld", path, (long)getpid());
    err = write_partial(partial, path, print, ctx, why);
    free(partial);
    return err;
}

/* ---- folders ---- */

struct search {
    struct exp_folders *f;
    bool (*is_wanted)(const char *file);
    struct exp_why *why;
};

/* Hidden folders hold incomplete results. Links are not followed: links may form a circle. */
static bool is_folder(const char *path)
{
    struct stat st;

    return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static int is_visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

/* Files come before folders, so that a folder stands before its subfolders. */
static int find_below(const struct search *s, const char *folder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_visible, alphasort), err = 0;
    bool is_wanted = false;

    if (n < 0)
        return exp_fail(s->why, -errno, "cannot read the folder '%s': %s", folder, strerror(errno));
    for (int i = 0; i < n; i++)
        is_wanted |= s->is_wanted(entry[i]->d_name);
    if (is_wanted)
        *(char **)exp_append(&s->f->path, &s->f->n, sizeof *s->f->path) = exp_copy_text(folder);
    for (int i = 0; i < n; i++) {
        char *path = exp_format("%s/%s", folder, entry[i]->d_name);

        if (!err && is_folder(path))
            err = find_below(s, path);
        free(path);
        free(entry[i]);
    }
    free(entry);
    return err;
}

int exp_folders_find(struct exp_folders *f, const char *root, bool (*is_wanted)(const char *file), struct exp_why *why)
{
    const struct search s = { f, is_wanted, why };

    return find_below(&s, root);
}

void exp_folders_release(struct exp_folders *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->path[i]);
    free(f->path);
    *f = (struct exp_folders){ 0 };
}
