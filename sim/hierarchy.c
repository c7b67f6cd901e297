/*
 * The facade: chooses an engine and passes every call on to it.
 */
#include <assert.h>
#include <errno.h>

#include "sim/engine.h"
#include "sim/hierarchy.h"

/* In order of preference: the first that can run a machine gets it. */
static const struct sim_engine *const engines[] = {
    &sim_engine_plain,
};

int sim_engine_new(struct sim_hierarchy **h, const struct sim_engine *e, const struct sim_machine *m)
{
    int err;

    *h = NULL;
    if (sim_machine_validate(m, NULL, 0) || !e->can_run(m))
        return -EINVAL;
    err = e->create(h, m);
    if (!err)
        (*h)->engine = e;
    return err;
}

int sim_hierarchy_new(struct sim_hierarchy **h, const struct sim_machine *m)
{
    *h = NULL;
    if (sim_machine_validate(m, NULL, 0))
        return -EINVAL;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i]->can_run(m))
            return sim_engine_new(h, engines[i], m);
    }
    return -EINVAL;
}

void sim_hierarchy_free(struct sim_hierarchy *h)
{
    if (h)
        h->engine->free(h);
}

struct sim_sink *sim_hierarchy_sink(struct sim_hierarchy *h)
{
    return &h->sink;
}

const struct sim_stats *sim_hierarchy_stats(const struct sim_hierarchy *h)
{
    return h->engine->stats(h);
}

void sim_hierarchy_clear_stats(struct sim_hierarchy *h)
{
    h->engine->clear_stats(h);
}

void sim_hierarchy_clear(struct sim_hierarchy *h)
{
    h->engine->clear(h);
}

void sim_hierarchy_flush(struct sim_hierarchy *h, unsigned phase)
{
    assert(phase < SIM_MAX_PHASES);
    h->engine->flush(h, phase);
}
