#include "experiments/base/exp_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"

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

/* ---- whole texts ---- */

enum { MAX_FILE_BYTES = 64 << 20 };

static int read_all(char **text, size_t *bytes, FILE *in, const char *path, struct exp_why *why)
{
    for (size_t max = 1 << 16;; max *= 2) {
        char *larger = realloc(*text, max + 1);

        if (!larger)
            return exp_fail(why, -ENOMEM, "%s: out of memory", path);
        *text = larger;
        errno = 0;
        *bytes += fread(*text + *bytes, 1, max - *bytes, in);
        if (ferror(in)) {
            int err = errno ? -errno : -EIO;

            return exp_fail(why, err, "cannot read '%s': %s", path, strerror(-err));
        }
        if (*bytes < max)
            break;
        if (max >= MAX_FILE_BYTES)
            return exp_fail(why, -EFBIG, "%s: larger than %d MiB", path, MAX_FILE_BYTES >> 20);
    }
    (*text)[*bytes] = '\0';
    return 0;
}

int exp_text_read(char **text, size_t *bytes, const char *path, struct exp_why *why)
{
    FILE *in = fopen(path, "rb");
    int err;

    *text = NULL;
    *bytes = 0;
    if (!in) {
        err = -errno;
        return exp_fail(why, err, "cannot open '%s': %s", path, strerror(-err));
    }
    err = read_all(text, bytes, in, path, why);
    fclose(in);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

char *exp_text_of(const char *folder, const char *file)
{
    char *path = exp_format("%s/%s", folder, file), *text = NULL;
    size_t bytes;
    int err = path ? exp_text_read(&text, &bytes, path, NULL) : -ENOMEM;

    free(path);
    return err && err != -ENOMEM ? strdup("") : text;
}

const char *exp_text_after(const char *text, const char *key)
{
    const size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length))
            return line + length;
    }
    return NULL;
}

/* ---- hashes ---- */

/* FNV-1a, 64 bits: tells apart, and protects against nobody. */
uint64_t exp_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    hash = hash ? hash : 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

int exp_hash_file(uint64_t *hash, const char *path)
{
    char block[1 << 16];
    FILE *in = fopen(path, "rb");
    size_t n;
    int err;

    if (!in)
        return -errno;
    *hash = exp_hash_bytes(*hash, "", 0);
    while ((n = fread(block, 1, sizeof block, in)))
        *hash = exp_hash_bytes(*hash, block, n);
    err = ferror(in) ? -EIO : 0;
    fclose(in);
    return err;
}

/* ---- folders ---- */

struct search {
    struct exp_folders *f;
    bool (*is_wanted)(const char *file);
    struct exp_why *why;
};

static int out_of_memory(const struct search *s)
{
    return exp_fail(s->why, -ENOMEM, "out of memory");
}

static int add(const struct search *s, const char *path)
{
    struct exp_folders *f = s->f;

    if (f->n && !strcmp(f->path[f->n - 1], path))
        return 0;
    if (f->n == f->room) {
        size_t room = f->room ? 2 * f->room : 16;
        char **more = realloc(f->path, room * sizeof *more);

        if (!more)
            return out_of_memory(s);
        f->path = more;
        f->room = room;
    }
    f->path[f->n] = strdup(path);
    return f->path[f->n] ? (f->n++, 0) : out_of_memory(s);
}

/* Hidden folders are results that are not complete yet. Links are not followed: they could lead round in circles. */
static bool is_folder(const char *path)
{
    struct stat st;

    return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static int is_visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

/* Files come before folders, so that a folder stands before those below it. */
static int look(const struct search *s, const char *folder, struct dirent **entry, int n);

static int find_below(const struct search *s, const char *folder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_visible, alphasort), err;

    if (n < 0)
        return exp_fail(s->why, -errno, "cannot read the folder '%s': %s", folder, strerror(errno));
    err = look(s, folder, entry, n);
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    return err;
}

static int look_at(const struct search *s, const char *folder, const char *name)
{
    char *path = exp_format("%s/%s", folder, name);
    int err = !path ? out_of_memory(s) : is_folder(path) ? find_below(s, path) : 0;

    free(path);
    return err;
}

static int look(const struct search *s, const char *folder, struct dirent **entry, int n)
{
    int err = 0;

    for (int i = 0; i < n && !err; i++)
        err = s->is_wanted(entry[i]->d_name) ? add(s, folder) : 0;
    for (int i = 0; i < n && !err; i++)
        err = look_at(s, folder, entry[i]->d_name);
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
