#include "experiments/base/exp_outdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"

static const char lock_name[] = ".lock";

/* ---- directory trees ---- */

typedef int (*visit_fn)(int dir_fd, const char *name, bool is_dir);

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Visits everything below the directory `name`, children first, and then the directory itself. Links are not followed.
 */
static int visit_tree(int parent_fd, const char *name, visit_fn visit)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    int err = 0;

    if (!dir) {
        err = -errno;
        if (fd >= 0)
            close(fd);
        return err == -ENOTDIR || err == -ELOOP ? visit(parent_fd, name, false) : err;
    }
    while (!err && (errno = 0, entry = readdir(dir))) {
        struct stat s;

        if (is_dot(entry->d_name))
            continue;
        if (fstatat(fd, entry->d_name, &s, AT_SYMLINK_NOFOLLOW))
            err = -errno;
        else
            err = S_ISDIR(s.st_mode) ? visit_tree(fd, entry->d_name, visit) : visit(fd, entry->d_name, false);
    }
    if (!err)
        err = -errno;
    closedir(dir);
    return err ? err : visit(parent_fd, name, true);
}

static int remove_entry(int dir_fd, const char *name, bool is_dir)
{
    return unlinkat(dir_fd, name, is_dir ? AT_REMOVEDIR : 0) && errno != ENOENT ? -errno : 0;
}

/* Brings one file or directory to the disk: delayed writes report a full disk or a broken one only now. */
static int sync_entry(int dir_fd, const char *name, bool is_dir)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_dir ? O_DIRECTORY : 0));
    int err = 0;

    if (fd < 0)
        return errno == ELOOP || errno == ENXIO ? 0 : -errno; /* links and sockets hold no data */
    if (fsync(fd) && errno != EINVAL && errno != ENOTSUP)
        err = -errno;
    close(fd);
    return err;
}

static int remove_tree(int parent_fd, const char *name)
{
    return visit_tree(parent_fd, name, remove_entry);
}

static bool exists(int dir_fd, const char *name)
{
    struct stat s;

    return !fstatat(dir_fd, name, &s, AT_SYMLINK_NOFOLLOW);
}

/* ---- the path and its parent ---- */

/* Splits path into parent and name; trailing slashes do not count. */
static int split_path(struct exp_outdir *d, const char *path, struct exp_why *why)
{
    size_t length = strlen(path), start;

    while (length > 1 && path[length - 1] == '/')
        length--;
    for (start = length; start > 0 && path[start - 1] != '/'; start--)
        ;
    d->name = exp_format("%.*s", (int)(length - start), path + start);
    while (start > 1 && path[start - 1] == '/')
        start--;
    d->parent = start ? exp_format("%.*s", (int)start, path) : strdup(".");
    if (!d->name || !d->parent)
        return exp_fail(why, -ENOMEM, "out of memory");
    if (!*d->name || is_dot(d->name))
        return exp_fail(why, -EINVAL, "not the name of a result directory: '%s'", path);
    return 0;
}

static bool is_directory(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static int make_directory(const char *path)
{
    if (!mkdir(path, 0777))
        return 0;
    if (errno != EEXIST)
        return -errno;
    return is_directory(path) ? 0 : -ENOTDIR; /* somebody else may have been faster */
}

/* Creates the parent and its parents; existing_length tells what was there before. */
static int make_parents(struct exp_outdir *d)
{
    char *p = d->parent;
    size_t length = strlen(p);
    bool has_made = false;
    int err = 0;

    d->existing_length = 0;
    for (size_t i = 1; i <= length && !err; i++) {
        if (p[i] != '/' && p[i] != '\0')
            continue;
        p[i] = '\0';
        if (!is_directory(p)) {
            err = make_directory(p);
            has_made = true;
        } else if (!has_made) {
            d->existing_length = i;
        }
        if (i < length)
            p[i] = '/';
    }
    return err;
}

/* Removes the parents that make_parents created, as far as nobody else has put anything there. */
static void remove_made_parents(const struct exp_outdir *d)
{
    char *p = strdup(d->parent);

    while (p && strlen(p) > d->existing_length) {
        char *slash = strrchr(p, '/');

        if (rmdir(p) && errno != ENOENT && errno != ENAMETOOLONG) /* these two were not made */
            break;
        if (!slash)
            break;
        *slash = '\0';
    }
    free(p);
}

/* ---- what other processes left behind ---- */

static int set_lock(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_SETLK, &lock);
}

/*
 * Tells whether the process that made a hidden directory is gone. Neither sign alone is enough. After a restart (of a
 * container, say) the number may belong to somebody else. And there may be a moment before the lock is taken.
 */
