#define _GNU_SOURCE
#include "experiments/setup/exp_machines.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_names.h"

static int is_machine(const struct dirent *entry)
{
    return *entry->d_name != '.' && exp_name_ends_in(entry->d_name, EXP_MACHINES_SUFFIX);
}

int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, char *why, size_t why_bytes)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_machine, alphasort), err = 0;

    if (n < 0)
        return exp_fail(why, why_bytes, -errno, "cannot open the folder '%s': %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        struct sim_machine m;
        char path[512];

        exp_say(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (!err)
            err = sim_machine_read(&m, path, why, why_bytes);
        if (!err)
            err = visit(ctx, path, &m);
        free(entry[i]);
    }
    free(entry);
    return err;
}
