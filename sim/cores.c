/* A core is an object of the full engine. The cores share a single last level: the core at work holds it. */
#include "sim/cores.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"

struct core {
    struct sim_sink sink; /* first, because accept() casts the sink to its core */
    struct sim_cores *all;
    struct sim_hierarchy *h;
};

struct sim_cores {
    unsigned n;
    struct sim_hierarchy *holder; /* of the last level */
    struct core core[];
};

/* Lets the core have the last level, and hands the burst on. */
static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct core *core = (struct core *)self;
    struct sim_cores *c = core->all;

    if (c->holder != core->h) {
        core->h->engine->swap_last(c->holder, core->h);
        c->holder = core->h;
    }
    sim_emit(&core->h->sink, run, n_runs, n_times);
}

const char *sim_cores_why_not(const struct sim_machine *m)
{
    const struct sim_level *last = &m->level[m->n_levels - 1];

    assert(m && m->n_levels && m->n_levels <= SIM_MAX_LEVELS);
    if (m->n_levels < 2)
        return "there is no level to share";
    if (last->inclusion != SIM_NONINCLUSIVE)
        return last->inclusion == SIM_INCLUSIVE ? "the last level includes the others"
                                                : "the last level excludes the others";
    for (size_t i = 0; i < SIM_MAX_PREFETCHERS; i++) {
        if (last->prefetch[i].kind != SIM_PREFETCH_NONE && last->prefetch[i].late)
            return "the last level has prefetchers whose lines come late";
    }
    return NULL;
}

int sim_cores_new(struct sim_cores **c, const struct sim_machine *m, unsigned n_cores)
{
    struct sim_cores *made;
    int err = 0;

    assert(c && m);
    *c = NULL;
    if (!n_cores || sim_machine_validate(m, NULL, 0))
        return -EINVAL;
    if (sim_cores_why_not(m))
        return -ENOTSUP;
    made = calloc(1, sizeof *made + n_cores * sizeof made->core[0]);
    if (!made)
        return -ENOMEM;
    made->n = n_cores;
    for (unsigned i = 0; i < n_cores && !err; i++) {
        made->core[i] = (struct core){ .sink.accept = accept, .all = made };
        err = sim_engine_new(&made->core[i].h, &sim_engine_full, m);
    }
    made->holder = made->core[0].h;
    if (err)
        sim_cores_free(made);
    else
        *c = made;
    return err;
}

void sim_cores_free(struct sim_cores *c)
{
    for (unsigned i = 0; c && i < c->n; i++)
        sim_hierarchy_free(c->core[i].h);
    free(c);
}

struct sim_sink *sim_cores_sink(struct sim_cores *c, unsigned core)
{
    assert(c && core < c->n);
    return &c->core[core].sink;
}

const struct sim_stats *sim_cores_stats(const struct sim_cores *c, unsigned core)
{
    assert(c && core < c->n);
    return sim_hierarchy_stats(c->core[core].h);
}

int sim_cores_error(const struct sim_cores *c)
{
    int err = 0;

    for (unsigned i = 0; i < c->n && !err; i++)
        err = sim_hierarchy_error(c->core[i].h);
    return err;
}