static bool is_abandoned(int parent_fd, const char *hidden, long pid)
{
    char *path = exp_format("%s/%s", hidden, lock_name);
    int fd = path ? openat(parent_fd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool is_locked = fd >= 0 && set_lock(fd);
    bool is_alive = pid != (long)getpid() && (!kill((pid_t)pid, 0) || errno != ESRCH);

    if (fd >= 0)
        close(fd);
    free(path);
    return !is_locked && !is_alive;
}

/* Returns the process number at the end of ".<name><infix><pid>"; 0 if entry is something else. */
static long hidden_pid(const char *entry, const char *name, const char *infix)
{
    size_t name_length = strlen(name), infix_length = strlen(infix);
    const char *digits;

    if (entry[0] != '.' || strncmp(entry + 1, name, name_length) != 0 ||
        strncmp(entry + 1 + name_length, infix, infix_length) != 0)
        return 0;
    digits = entry + 1 + name_length + infix_length;
    if (!*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 9)
        return 0;
    return strtol(digits, NULL, 10);
}

static void clear_leftover(const struct exp_outdir *d, const char *entry)
{
    long pid = hidden_pid(entry, d->name, ".partial.");

    if (pid > 0 && is_abandoned(d->parent_fd, entry, pid)) {
        remove_tree(d->parent_fd, entry);
        return;
    }
    pid = hidden_pid(entry, d->name, ".old.");
    if (pid <= 0 || !is_abandoned(d->parent_fd, entry, pid))
        return;
    if (exists(d->parent_fd, d->name) || renameat(d->parent_fd, entry, d->parent_fd, d->name))
        remove_tree(d->parent_fd, entry);
}

/* Leftovers that cannot be removed are harmless: their names are never used again while they exist. */
static void clear_leftovers(const struct exp_outdir *d)
{
    int fd = openat(d->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        clear_leftover(d, entry->d_name);
    closedir(dir);
}

/* ---- opening ---- */

static bool is_empty(int parent_fd, const char *name)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    bool empty = true;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (empty && (entry = readdir(dir)))
        empty = is_dot(entry->d_name);
    closedir(dir);
    return empty;
}

/* Finds out whether a folder has the marker. Returns 0 or -ENOMEM. */
static int find_marker(const struct exp_outdir *d, const char *directory, bool *holds)
{
    char *path = exp_format("%s/%s", directory, d->marker);
    struct stat s;

    if (!path)
        return -ENOMEM;
    *holds = !fstatat(d->parent_fd, path, &s, 0) && S_ISREG(s.st_mode);
    free(path);
    return 0;
}

static int check_old(const struct exp_outdir *d, struct exp_why *why)
{
    bool holds;

    if (!exists(d->parent_fd, d->name) || is_empty(d->parent_fd, d->name))
        return 0;
    if (find_marker(d, d->name, &holds))
        return exp_fail(why, -ENOMEM, "out of memory");
    if (holds)
        return 0;
    return exp_fail(why, -EEXIST, "'%s/%s' exists and is no earlier result (it has no %s): not replaced", d->parent,
                    d->name, d->marker);
}

static int make_partial(struct exp_outdir *d)
{
    char *lock;

    d->partial = exp_format(".%s.partial.%ld", d->name, (long)getpid());
    d->path = d->partial ? exp_format("%s/%s", d->parent, d->partial) : NULL;
    lock = d->path ? exp_format("%s/%s", d->partial, lock_name) : NULL;
    if (!lock || mkdirat(d->parent_fd, d->partial, 0777)) {
        int err = lock ? -errno : -ENOMEM;

        free(lock);
        free(d->partial);
        d->partial = NULL; /* not ours: leave it alone when giving up */
        return err;
    }
    d->lock_fd = openat(d->parent_fd, lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    free(lock);
    if (d->lock_fd < 0)
        return -errno;
    /* File systems without locks: the process number alone tells then. */
    return set_lock(d->lock_fd) && errno != ENOLCK && errno != EINVAL && errno != ENOTSUP ? -errno : 0;
}

static int open_parent(struct exp_outdir *d)
{
    int err = make_parents(d);

    if (err)
        return err;
    d->parent_fd = open(d->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return d->parent_fd < 0 ? -errno : 0;
}

/* Removes what was written, and parents that were made for it. */
static int remove_written(void *outdir)
{
    const struct exp_outdir *d = outdir;

    if (d->parent_fd >= 0 && d->partial)
        remove_tree(d->parent_fd, d->partial);
    if (d->parent)
        remove_made_parents(d);
    return 0;
}

/* Removes the directory though another thread may still be writing: what that adds meanwhile takes another try. */
static void undo(void *outdir)
{
    const struct exp_outdir *d = outdir;

    for (int i = 0; i < 10 && exists(d->parent_fd, d->partial); i++)
        remove_written(outdir);
}

struct opening {
    struct exp_outdir *d;
    const char *path;
    struct exp_why *why;
};

static int begin(void *arg)
{
    const struct opening *o = arg;
    int err = open_parent(o->d);

    if (!err) {
        clear_leftovers(o->d);
        err = check_old(o->d, o->why);
        if (err)
            return err;
        err = make_partial(o->d);
    }
    return err ? exp_fail(o->why, err, "cannot write results to '%s': %s", o->path, strerror(-err)) : 0;
}

int exp_outdir_open(struct exp_outdir *d, const char *path, const char *marker, struct exp_why *why)
{
    struct opening o = { d, path, why };
    int err;

    *d = (struct exp_outdir){ .parent_fd = -1,
                              .lock_fd = -1,
                              .marker = strdup(marker),
                              .existing_length = SIZE_MAX,
                              .guard = { .undo = undo, .ctx = d } };
    err = d->marker ? split_path(d, path, why) : exp_fail(why, -ENOMEM, "out of memory");
    if (!err)
        err = exp_guard_begin(&d->guard, begin, &o);
    if (err)
        exp_outdir_abort(d);
    return err;
}

char *exp_outdir_file(const struct exp_outdir *d, const char *file)
{
    return exp_format("%s/%s", d->path, file);
}

int exp_outdir_write(const struct exp_outdir *d, const char *file, int (*print)(const void *ctx, FILE *out),
                     const void *ctx, struct exp_why *why)
{
    char *path = exp_outdir_file(d, file);
    FILE *out = path ? fopen(path, "w") : NULL;
    int err = out ? print(ctx, out) : path ? -errno : -ENOMEM;

    if (out && ferror(out) && !err)
        err = -EIO;
    if (out && fclose(out) && (!err || err == -EIO))
        err = -errno;
    if (err)
        exp_fail(why, err, "cannot write '%s': %s", path ? path : file, strerror(-err));
    free(path);
    return err;
}

/* ---- closing ---- */

static void release(struct exp_outdir *d)
{
    if (d->lock_fd >= 0)
        close(d->lock_fd);
    if (d->parent_fd >= 0)
        close(d->parent_fd);
    free(d->parent);
    free(d->name);
    free(d->partial);
    free(d->path);
    free(d->marker);
    *d = (struct exp_outdir){ .parent_fd = -1, .lock_fd = -1 };
}

static int remove_lock(const struct exp_outdir *d)
{
    char *lock = exp_format("%s/%s", d->partial, lock_name);
    int err = lock ? remove_entry(d->parent_fd, lock, false) : -ENOMEM;

    free(lock);
    return err;
}

struct swap {
    const struct exp_outdir *d;
    const char *old;
};

/* Renames the old directory away, if there is one, and the new one in; puts the old one back if that fails. */
static int swap(void *arg)
{
    const struct exp_outdir *d = ((const struct swap *)arg)->d;
    const char *old = ((const struct swap *)arg)->old;
    bool had_old = !renameat(d->parent_fd, d->name, d->parent_fd, old);
    int err;

    if (!had_old && errno != ENOENT)
        return -errno;
    if (!renameat(d->parent_fd, d->partial, d->parent_fd, d->name)) {
        if (had_old)
            remove_tree(d->parent_fd, old); /* the next open removes what this cannot */
        return 0;
    }
    err = -errno;
    if (had_old)
        renameat(d->parent_fd, old, d->parent_fd, d->name);
    return err;
}

static int put_in_place(struct exp_outdir *d)
{
    char *old = exp_format(".%s.old.%ld", d->name, (long)getpid());
    int err = old ? remove_lock(d) : -ENOMEM;

    if (!err)
        err = visit_tree(d->parent_fd, d->partial, sync_entry);
    if (!err)
        err = exp_guard_end(&d->guard, swap, &(struct swap){ d, old });
    if (!err)
        err = sync_entry(d->parent_fd, ".", true);
    free(old);
    return err;
}

int exp_outdir_commit(struct exp_outdir *d, struct exp_why *why)
{
    bool holds;
    int err = find_marker(d, d->partial, &holds);

    if (err)
        return exp_fail(why, err, "out of memory");
    if (!holds)
        return exp_fail(why, -EINVAL, "the results in '%s' are incomplete: no %s", d->path, d->marker);
    err = check_old(d, why); /* it may have appeared in the meantime */
    if (err)
        return err;
    err = put_in_place(d);
    if (err)
        return exp_fail(why, err, "cannot put the results in '%s/%s': %s", d->parent, d->name, strerror(-err));
    release(d);
    return 0;
}

void exp_outdir_abort(struct exp_outdir *d)
{
    exp_guard_end(&d->guard, remove_written, d);
    release(d);
}
