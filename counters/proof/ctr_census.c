#include "counters/proof/ctr_census.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/perf/ctr_event.h"
#include "counters/perf/ctr_loop.h"

enum { MAX_ATTEMPTS = 3 };

/*
 * The share of a loop's branches by which a count may be off. Interrupts and the calls around the loop add some dozens
 * to a hundred thousand.
 */
static const double tolerance = 0.02;

struct census {
    const struct ctr_source *source;
    const struct ctr_cpu *cpu;
    struct ctr_ground *ground;
    const struct ctr_loop *loop;
    struct ctr_event_code code[CTR_MAX_SET_EVENTS]; /* the fixed events, then the census event on and on */
    struct sim_why why;
};

static int encode(struct census *c)
{
    int err = 0;

    for (size_t i = 0; i < CTR_MAX_SET_EVENTS && *c->cpu->census && !err; i++)
        err = ctr_event_encode(i < c->cpu->n_fixed ? c->cpu->fixed[i] : c->cpu->census, &c->code[i], c->why);
    return err;
}

/* Counts the loop once with n counters; *ran: the events were on the counters all the time. */
static int count(struct census *c, unsigned n, struct ctr_counts *counts, bool *ran)
{
    size_t refused, n_events = c->cpu->n_fixed + n;
    void *set = NULL;
    int err;

    if (n_events > CTR_MAX_SET_EVENTS)
        n_events = CTR_MAX_SET_EVENTS;
    err = c->source->open(c->source->context, c->code, n_events, &set, &refused);
    if (err)
        return err;
    c->loop->prepare(c->ground);
    err = c->source->start(set);
    if (!err)
        c->source->run(c->source->context, c->loop, c->ground);
    err = err ? err : c->source->stop(set);
    err = err ? err : c->source->read(set, counts);
    c->source->close(set);
    *ran = !err && counts->time_running_ns && counts->time_running_ns == counts->time_enabled_ns;
    return err;
}

/* Finds the most counters available together. The NMI watchdog or another program may hold some. */
static int find_most(struct census *c, struct ctr_census *out, struct ctr_counts *counts)
{
    bool ran = false;
    int err = 0;

    for (unsigned n = c->cpu->n_counters; n && !ran; n--) {
        err = -EINVAL;
        for (int i = 0; i < MAX_ATTEMPTS && !ran; i++) {
            err = count(c, n, counts, &ran);
            if (err)
                break;
        }
        if (err && err != -EINVAL)
            return ctr_perf_explain(err, c->cpu->census, c->why);
        out->n_counters = n;
    }
    if (ran)
        return 0;
    if (err)
        return ctr_perf_explain(err, c->cpu->census, c->why);
    return sim_fail(c->why, -ENODATA,
                    "no event gets on a counter: other programs hold all of them (stop `perf` and other profilers, set "
                    "kernel.nmi_watchdog = 0), or this thread is on a core of another kind (use `taskset`)");
}

static void judge(struct census *c, struct ctr_census *out, const struct ctr_counts *counts)
{
    assert(c->ground->n_turns && out->n_counters <= c->cpu->n_counters);
    out->made = (double)c->ground->n_turns;
    for (unsigned i = 0; i < out->n_counters && c->cpu->n_fixed + i < CTR_MAX_SET_EVENTS; i++) {
        out->counted[i] = (double)counts->value[c->cpu->n_fixed + i];
        out->is_bad[i] = fabs(out->counted[i] - out->made) > tolerance * out->made;
        out->n_good += !out->is_bad[i];
    }
}

static void describe(struct ctr_census *out, unsigned n_counters)
{
    const struct sim_why note = SIM_WHY(out->note);

    for (unsigned i = 0; i < out->n_counters; i++) {
        if (out->is_bad[i])
            sim_why_add(note, "%scounter %u counted %.0f where %.0f were made and is left out", *out->note ? "; " : "",
                        i + 1, out->counted[i], out->made);
    }
    if (out->n_counters != n_counters)
        sim_why_add(note,
                    "%s%u of %u counters can be had: another program, the NMI watchdog (kernel.nmi_watchdog = 1) or "
                    "hyper-threading has the others",
                    *out->note ? "; " : "", out->n_counters, n_counters);
}

int ctr_census_take(struct ctr_census *n, const struct ctr_source *source, const struct ctr_cpu *cpu,
                    struct ctr_ground *ground, struct sim_why why)
{
    struct census c = { .source = source, .cpu = cpu, .ground = ground, .loop = ctr_loop_named("loads"), .why = why };
    struct ctr_counts counts;
    int err = c.loop ? encode(&c) : sim_fail(why, -ENODATA, "no known work for this kind of CPU");

    assert(source && cpu->n_counters <= CTR_MAX_SET_EVENTS && cpu->n_fixed <= CTR_MAX_FIXED);
    *n = (struct ctr_census){ .n_counters = cpu->n_counters, .n_good = cpu->n_counters };
    if (!*cpu->census)
        return sim_fail(SIM_WHY(n->note), 0, "taken on trust: no event goes on every counter of this CPU");
    *n = (struct ctr_census){ 0 };
    err = err ? err : find_most(&c, n, &counts);
    if (err) {
        *n = (struct ctr_census){ 0 };
        return err;
    }
    judge(&c, n, &counts);
    describe(n, cpu->n_counters);
    if (n->n_good)
        return 0;
    sim_fail(why, -ENODATA,
             "no counter counts: '%s' counted %.0f where %.0f were made; the hypervisor filters it or has no counter "
             "behind it",
             cpu->census, n->counted[0], n->made);
    *n = (struct ctr_census){ 0 };
    return -ENODATA;
}
