#include "counters/group/ctr_session.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counters/perf/ctr_event.h"
#include "counters/group/ctr_expr.h"

struct ctr_session {
    const struct ctr_source *source;
    const struct ctr_group *group;
    const struct ctr_trust *trust;
    void *set[CTR_MAX_SETS];
    bool is_measured[CTR_MAX_SETS];
};

/* Returns the event at a position of a set; NULL: the group leaves the counter out. */
static const struct ctr_event *event_at(const struct ctr_group *g, size_t set, size_t position)
{
    for (size_t i = 0; i < g->n_events; i++)
        if (g->event[i].set == set && g->event[i].position == position)
            return &g->event[i];
    return NULL;
}

static size_t set_size(const struct ctr_group *g, size_t set)
{
    size_t size = 0;

    for (size_t i = 0; i < g->n_events; i++)
        if (g->event[i].set == set && g->event[i].position >= size)
            size = g->event[i].position + 1;
    return size;
}

static int encode(const struct ctr_group *g, const struct ctr_event *e, struct ctr_event_code *code, struct sim_why why)
{
    char reason[256];
    int err = ctr_event_encode(e ? e->name : g->filler, code, SIM_WHY(reason));

    return err ? sim_fail(why, err, "%s:%u: %s", g->path, e ? e->line : 0, reason) : 0;
}

static int open_set(struct ctr_session *s, size_t set, struct sim_why why)
{
    struct ctr_event_code code[CTR_MAX_SET_EVENTS];
    const struct ctr_event *e;
    size_t n = set_size(s->group, set), refused = 0;
    int err = 0;

    assert(n && n <= CTR_MAX_SET_EVENTS);
    for (size_t i = 0; i < n && !err; i++)
        err = encode(s->group, event_at(s->group, set, i), &code[i], why);
    if (err)
        return err;
    err = s->source->open(s->source->context, code, n, &s->set[set], &refused);
    if (!err)
        return 0;
    e = event_at(s->group, set, refused);
    return ctr_perf_explain(err, e ? e->name : s->group->filler, why);
}

int ctr_session_open_on(struct ctr_session **s, const struct ctr_source *source, const struct ctr_group *g,
                        struct sim_why why)
{
    int err = 0;

    assert(source && g->n_sets && g->n_sets <= CTR_MAX_SETS && g->n_events <= CTR_MAX_EVENTS);
    *s = calloc(1, sizeof **s);
    if (!*s)
        return sim_fail(why, -ENOMEM, "out of memory");
    **s = (struct ctr_session){ .source = source, .group = g };
    for (size_t i = 0; !err && i < g->n_sets; i++)
        err = open_set(*s, i, why);
    if (err) {
        ctr_session_close(*s);
        *s = NULL;
    }
    return err;
}

int ctr_session_open(struct ctr_session **s, const struct ctr_group *g, struct sim_why why)
{
    return ctr_session_open_on(s, &ctr_source_perf, g, why);
}

void ctr_session_set_trust(struct ctr_session *s, const struct ctr_trust *trust)
{
    s->trust = trust;
}

void ctr_session_close(struct ctr_session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->group->n_sets; i++)
        s->source->close(s->set[i]);
    free(s);
}

int ctr_session_start_set(struct ctr_session *s, size_t set)
{
    if (set >= s->group->n_sets)
        return -EINVAL;
    s->is_measured[set] = true;
    return s->source->start(s->set[set]);
}

/* Stops every set even after an error: no set may go on counting. Stopping a stopped set is harmless. */
int ctr_session_stop(struct ctr_session *s)
{
    int err = 0;

    for (size_t i = 0; i < s->group->n_sets; i++) {
        int e = s->is_measured[i] ? s->source->stop(s->set[i]) : 0;

        err = err ? err : e;
    }
    return err;
}

void ctr_session_run(struct ctr_session *s, const struct ctr_loop *loop, struct ctr_ground *ground)
{
    assert(loop && ground);
    s->source->run(s->source->context, loop, ground);
}

const struct ctr_group *ctr_session_group(const struct ctr_session *s)
{
    return s->group;
}

void ctr_session_forget(struct ctr_session *s)
{
    for (size_t i = 0; i < s->group->n_sets; i++)
        s->is_measured[i] = false;
}

/* Says why a count is not believed by itself. */
enum doubt { NO_DOUBT, NEVER_RAN, RAN_TOO_LITTLE, ZERO_ESTIMATE, IMPOSSIBLE };

enum { MIN_RUN_PERCENT = 10 }; /* a shorter run is too little for an estimate */

/* The most events of a CPU: some ten instructions in a third of a nanosecond, and the events of a system call. */
static const double most_per_ns = 100, most_at_once = 1e6;

