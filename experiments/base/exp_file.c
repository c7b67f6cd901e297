#include "experiments/base/exp_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_guard.h"

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

static int put_in_place(void *arg)
{
    const struct renaming *r = arg;

    return rename(r->from, r->to) ? -errno : 0;
}

/* Brings what was written to the disk, where it is a file: only now a full disk is noticed. */
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

/* Says why there is no file, unless its print has said so. */
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
        err = exp_guard_end(&guard, put_in_place, &renaming);
    if (!err)
        return 0;
    exp_guard_end(&guard, NULL, NULL);
    unlink(partial);
    return fail(path, err, why);
}

/* Tells whether there is something at a path that no file can take the place of: a device, a pipe. */
static bool is_no_file(const char *path)
{
    struct stat s;

    return !stat(path, &s) && !S_ISREG(s.st_mode);
}

int exp_file_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, struct exp_why *why)
{
    char *partial;
    int err;

    *why->text = '\0';
    if (!*path)
        return print(ctx, stdout);
    if (is_no_file(path)) {
        err = fill(path, print, ctx);
        return err ? fail(path, err, why) : 0;
    }
    partial = exp_format("%s.partial.%ld", path, (long)getpid());
    if (!partial)
        return exp_fail(why, -ENOMEM, "out of memory");
    err = write_partial(partial, path, print, ctx, why);
    free(partial);
    return err;
}
