#include "experiments/base/exp_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "sim/machine/machine_words.h"

bool exp_name_ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return length > end && !strcmp(name + length - end, suffix);
}

int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why)
{
    struct dirent **entry = NULL;
    int n_entries = scandir(n->folder, &entry, NULL, alphasort);

    if (n_entries < 0)
        return exp_fail(why, -ENOENT, "unknown %s '%s': cannot list '%s': %s", n->what, name, n->folder,
                        strerror(errno));
    exp_say(why->text, sizeof why->text, "unknown %s '%.60s'; known:%s", n->what, name, n->also);
    for (int i = 0; i < n_entries; i++) {
        const char *file = entry[i]->d_name;

        if (*file != '.' && exp_name_ends_in(file, n->suffix))
            exp_say_more(why->text, sizeof why->text, " %.*s", (int)(strlen(file) - strlen(n->suffix)), file);
        free(entry[i]);
    }
    free(entry);
    exp_say_more(why->text, sizeof why->text, " (or %s)", n->else_taken);
    return -ENOENT;
}

const char *exp_names_nearest(const char *word, const char *const *known, size_t n)
{
    return sim_nearest_word(word, known, n);
}

static bool lists(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0')) {
        if (strcspn(at, ",") == length && !strncmp(at, name, length))
            return true;
    }
    return false;
}

bool exp_names_add(char **list, const char *name)
{
    char *longer;

    if (lists(*list, name))
        return true;
    longer = exp_format("%s%s%s", *list, **list ? "," : "", name);
    free(*list);
    *list = longer;
    return longer != NULL;
}
