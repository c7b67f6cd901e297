#include "experiments/base/exp_folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "experiments/base/exp_error.h"

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
