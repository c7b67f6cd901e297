#include "counters/proof/ctr_counters.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "counters/proof/ctr_census.h"
#include "counters/perf/ctr_loop.h"

enum { OVERHEAD_REPEATS = 101 };

static int open_session(struct ctr_counters *c, const struct ctr_source *source, struct sim_why why)
{
    int err = ctr_session_open_on(&c->session, source, c->group, why);

    if (!err && ctr_session_overhead(c->session, OVERHEAD_REPEATS, &c->overhead))
        err = sim_fail(why, -EIO, "the counters opened but could not be read");
    return err;
}

static int open_proven(struct ctr_counters *c, const struct ctr_source *source, struct ctr_ground *ground,
                       struct sim_why why)
{
    int err = ctr_census_take(&c->census, source, &c->cpu, ground, why);

    err = err ? err : ctr_fit(c->group, source, &c->cpu, &c->census, why);
    err = err ? err : open_session(c, source, why);
    if (err)
        return err;
    err = ctr_prove(&c->proof, c->session, ground);
    if (err)
        return sim_fail(why, err, "the counters could not be proven: %s", strerror(-err));
    ctr_session_set_trust(c->session, &c->proof.trust);
    return 0;
}

int ctr_counters_open(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                      const char *uarch, const char *group, struct sim_why why)
{
    struct ctr_ground ground = { 0 };
    int err;

    *c = (struct ctr_counters){ .group = NULL };
    err = uarch ? ctr_cpu_read(&c->cpu, groups_dir, uarch, why) : ctr_cpu_host(&c->cpu, groups_dir, why);
    err = err ? err : ctr_group_find(&c->group, groups_dir, c->cpu.uarch, group, why);
    if (!err && ctr_ground_init(&ground))
        err = sim_fail(why, -ENOMEM, "no memory for the loops that prove counters");
    err = err ? err : open_proven(c, source, &ground, why);
    ctr_ground_release(&ground);
    if (err)
        ctr_counters_close(c);
    return err;
}

int ctr_counters_open_plain(struct ctr_counters *c, const struct ctr_source *source, const char *groups_dir,
                            const char *uarch, const char *group, struct sim_why why)
{
    int err;

    *c = (struct ctr_counters){ .group = NULL };
    err = ctr_group_find(&c->group, groups_dir, uarch, group, why);
    err = err ? err : open_session(c, source, why);
    if (err)
        ctr_counters_close(c);
    return err;
}

int ctr_counters_read(struct ctr_counters *c, struct ctr_reading *out)
{
    int err;

    assert(c->session && c->overhead.group == c->group);
    err = ctr_session_read(c->session, out);
    return err ? err : ctr_reading_subtract(out, &c->overhead);
}

void ctr_counters_close(struct ctr_counters *c)
{
    ctr_session_close(c->session);
    ctr_group_free(c->group);
    *c = (struct ctr_counters){ .group = NULL };
}

static void print_evidence(const struct ctr_counters *c, const char *metric, FILE *out)
{
    for (size_t i = 0; i < ctr_n_claims(); i++) {
        const struct ctr_claim *k = ctr_claim_at(i);
        const struct ctr_evidence *e = &c->proof.evidence[i];

        if (strcmp(k->metric, metric) || !e->is_tried)
            continue;
        fprintf(out, "    %-22s %10.0f made ", k->loop, e->made);
        if (e->is_counted)
            fprintf(out, "%10.0f counted  %s (%g to %g of %g a turn: %s)\n", e->counted,
                    e->is_within ? "ok" : "REFUTED", k->at_least, k->at_most, k->made, k->reason);
        else
            fprintf(out, "REFUTED: %s\n", e->why);
    }
}

static void print_metric(const struct ctr_counters *c, size_t m, FILE *out)
{
    static const char *const words[] = { "not proven: no work is known", "proven", "not available" };
    const struct ctr_metric *metric = &c->group->metric[m];

    fprintf(out, "  %-32s  %s\n", metric->name, words[c->proof.trust.metric[m]]);
    print_evidence(c, metric->name, out);
}

void ctr_counters_print(const struct ctr_counters *c, FILE *out)
{
    assert(c->group && c->group->n_metrics <= CTR_MAX_METRICS);
    fprintf(out, "group %s: %s, %zu event sets\n", c->group->name, c->group->about, c->group->n_sets);
    fprintf(out, "  counters: %u of %u%s%s\n", c->census.n_good, c->cpu.n_counters, *c->census.note ? ": " : "",
            c->census.note);
    for (size_t m = 0; m < c->group->n_metrics; m++)
        print_metric(c, m, out);
}
