#include "counters/proof/ctr_census.h"

#include <assert.h>
#include <errno.h>

#include "counters/perf/ctr_event.h"

struct fitted_set {
    size_t n;            /* events and fillers */
    unsigned n_counters; /* programmable events of the set */
    struct ctr_event_code code[CTR_MAX_SET_EVENTS];
};

struct fit {
    struct ctr_group *g;
    const struct ctr_source *source;
    const struct ctr_census *census;
    struct ctr_event_code filler;
    size_t n_fixed;
    struct ctr_event_code fixed[CTR_MAX_FIXED];
    struct fitted_set set[CTR_MAX_SETS];
};

/* Appends an event behind fillers for the dead counters. -EINVAL: no room. */
static int append(const struct fit *f, struct fitted_set *s, const struct ctr_event_code *code, bool fixed)
{
    assert(s->n <= CTR_MAX_SET_EVENTS && s->n_counters <= f->census->n_counters);
    while (!fixed && s->n_counters < f->census->n_counters && f->census->is_bad[s->n_counters]) {
        if (s->n == CTR_MAX_SET_EVENTS)
            return -EINVAL;
        s->code[s->n++] = f->filler;
        s->n_counters++;
    }
    if (s->n == CTR_MAX_SET_EVENTS || (!fixed && s->n_counters == f->census->n_counters))
        return -EINVAL;
    s->code[s->n++] = *code;
    s->n_counters += !fixed;
    return 0;
}

/*
 * Tries to open a set. The kernel refuses a set that can never be scheduled, for example two events for the same
 * counter.
 */
static int try_open(const struct fit *f, const struct fitted_set *s)
{
    size_t refused;
    void *set;
    int err = f->source->open(f->source->context, s->code, s->n, &set, &refused);

    if (!err)
        f->source->close(set);
    return err;
}

static bool is_fixed(const struct fit *f, const struct ctr_event_code *code)
{
    for (size_t i = 0; i < f->n_fixed; i++)
        if (f->fixed[i].type == code->type && f->fixed[i].config == code->config)
            return true;
    return false;
}

/* Puts an event into the first set with room. */
static int place(struct fit *f, struct ctr_event *e, const struct ctr_event_code *code)
{
    int err = -EINVAL;

    for (size_t s = 0; s <= f->g->n_sets && s < CTR_MAX_SETS; s++) {
        struct fitted_set grown = f->set[s];

        err = append(f, &grown, code, is_fixed(f, code));
        err = err ? err : try_open(f, &grown);
        if (err == -EINVAL)
            continue;
        if (err)
            return err;
        f->set[s] = grown;
        e->set = s;
        e->position = grown.n - 1;
        if (s == f->g->n_sets)
            f->g->n_sets++;
        return 0;
    }
    return err;
}

static int prepare(struct fit *f, const struct ctr_cpu *cpu, struct sim_why why)
{
    int err = *cpu->census ? ctr_event_encode(cpu->census, &f->filler, why) : 0;

    for (; !err && f->n_fixed < cpu->n_fixed; f->n_fixed++)
        err = ctr_event_encode(cpu->fixed[f->n_fixed], &f->fixed[f->n_fixed], why);
    sim_fail(SIM_WHY(f->g->filler), 0, "%s", cpu->census);
    f->g->n_sets = 0;
    return err;
}

int ctr_fit(struct ctr_group *g, const struct ctr_source *source, const struct ctr_cpu *cpu,
            const struct ctr_census *census, struct sim_why why)
{
    struct fit f = { .g = g, .source = source, .census = census };
    char reason[256];
    int err;

    assert(census->n_counters <= CTR_MAX_SET_EVENTS && g->n_events <= CTR_MAX_EVENTS);
    err = prepare(&f, cpu, why);
    for (size_t i = 0; i < g->n_events && !err; i++) {
        struct ctr_event *e = &g->event[i];
        struct ctr_event_code code;

        err = ctr_event_encode(e->name, &code, SIM_WHY(reason));
        if (err)
            return sim_fail(why, err, "%s:%u: %s", g->path, e->line, reason);
        err = place(&f, e, &code);
        if (err)
            ctr_perf_explain(err, e->name, why);
    }
    return err;
}
