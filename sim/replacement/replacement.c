#include "sim/replacement/replacement.h"

#include <assert.h>
#include <string.h>

struct named {
    const char *name;
    const struct sim_replacement *policy;
};

#define NAMED(symbol, name) { name, &sim_replacement_##symbol },

static const struct named policies[] = { SIM_REPLACEMENTS(NAMED) };

const struct sim_replacement *sim_replacement_find(const char *name)
{
    struct sim_replacement_level unused;

    assert(name);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        if (!strcmp(policies[i].name, name))
            return policies[i].policy;
    }
    return sim_replacement_parse_qlru(name, &unused) ? &sim_replacement_qlru : NULL;
}

void sim_replacement_level_init(struct sim_replacement_level *l, const char *name, uint32_t n_ways, uint64_t n_sets,
                                uint64_t seed)
{
    assert(sim_replacement_find(name));
    *l = (struct sim_replacement_level){ .n_ways = n_ways, .n_sets = n_sets, .random = seed, .selector = 511 };
    sim_replacement_parse_qlru(name, l);
}
