#include "experiments/exp_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/exp_error.h"

#define MACHINES_DIR "sim/machines"

int exp_machine_find(struct sim_machine *m, const char *which, char *why, size_t why_bytes)
{
    size_t length = strlen(which);
    bool is_path = strchr(which, '/') || (length > 4 && !strcmp(which + length - 4, ".cfg"));
    char *path;
    int err;

    if (!strcmp(which, "host"))
        return sim_machine_host(m, why, why_bytes);
    path = is_path ? exp_format("%s", which) : exp_format("%s/%s.cfg", MACHINES_DIR, which);
    if (!path)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    err = sim_machine_read(m, path, why, why_bytes);
    if (err == -ENOENT && !is_path)
        exp_fail(why, why_bytes, err,
                 "MACHINE: unknown machine '%s'; known: host, those in %s (clx4208, power10, toy), or a path", which,
                 MACHINES_DIR);
    free(path);
    return err;
}