static enum doubt doubt(uint64_t count, uint64_t time_enabled_ns, uint64_t time_running_ns)
{
    if (!time_running_ns || time_running_ns > time_enabled_ns)
        return NEVER_RAN;
    if ((double)count > most_at_once + most_per_ns * (double)time_running_ns)
        return IMPOSSIBLE;
    if (time_running_ns == time_enabled_ns)
        return NO_DOUBT;
    if ((double)time_running_ns * 100 < (double)time_enabled_ns * MIN_RUN_PERCENT)
        return RAN_TOO_LITTLE;
    return count ? NO_DOUBT : ZERO_ESTIMATE;
}

int ctr_scale(uint64_t count, uint64_t time_enabled_ns, uint64_t time_running_ns, double *value)
{
    if (doubt(count, time_enabled_ns, time_running_ns) != NO_DOUBT)
        return -ENODATA;
    *value = (double)count;
    if (time_running_ns < time_enabled_ns)
        *value *= (double)time_enabled_ns / (double)time_running_ns;
    return 0;
}

static void note_scale(struct ctr_reading *r, const struct ctr_set_reading *t)
{
    double scale;

    if (t->time_running_ns < t->time_enabled_ns)
        r->is_scaled = true;
    if (!ctr_scale(1, t->time_enabled_ns, t->time_running_ns, &scale) && scale > r->max_scale)
        r->max_scale = scale;
}

void ctr_reading_init(struct ctr_reading *r, const struct ctr_group *g)
{
    assert(r && g);
    *r = (struct ctr_reading){ .group = g, .max_scale = 1 };
}

void ctr_reading_put(struct ctr_reading *r, size_t set, const struct ctr_counts *c)
{
    assert(set < r->group->n_sets);
    r->set[set] = (struct ctr_set_reading){ true, c->time_enabled_ns, c->time_running_ns };
    note_scale(r, &r->set[set]);
    for (size_t i = 0; i < r->group->n_events; i++) {
        const struct ctr_event *e = &r->group->event[i];
        struct ctr_event_reading *out = &r->event[i];

        if (e->set != set)
            continue;
        assert(e->position < CTR_MAX_SET_EVENTS);
        out->raw = c->value[e->position];
        out->has_value = !ctr_scale(out->raw, c->time_enabled_ns, c->time_running_ns, &out->value);
    }
}

int ctr_session_read(struct ctr_session *s, struct ctr_reading *out)
{
    ctr_reading_init(out, s->group);
    out->trust = s->trust;
    for (size_t i = 0; i < s->group->n_sets; i++) {
        struct ctr_counts counts;
        int err = s->is_measured[i] ? s->source->read(s->set[i], &counts) : 0;

        if (err)
            return err;
        if (s->is_measured[i])
            ctr_reading_put(out, i, &counts);
    }
    return 0;
}

static int measure_empty(const struct ctr_source *source, void *set, struct ctr_counts *counts)
{
    int err = source->start(set);

    if (!err)
        err = source->stop(set);
    return err ? err : source->read(set, counts);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the lower median of a column of the samples; column[n] is scratch space. */
static uint64_t median(const struct ctr_counts *sample, size_t n, size_t event, uint64_t *column)
{
    assert(n && event < CTR_MAX_SET_EVENTS);
    for (size_t i = 0; i < n; i++)
        column[i] = sample[i].value[event];
    qsort(column, n, sizeof *column, by_value);
    return column[(n - 1) / 2];
}

static int set_overhead(const struct ctr_session *s, size_t set, size_t n, struct ctr_counts *out)
{
    struct ctr_counts *sample = calloc(n, sizeof *sample);
    uint64_t *column = calloc(n, sizeof *column);
    size_t n_ran = 0;
    int err = sample && column ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < n; i++) {
        err = measure_empty(s->source, s->set[set], &sample[n_ran]);
        n_ran += !err && sample[n_ran].time_running_ns == sample[n_ran].time_enabled_ns;
    }
    *out = (struct ctr_counts){ .time_enabled_ns = 1, .time_running_ns = n_ran > 0 };
    for (size_t e = 0; !err && n_ran && e < set_size(s->group, set); e++)
        out->value[e] = median(sample, n_ran, e, column);
    free(column);
    free(sample);
    return err;
}

int ctr_session_overhead(struct ctr_session *s, unsigned n_repeats, struct ctr_reading *out)
{
    ctr_reading_init(out, s->group);
    if (!n_repeats)
        return -EINVAL;
    for (size_t i = 0; i < s->group->n_sets; i++) {
        struct ctr_counts counts;
        int err = set_overhead(s, i, n_repeats, &counts);

        s->is_measured[i] = false;
        if (err)
            return err;
        ctr_reading_put(out, i, &counts);
    }
    return 0;
}

int ctr_reading_subtract(struct ctr_reading *r, const struct ctr_reading *overhead)
{
    if (r->group != overhead->group)
        return -EINVAL;
    for (size_t i = 0; i < r->group->n_events; i++) {
        struct ctr_event_reading *e = &r->event[i];

        assert(!e->has_value || e->value >= 0);
        if (e->has_value && overhead->event[i].has_value)
            e->value = e->value > overhead->event[i].value ? e->value - overhead->event[i].value : 0;
    }
    return 0;
}

