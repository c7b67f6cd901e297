/* Chooses an engine for a machine. */
#include <errno.h>

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"

/* In order of preference: the first that can run a machine gets it. */
static const struct sim_engine *const engines[] = {
    &sim_engine_plain,
    &sim_engine_full,
};

int sim_hierarchy_new_tags(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags)
{
    *h = NULL;
    if (sim_machine_validate(m, NULL, 0))
        return -EINVAL;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i]->can_run(m))
            return sim_engine_new_tags(h, engines[i], m, n_tags);
    }
    return -EINVAL;
}

int sim_hierarchy_new(struct sim_hierarchy **h, const struct sim_machine *m)
{
    return sim_hierarchy_new_tags(h, m, SIM_USUAL_TAGS);
}

int sim_hierarchy_new_threads(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_threads)
{
    int err;

    *h = NULL;
    err = sim_machine_validate(m, NULL, 0) ? -EINVAL : sim_threads_new(h, m, n_threads);
    return err || *h ? err : sim_hierarchy_new(h, m);
}

static bool is_same_level(const struct sim_level *a, const struct sim_level *b)
{
    return a->n_sets == b->n_sets && a->n_ways == b->n_ways && a->line_bytes == b->line_bytes;
}

size_t sim_machine_shared_levels(const struct sim_machine *leader, const struct sim_machine *follower)
{
    size_t n = 0;

    if (!sim_machine_is_plain(leader) && !sim_machine_is_plain(follower))
        return sim_full_can_share(leader, follower);
    if (!sim_machine_is_plain(leader) || !sim_machine_is_plain(follower))
        return 0;
    while (n < leader->n_levels && n + 1 < follower->n_levels && is_same_level(&leader->level[n], &follower->level[n]))
        n++;
    return n;
}
