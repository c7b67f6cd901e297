#include "experiments/base/outdir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/text.h"

static const char lock_name[] = ".lock";

/* ---- directory trees ---- */

typedef int (*visit_fn)(int dir_fd, const char *name, bool is_dir);

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Visits everything below the directory `name`, children first, then the directory. Links are not followed. */
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

/* Synchronises one file or directory with the disk: delayed writes report a full or broken disk only now. */
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
    d->parent = exp_format("%.*s", start ? (int)start : 1, start ? path : ".");
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
    return is_directory(path) ? 0 : -ENOTDIR; /* another process may have made the directory first */
}

/* Creates the parent and its parents; existing_length is the part that existed before. */
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

/* Removes the parents that make_parents created, unless another process has put files there. */
static void remove_made_parents(const struct exp_outdir *d)
{
    char *p = strdup(d->parent);

    while (p && strlen(p) > d->existing_length) {
        char *slash = strrchr(p, '/');

        if (rmdir(p) && errno != ENOENT && errno != ENAMETOOLONG) /* these two parents were not made */
            break;
        if (!slash)
            break;
        *slash = '\0';
    }
    free(p);
}

/* ---- leftovers of dead processes ---- */

static int set_lock(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_SETLK, &lock);
}

/*
 * A process that holds its folder's lock is alive. LOCK_UNKNOWN: no locks on the file system, or no lock in the folder
 * yet.
 */
enum lock_state { LOCK_FREE, LOCK_HELD, LOCK_UNKNOWN };