/* The context of a formula's evaluation. */
struct lookup {
    const struct ctr_reading *reading;
    size_t missing; /* index of the last event without a value, or n_events */
};

/* Tells whether a value is believed. An unproven zero may come from a filter of the hypervisor. */
static bool is_believed(const struct ctr_reading *r, size_t event)
{
    const struct ctr_trust *t = r->trust;

    if (!r->event[event].has_value)
        return false;
    return !t || t->event[event] == CTR_PROVEN || (t->event[event] == CTR_UNPROVEN && r->event[event].raw);
}

static int value_of_label(void *context, const char *name, size_t name_chars, double *value)
{
    struct lookup *l = context;
    const struct ctr_reading *r = l->reading;
    size_t i = ctr_group_event_index(r->group, name, name_chars);

    if (i == r->group->n_events)
        return -ENOENT;
    if (!is_believed(r, i)) {
        l->missing = i;
        return -ENODATA;
    }
    *value = r->event[i].value;
    return 0;
}

static int evaluate(const struct ctr_reading *r, const char *name, double *value, struct lookup *l)
{
    size_t i = ctr_group_metric_index(r->group, name);

    *l = (struct lookup){ .reading = r, .missing = r->group->n_events };
    if (i == r->group->n_metrics)
        return -ENOENT;
    if (r->trust && r->trust->metric[i] == CTR_REFUTED)
        return -ENODATA;
    return ctr_expr_eval(r->group->metric[i].formula, value_of_label, l, value, NULL);
}

int ctr_reading_metric(const struct ctr_reading *r, const char *name, double *value)
{
    struct lookup l;

    return evaluate(r, name, value, &l);
}

static int explain_untrusted(const struct ctr_reading *r, const struct ctr_event *e, struct sim_why why)
{
    if (r->trust && r->trust->event[e - r->group->event] == CTR_REFUTED)
        return sim_fail(why, -ENODATA, "%s: known work shows that '%s' does not count what it says", e->label, e->name);
    return sim_fail(why, -ENODATA, "%s: it counted nothing and no known work proves '%s': a hypervisor may filter it",
                    e->label, e->name);
}

static int explain_event(const struct ctr_reading *r, size_t event, struct sim_why why)
{
    const struct ctr_event *e = &r->group->event[event];
    const struct ctr_set_reading *t = &r->set[e->set];

    if (!t->is_measured)
        return sim_fail(why, -ENODATA, "%s: its event set %zu of %zu was not measured", e->label, e->set + 1,
                        r->group->n_sets);
    switch (doubt(r->event[event].raw, t->time_enabled_ns, t->time_running_ns)) {
    case NO_DOUBT:
        return explain_untrusted(r, e, why);
    case RAN_TOO_LITTLE:
    case ZERO_ESTIMATE:
        return sim_fail(why, -ENODATA,
                        "%s: counted %" PRIu64 " while on a counter for %" PRIu64 " of %" PRIu64
                        " ns, too little for an "
                        "estimate: other programs use the counters",
                        e->label, r->event[event].raw, t->time_running_ns, t->time_enabled_ns);
    case IMPOSSIBLE:
        return sim_fail(why, -ENODATA,
                        "%s: counted %" PRIu64 " in %" PRIu64 " ns, which is impossible: the counter overflowed or was "
                        "set back",
                        e->label, r->event[event].raw, t->time_running_ns);
    case NEVER_RAN:
        break;
    }
    return sim_fail(why, -ENODATA,
                    "%s: its event set never got on the counters (running %" PRIu64 " of %" PRIu64 " ns): the region "
                    "is too short for sets taking turns, a counter is in use elsewhere (kernel.nmi_watchdog = 1 takes "
                    "one), or the thread ran on a core of another kind",
                    e->label, t->time_running_ns, t->time_enabled_ns);
}

int ctr_reading_explain(const struct ctr_reading *r, const char *name, struct sim_why why)
{
    struct lookup l;
    double value;
    int err = evaluate(r, name, &value, &l);
    size_t i = ctr_group_metric_index(r->group, name);

    if (!err)
        return sim_fail(why, 0, "%s: not missing", name);
    if (err == -ENOENT)
        return sim_fail(why, err, "group %s/%s has no metric '%s'", r->group->uarch, r->group->name, name);
    if (r->trust && r->trust->metric[i] == CTR_REFUTED)
        return sim_fail(why, err, "%s: %s", name, r->trust->why[i]);
    if (l.missing < r->group->n_events)
        return explain_event(r, l.missing, why);
    return sim_fail(why, err, "%s: division by zero in '%s'", name, r->group->metric[i].formula);
}
