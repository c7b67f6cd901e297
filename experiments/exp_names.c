#include "experiments/exp_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/exp_error.h"

bool exp_name_ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return length > end && !strcmp(name + length - end, suffix);
}

static void append(const char *text, int length, char *why, size_t why_bytes)
{
    size_t used = strlen(why);

    exp_fail(why + used, why_bytes - used, 0, " %.*s", length, text);
}

int exp_names_unknown(const struct exp_names *n, const char *name, char *why, size_t why_bytes)
{
    struct dirent **entry = NULL;
    int n_entries = scandir(n->folder, &entry, NULL, alphasort);
    size_t used;

    if (n_entries < 0)
        return exp_fail(why, why_bytes, -ENOENT, "unknown %s '%s': cannot list '%s': %s", n->what, name, n->folder,
                        strerror(errno));
    exp_fail(why, why_bytes, 0, "unknown %s '%.60s'; known:%s", n->what, name, n->also);
    for (int i = 0; i < n_entries; i++) {
        const char *file = entry[i]->d_name;

        if (*file != '.' && exp_name_ends_in(file, n->suffix))
            append(file, (int)(strlen(file) - strlen(n->suffix)), why, why_bytes);
        free(entry[i]);
    }
    free(entry);
    used = strlen(why);
    return exp_fail(why + used, why_bytes - used, -ENOENT, " (or the path of a %s file)", n->suffix);
}
