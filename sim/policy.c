#include <string.h>

#include "sim/policy.h"

static const struct sim_policy *const policies[] = {
    &sim_policy_lru,
};

const struct sim_policy *sim_policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        if (!strcmp(policies[i]->name, name))
            return policies[i];
    }
    return NULL;
}
