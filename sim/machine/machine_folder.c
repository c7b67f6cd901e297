#define _GNU_SOURCE /* scandir, alphasort */

#include "sim/machine/machine_folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine_words.h"

static const char host[] = "host";

/* Returns the length of a machine file's name without its suffix; 0: the file is no machine file. */
static size_t stem(const char *file)
{
    const size_t length = strlen(file), suffix = strlen(SIM_MACHINE_SUFFIX);

    return *file != '.' && length > suffix && !strcmp(file + length - suffix, SIM_MACHINE_SUFFIX) ? length - suffix : 0;
}

static int is_machine(const struct dirent *entry)
{
    return stem(entry->d_name) != 0;
}

/* Lists the folder's machine files in their order. Returns how many, or -errno. */
static int list(const char *folder, struct dirent ***entry)
{
    const int n = scandir(folder, entry, is_machine, alphasort);

    return n < 0 ? -errno : n;
}

static void release(struct dirent **entry, int n)
{
    for (int i = 0; i < n; i++)
        free(entry[i]);
    if (n >= 0)
        free(entry);
}

int sim_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct sim_why why)
{
    struct dirent **entry;
    const int n = list(folder, &entry);
    int err = n < 0 ? n : 0;

    assert(folder && visit);
    if (err)
        sim_fail(why, err, "cannot open the folder '%s': %s", folder, strerror(-err));
    for (int i = 0; i < n && !err; i++) {
        struct sim_machine m;
        char path[512];

        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        err = sim_machine_read(&m, path, why.text, why.bytes);
        if (!err)
            err = visit(ctx, path, &m);
    }
    release(entry, n);
    return err;
}

/* Returns the names of machines, "host" first; names in entry lose their suffix. NULL: out of memory. */
static const char **names_of(struct dirent **entry, int n)
{
    const char **name = calloc(1 + (size_t)n, sizeof *name);

    if (!name)
        return NULL;
    name[0] = host;
    for (int i = 0; i < n; i++) {
        entry[i]->d_name[stem(entry[i]->d_name)] = '\0';
        name[1 + i] = entry[i]->d_name;
    }
    return name;
}

void sim_machine_say_known(const char *folder, char *text, size_t bytes)
{
    struct dirent **entry = NULL;
    const int found = list(folder, &entry), n = found < 0 ? 0 : found;
    const char **known = names_of(entry, n);
    size_t used = strlen(text);

    for (int i = 1; known && i <= n && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i > 1 ? " " : "known: ", known[i]);
    free(known);
    release(entry, found);
}

void sim_machine_say_unknown(const char *folder, const char *name, struct sim_why why)
{
    struct dirent **entry = NULL;
    const int found = list(folder, &entry), n = found < 0 ? 0 : found;
    const char **known = names_of(entry, n);
    const char *nearest = known ? sim_nearest_word(name, known, (size_t)n + 1) : NULL;

    sim_fail(why, -EINVAL, "unknown machine '%.60s'%s%s%s known:", name, nearest ? ", did you mean " : ";",
             nearest ? nearest : "", nearest ? "?" : "");
    for (int i = 0; known && i <= n; i++)
        sim_why_add(why, " %s", known[i]);
    sim_why_add(why, " (or the path of a %s file)", SIM_MACHINE_SUFFIX);
    free(known);
    release(entry, found);
}
