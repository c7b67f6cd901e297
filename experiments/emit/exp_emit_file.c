#include "experiments/emit/exp_emit_file.h"

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

static int fill(const char *partial, int (*print)(void *ctx, FILE *out), void *ctx, int *failed)
{
    FILE *out = fopen(partial, "w");
    int err = 0;

    if (!out)
        return -errno;
    *failed = print(ctx, out);
    if (!*failed && fflush(out))
        err = -errno;
    if (fclose(out) && !err)
        err = -errno;
    return err;
}

static int write_partial(char *partial, const char *path, int (*print)(void *ctx, FILE *out), void *ctx, char *why,
                         size_t why_bytes)
{
    struct exp_guard guard = { .undo = remove_file, .ctx = partial };
    struct renaming renaming = { partial, path };
    int failed = 0, err = exp_guard_begin(&guard, create, partial);

    if (err)
        return exp_fail(why, why_bytes, err, "cannot write '%s': %s", path, strerror(-err));
    err = fill(partial, print, ctx, &failed);
    if (!err && !failed)
        err = exp_guard_end(&guard, put_in_place, &renaming);
    if (!err && !failed)
        return 0;
    exp_guard_end(&guard, NULL, NULL);
    unlink(partial);
    return failed ? failed : exp_fail(why, why_bytes, err, "cannot write '%s': %s", path, strerror(-err));
}

/* Tells whether there is something at a path that no file can take the place of: a device, a pipe. */
static bool is_no_file(const char *path)
{
    struct stat s;

    return !stat(path, &s) && !S_ISREG(s.st_mode);
}

static int write_through(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, char *why, size_t why_bytes)
{
    int failed = 0, err = fill(path, print, ctx, &failed);

    return err ? exp_fail(why, why_bytes, err, "cannot write '%s': %s", path, strerror(-err)) : failed;
}

int exp_emit_write(const char *path, int (*print)(void *ctx, FILE *out), void *ctx, char *why, size_t why_bytes)
{
    char *partial;
    int err;

    if (!*path)
        return print(ctx, stdout);
    if (is_no_file(path))
        return write_through(path, print, ctx, why, why_bytes);
    partial = exp_format("%s.partial.%ld", path, (long)getpid());
    if (!partial)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    err = write_partial(partial, path, print, ctx, why, why_bytes);
    free(partial);
    return err;
}
