#include "experiments/exp_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/exp_error.h"
#include "experiments/exp_names.h"

#define MACHINES_DIR "sim/machines"
#define SUFFIX ".cfg"

int exp_machine_find(struct sim_machine *m, const char *which, char *why, size_t why_bytes)
{
    bool is_path = strchr(which, '/') || exp_name_ends_in(which, SUFFIX);
    char *path;
    int err;

    if (!strcmp(which, "host"))
        return sim_machine_host(m, why, why_bytes);
    path = is_path ? exp_format("%s", which) : exp_format("%s/%s%s", MACHINES_DIR, which, SUFFIX);
    if (!path)
        return exp_fail(why, why_bytes, -ENOMEM, "out of memory");
    err = sim_machine_read(m, path, why, why_bytes);
    if (err == -ENOENT && !is_path)
        exp_names_unknown(&(struct exp_names){ "machine", MACHINES_DIR, SUFFIX, " host" }, which, why, why_bytes);
    free(path);
    return err;
}
