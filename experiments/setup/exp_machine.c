#include "experiments/setup/exp_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_emulated.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_names.h"
#include "sim/machine/machine_here.h"
#include "experiments/setup/exp_machines.h"

static bool is_host(const char *which)
{
    return !strcmp(which, "host");
}

static bool is_path(const char *which)
{
    return strchr(which, '/') || exp_name_ends_in(which, EXP_MACHINES_SUFFIX);
}

char *exp_machine_origin(const char *which)
{
    return is_host(which) || is_path(which) ? exp_format("%s", which)
                                            : exp_format("%s/%s%s", EXP_MACHINES_DIR, which, EXP_MACHINES_SUFFIX);
}

static int look_at_host(struct sim_here *h, const char *results, char *why, size_t why_bytes)
{
    int err = sim_here_look(h, why, why_bytes);

    return err ? err : sim_here_find(h, results, EXP_MACHINES_DIR, why, why_bytes);
}

static int find_host(struct sim_machine *m, const char *results, char *why, size_t why_bytes)
{
    struct sim_here h;
    int err = look_at_host(&h, results, why, why_bytes);

    return err ? err : sim_here_machine(&h, m, why, why_bytes);
}

static int find_file(struct sim_machine *m, const char *which, char *why, size_t why_bytes)
{
    char *path = exp_machine_origin(which);
    int err;

    if (!path)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    err = sim_machine_read(m, path, why, why_bytes);
    if (err == -ENOENT && !is_path(which))
        exp_names_unknown(
            &(struct exp_names){ "machine", EXP_MACHINES_DIR, EXP_MACHINES_SUFFIX, " host", "the path of a .cfg file" },
            which, why, why_bytes);
    free(path);
    return err;
}

int exp_machine_find(struct sim_machine *m, const char *which, const char *results, char *why, size_t why_bytes)
{
    return is_host(which) ? find_host(m, results, why, why_bytes) : find_file(m, which, why, why_bytes);
}

void exp_machine_say_source(const char *which, const char *results, char *text, size_t bytes)
{
    char *origin = exp_machine_origin(which);
    struct sim_here h;

    if (!is_host(which))
        exp_say(text, bytes, "all values of %s", origin ? origin : which);
    else if (!look_at_host(&h, results, text, bytes))
        exp_say(text, bytes, "caches from hwloc; %s", h.source);
    free(origin);
}

static int compare_level(const struct sim_machine *m, const struct sim_machine *here, size_t i, char *why,
                         size_t why_bytes)
{
    const struct sim_level *a = &here->level[i], *b = &m->level[i];

    if (a->n_ways == b->n_ways && a->line_bytes == b->line_bytes && sim_level_bytes(a) == sim_level_bytes(b))
        return 0;
    return exp_fail(why, why_bytes, -ENODEV, "this computer's %s is %.0f KiB in %zu ways, %s's is %.0f KiB in %zu",
                    a->name, (double)sim_level_bytes(a) / 1024, (size_t)a->n_ways, m->name,
                    (double)sim_level_bytes(b) / 1024, (size_t)b->n_ways);
}

int exp_machine_why_not_here(const struct sim_machine *m, char *why, size_t why_bytes)
{
    enum { N_COMPARED = 2 };
    struct sim_machine here;
    char reason[200];
    int err = sim_machine_host(&here, reason, sizeof reason);

    if (ctr_is_emulated())
        return exp_fail(why, why_bytes, -ENODEV, "times are an emulator's");
    if (err)
        return exp_fail(why, why_bytes, -ENODEV, "this computer's caches are not known: %s", reason);
    for (size_t i = 0; i < N_COMPARED && !err; i++) {
        if (i < m->n_levels && i < here.n_levels)
            err = compare_level(m, &here, i, why, why_bytes);
    }
    return err;
}
