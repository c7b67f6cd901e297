#include "experiments/setup/exp_machines.h"

#include "sim/machine/machine_folder.h"

int exp_machines_each(const char *folder, int (*visit)(void *ctx, const char *path, const struct sim_machine *m),
                      void *ctx, struct exp_why *why)
{
    return sim_machines_each(folder, visit, ctx, why->text, sizeof why->text);
}
