#include "experiments/setup/exp_machines.h"

#include "sim/machine/machine_folder.h"

int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, char *why, size_t why_bytes)
{
    return sim_machines_each(folder, visit, ctx, why, why_bytes);
}
