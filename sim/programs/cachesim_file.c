#define _XOPEN_SOURCE 700 /* realpath */

#include "sim/programs/cachesim_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/programs/cachesim_signal.h"

static bool is_stdout(const char *path)
{
    return !strcmp(path, "-");
}

bool cachesim_file_is(const char *path, const struct stat *that)
{
    struct stat s;

    if (is_stdout(path) ? fstat(STDOUT_FILENO, &s) : stat(path, &s))
        return false;
    return S_ISREG(s.st_mode) && s.st_dev == that->st_dev && s.st_ino == that->st_ino;
}

static void release(struct cachesim_file *f)
{
    cachesim_signal_removes(NULL);
    free(f->target);
    free(f->temporary);
    *f = (struct cachesim_file){ 0 };
}

/* Returns the permissions that fopen() gives a new file. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return (S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) & ~mask;
}

/* Creates the temporary file. From then on, a signal removes the file. */
static int create(struct cachesim_file *f, mode_t mode)
{
    sigset_t before;
    int fd, err = 0;

    cachesim_signal_hold(&before);
    fd = mkstemp(f->temporary);
    if (fd < 0)
        err = -errno;
    else
        cachesim_signal_removes(f->temporary);
    cachesim_signal_release(&before);
    if (err)
        return err;
    f->out = fchmod(fd, mode) ? NULL : fdopen(fd, "wb");
    if (f->out)
        return 0;
    err = -errno;
    close(fd);
    unlink(f->temporary);
    return err;
}

static int open_beside(struct cachesim_file *f, const char *path, mode_t mode)
{
    static const char suffix[] = ".XXXXXX";
    size_t length;
    int err = -ENOMEM;

    f->target = realpath(path, NULL);
    if (!f->target && errno == ENOENT)
        f->target = strdup(path);
    length = f->target ? strlen(f->target) : 0;
    f->temporary = f->target ? malloc(length + sizeof suffix) : NULL;
    if (f->temporary) {
        memcpy(f->temporary, f->target, length);
        memcpy(f->temporary + length, suffix, sizeof suffix);
        err = create(f, mode);
    }
    if (err)
        release(f);
    return err;
}

int cachesim_file_check(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
    struct stat s;
    int err = folder ? 0 : -ENOMEM;

    if (!err && !is_stdout(path)) {
        if (!stat(path, &s))
            err = S_ISDIR(s.st_mode) ? -EISDIR : access(path, W_OK) ? -errno : 0;
        else if (access(folder, W_OK | X_OK))
            err = -errno;
        else if (!stat(folder, &s) && !s.st_nlink) /* the folder was removed, and is the working directory */
            err = -ENOENT;
    }
    free(folder);
    return err;
}

int cachesim_file_open(struct cachesim_file *f, const char *path)
{
    struct stat s;
    bool exists = !is_stdout(path) && !stat(path, &s);

    assert(f && path);
    *f = (struct cachesim_file){ 0 };
    if (!is_stdout(path) && (!exists || S_ISREG(s.st_mode))) {
        if (exists && access(path, W_OK))
            return -errno;
        return open_beside(f, path, exists ? s.st_mode & 07777 : usual_mode());
    }
    f->out = is_stdout(path) ? stdout : fopen(path, "wb");
    return f->out ? 0 : -errno;
}

/* Closes the stream. Returns 0 or -errno. */
static int end(struct cachesim_file *f)
{
    errno = 0;
    if (f->out == stdout ? fflush(stdout) || ferror(stdout) : fclose(f->out))
        return errno ? -errno : -EIO;
    return 0;
}

int cachesim_file_commit(struct cachesim_file *f)
{
    int err = end(f);

    assert(f->out);
    if (!err && f->temporary && rename(f->temporary, f->target))
        err = -errno;
    if (err && f->temporary)
        unlink(f->temporary);
    release(f);
    return err;
}

void cachesim_file_discard(struct cachesim_file *f)
{
    end(f);
    if (f->temporary)
        unlink(f->temporary);
    release(f);
}