static enum lock_state lock_state(int parent_fd, const char *folder)
{
    char *path = exp_format("%s/%s", folder, lock_name);
    int fd = openat(parent_fd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    enum lock_state state = fd < 0 ? LOCK_UNKNOWN : LOCK_FREE;

    free(path);
    if (fd >= 0 && set_lock(fd))
        state = errno == EACCES || errno == EAGAIN ? LOCK_HELD : LOCK_UNKNOWN;
    if (fd >= 0)
        close(fd);
    return state;
}

static bool is_gone(long pid)
{
    return kill((pid_t)pid, 0) && errno == ESRCH;
}

bool exp_folder_is_abandoned(int parent_fd, const char *folder, long pid)
{
    if (pid == (long)getpid()) /* no caller asks about its own folder: an earlier process had this number */
        return true;
    switch (lock_state(parent_fd, folder)) {
    case LOCK_FREE:
        return true; /* the number may belong to a new process now */
    case LOCK_HELD:
        return false;
    default:
        return is_gone(pid);
    }
}

/* The lock file gets its final name after the lock is held. So a free lock means: the folder's process is gone. */
int exp_folder_lock(int parent_fd, const char *folder, int *lock_fd)
{
    char *lock = exp_format("%s/%s", folder, lock_name), *new_lock = exp_format("%s/%s.new", folder, lock_name);
    int err = 0;

    *lock_fd = openat(parent_fd, new_lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*lock_fd < 0 || (set_lock(*lock_fd) && errno != ENOLCK && errno != EINVAL && errno != ENOTSUP) ||
        renameat(parent_fd, new_lock, parent_fd, lock))
        err = -errno;
    free(lock);
    free(new_lock);
    return err;
}

/* Returns the process number at the end of a name ".<name><infix><pid>"; 0 for a name of another form. */
static long hidden_pid(const char *entry, const char *infix)
{
    const char *digits = strrchr(entry, '.');
    const size_t infix_length = strlen(infix);

    if (entry[0] != '.' || !digits || digits < entry + infix_length ||
        strncmp(digits + 1 - infix_length, infix, infix_length) != 0)
        return 0;
    digits++;
    if (!*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 9)
        return 0;
    return strtol(digits, NULL, 10);
}

static bool is_of(const struct exp_outdir *d, const char *entry, const char *infix)
{
    const size_t length = strlen(d->name);

    return !strncmp(entry + 1, d->name, length) && !strncmp(entry + 1 + length, infix, strlen(infix)) &&
           !strchr(entry + 1 + length + strlen(infix), '.');
}

/*
 * Tells whether a folder has a lock file. A new folder has no lock file yet; its process may run on another computer.
 */
static bool has_lock(int parent_fd, const char *entry)
{
    char *lock = exp_format("%s/%s", entry, lock_name);
    const bool has = exists(parent_fd, lock);

    free(lock);
    return has;
}

/*
 * Clears one leftover. A partial directory of another result is removed only if the directory has a lock file and is
 * not of this process.
 */
static void clear_leftover(const struct exp_outdir *d, const char *entry)
{
    static const char half[] = ".partial.", renamed[] = ".old.";
    long pid = hidden_pid(entry, half);

    if (pid > 0) {
        if ((is_of(d, entry, half) || (pid != (long)getpid() && has_lock(d->parent_fd, entry))) &&
            exp_folder_is_abandoned(d->parent_fd, entry, pid))
            remove_tree(d->parent_fd, entry);
        return;
    }
    pid = hidden_pid(entry, renamed);
    if (pid <= 0 || !is_of(d, entry, renamed) || (pid != (long)getpid() && !is_gone(pid)))
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

void exp_leftovers_clear(const char *folder, const char *begin)
{
    DIR *dir = opendir(folder);
    const size_t length = strlen(begin);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        const char *digits = entry->d_name + length;

        if (strncmp(entry->d_name, begin, length) != 0 || !*digits || digits[strspn(digits, "0123456789")] ||
            strlen(digits) > 9)
            continue;
        if (is_gone(strtol(digits, NULL, 10)))
            unlinkat(dirfd(dir), entry->d_name, 0); /* unlinkat leaves folders alone */
    }
    if (dir)
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

static bool has_marker(const struct exp_outdir *d, const char *directory)
{
    char *path = exp_format("%s/%s", directory, d->marker);
    struct stat s;
    const bool holds = !fstatat(d->parent_fd, path, &s, 0) && S_ISREG(s.st_mode);

    free(path);
    return holds;
}

static int check_old(const struct exp_outdir *d, struct exp_why *why)
{
    if (!exists(d->parent_fd, d->name) || is_empty(d->parent_fd, d->name) || has_marker(d, d->name))
        return 0;
    return exp_fail(why, -EEXIST, "'%s/%s' exists and is no earlier result (it has no %s): not replaced", d->parent,
                    d->name, d->marker);
}

static int make_partial(struct exp_outdir *d)
{
    d->partial = exp_format(".%s.partial.%ld", d->name, (long)getpid());
    d->path = exp_format("%s/%s", d->parent, d->partial);
    if (mkdirat(d->parent_fd, d->partial, 0777)) {
        int err = -errno;

        free(d->partial);
        d->partial = NULL; /* not ours: leave it alone when giving up */
        return err;
    }
    return exp_folder_lock(d->parent_fd, d->partial, &d->lock_fd);
}

static int open_parent(struct exp_outdir *d)
{
    int err = make_parents(d);

    if (err)
        return err;
    d->parent_fd = open(d->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return d->parent_fd < 0 ? -errno : 0;
}

/* Removes the partial directory, and parents made for the directory. */
static int remove_written(void *outdir)
{
    const struct exp_outdir *d = outdir;

    if (d->parent_fd >= 0 && d->partial)
        remove_tree(d->parent_fd, d->partial);
    if (d->parent)
        remove_made_parents(d);
    return 0;
}

/* Removes the directory though a thread may still write: a file added meanwhile takes another try. */
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

    assert(d && path && marker);
    *d = (struct exp_outdir){ .parent_fd = -1,
                              .lock_fd = -1,
                              .marker = exp_copy_text(marker),
                              .existing_length = SIZE_MAX,
                              .guard = { .undo = undo, .ctx = d } };
    err = split_path(d, path, why);
    if (!err)
        err = exp_guard_begin(&d->guard, begin, &o);
    if (err)
        exp_outdir_abort(d);
    return err;
}

char *exp_outdir_file(const struct exp_outdir *d, const char *file)
{
    assert(d && d->path && file);
    return exp_format("%s/%s", d->path, file);
}

int exp_outdir_write(const struct exp_outdir *d, const char *file, int (*print)(const void *ctx, FILE *out),
                     const void *ctx, struct exp_why *why)
{
    char *path = exp_outdir_file(d, file);
    FILE *out = fopen(path, "w");
    int err = out ? print(ctx, out) : -errno;

    if (out && ferror(out) && !err)
        err = -EIO;
    if (out && fclose(out) && (!err || err == -EIO))
        err = -errno;
    if (err)
        exp_fail(why, err, "cannot write '%s': %s", path, strerror(-err));
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
    int err = remove_entry(d->parent_fd, lock, false);

    free(lock);
    return err;
}

struct swap {
    const struct exp_outdir *d;
    const char *old;
};

/* Renames an old directory away, and the new directory in; puts the old directory back after a failure. */
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
            remove_tree(d->parent_fd, old); /* the next open removes the rest after a failure */
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
    int err = remove_lock(d);

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
    int err;

    assert(d && d->partial);
    if (!has_marker(d, d->partial))
        return exp_fail(why, -EINVAL, "the results in '%s' are incomplete: no %s", d->path, d->marker);
    err = check_old(d, why); /* an old directory may have appeared in the meantime */
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
