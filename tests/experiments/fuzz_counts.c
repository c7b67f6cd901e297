/* The fuzz targets of recorded counts and times: a folder that is read has a count of each row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/show/counts.h"
#include "tests/fuzz_files.h"
#include "tests/fuzz_targets.h"

/* Each row is found by its key, and no two rows have a key. */
static bool counts_hold(const struct exp_counts *c)
{
    for (size_t i = 0; i < c->counts.n; i++) {
        const struct exp_counts_key *key = &c->count[i].key;
        const struct value v = exp_counts_find(c, key);
        char *models = exp_counts_models(c, key->cache);
        const bool has = exp_counts_has(c, key->model, key->cache) && *models;

        free(models);
        if (!has || (value_is_known(v) && !(v.number >= 0)))
            return fuzz_complain("a count is not found", key->model);
    }
    return true;
}

static bool fuzz_folder_of_counts(const char *const *name, size_t n, const uint8_t *data, size_t size)
{
    const char *folder = fuzz_folder(name, n, data, size);
    struct exp_counts c;
    struct exp_why why = { "" };
    bool holds;

    if (exp_counts_read(&c, folder, &why))
        return (strstr(why.text, folder) && !strchr(why.text, '\n')) || fuzz_complain("not a message", why.text);
    holds = counts_hold(&c);
    exp_counts_release(&c);
    return holds;
}

bool fuzz_counts(const uint8_t *data, size_t size)
{
    static const char *const names[] = { EXP_COUNTS_HOST, "plans.csv", "counts.csv" };

    return fuzz_folder_of_counts(names, sizeof names / sizeof names[0], data, size);
}

bool fuzz_times(const uint8_t *data, size_t size)
{
    static const char *const names[] = { EXP_COUNTS_HOST, "times.csv" };

    return fuzz_folder_of_counts(names, sizeof names / sizeof names[0], data, size);
}
