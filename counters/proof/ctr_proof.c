#include "counters/proof/ctr_proof.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "counters/group/ctr_expr.h"
#include "counters/perf/ctr_loop.h"

enum { MAX_ATTEMPTS = 3 }; /* an interrupt, or another program on the sibling thread, spoils a count now and then */

enum { MULTIPLY_TURN = CTR_LOOP_UNROLL * CTR_LOOP_MULTIPLY_CYCLES };

static const char exact[] = "one each; interrupts and the calls around the loop add less than 2 %";
static const char none[] =
    "the loop makes none; interrupts and the calls around it add less than 2 % of a turn's eight";
static const char fills[] = "prefetchers bring in lines that are not used, above all at the ends of runs";
static const char chased[] = "a part of the lines is still in the level above, or was brought in with another";
static const char guessed[] = "half of the branches by chance; some come out right by luck";

/*
 * Tolerances: instructions are exact; lines are not, because no cache is emptied exactly of the requested lines and
 * prefetchers fetch further lines. The widths were seen on a Zen 3 and leave room for further caches.
 */
static const struct ctr_claim claims[] = {
    { "loads", "loads", 8, 7.84, 8.16, exact },
    { "broadcasts", "loads", 8, 7.84, 8.16, exact },
    { "fmas", "loads", 8, 7.84, 8.16, exact },
    { "unaligned", "loads", 8, 7.84, 8.16, exact },
    { "prefetches", "loads", 0, 0, 0.16, none },
    { "stores", "loads", 0, 0, 0.16, none },
    { "stores", "stores", 8, 7.84, 8.16, exact },
    { "loads", "stores", 0, 0, 0.16, none },
    { "loads", "branches", 1, 0.98, 1.02, exact },
    { "loads", "instructions", CTR_LOOP_TURN_INSTRUCTIONS, 0.98 * CTR_LOOP_TURN_INSTRUCTIONS,
      1.02 * CTR_LOOP_TURN_INSTRUCTIONS, exact },
    { "multiplies", "cycles", MULTIPLY_TURN, 0.75 * MULTIPLY_TURN, 1.35 * MULTIPLY_TURN,
      "a latency that some cores shorten by a cycle; a program on the sibling thread slows it" },
    { "random_branches", "branch_mispredictions", 0.5, 0.3, 0.7, guessed },
    { "l2_lines_in_turn", "l1_lines_in", 1, 0.8, 1.5, fills },
    { "l2_lines_in_turn", "l1_lines_in_by_hardware_prefetch", 1, 0.2, 1.5,
      "how far prefetchers are ahead differs; zero would be prefetchers that are off, or a filter" },
    { "l2_lines_at_random", "l1_lines_in_by_demand", 1, 0.6, 1.2, chased },
    { "l2_lines_at_random", "l1_load_misses", 1, 0.6, 1.2, chased },
    { "l2_lines_prefetched", "l1_lines_in_by_software_prefetch", 0.7, 0.4, 1.1,
      "of random lines a quarter to a half is in L1 already" },
    { "l3_lines_in_turn", "l2_lines_in", 1, 0.8, 1.5, fills },
    { "memory_lines_in_turn", "memory_lines_in", 1, 0.8, 1.5, fills },
    { "memory_lines_at_random", "l2_load_misses", 1, 0.6, 1.2, chased },
    { "memory_lines_at_random", "l3_load_misses", 1, 0.6, 1.2, chased },
    { "pages_at_random", "dtlb_misses", 1, 0.5, 1.5, "pages that lie together may share a translation" },
};

enum { N_CLAIMS = sizeof claims / sizeof claims[0] };
_Static_assert((int)N_CLAIMS <= (int)CTR_MAX_CLAIMS, "evidence has room for every claim");

size_t ctr_n_claims(void)
{
    return N_CLAIMS;
}

const struct ctr_claim *ctr_claim_at(size_t i)
{
    assert(i < N_CLAIMS);
    return &claims[i];
}

static void check_claim(struct ctr_evidence *e, const struct ctr_claim *c, const struct ctr_reading *r, size_t n_turns)
{
    double value, n = (double)n_turns;
    int err = ctr_reading_metric(r, c->metric, &value);

    if (err == -ENOENT)
        return;
    *e = (struct ctr_evidence){ .is_tried = true, .made = c->made * n };
    if (err) {
        ctr_reading_explain(r, c->metric, SIM_WHY(e->why));
        return;
    }
    e->is_counted = true;
    e->is_within = value >= c->at_least * n && value <= c->at_most * n;
    e->counted = value;
}

/* Tells whether a loop still has claims without good evidence. */
static bool is_wanted(const struct ctr_proof *p, const struct ctr_group *g, const char *loop)
{
    for (size_t i = 0; i < N_CLAIMS; i++)
        if (!strcmp(claims[i].loop, loop) && ctr_group_metric_index(g, claims[i].metric) < g->n_metrics &&
            !p->evidence[i].is_within)
            return true;
    return false;
}

static int try_loop(struct ctr_proof *p, struct ctr_session *s, const struct ctr_loop *loop, struct ctr_ground *ground)
{
    const struct ctr_group *g = ctr_session_group(s);
    struct ctr_reading r;
    int err = 0;

    for (size_t set = 0; set < g->n_sets && !err; set++) {
        loop->prepare(ground);
        err = ctr_session_start_set(s, set);
        if (!err)
            ctr_session_run(s, loop, ground);
        err = err ? err : ctr_session_stop(s);
    }
    err = err ? err : ctr_session_read(s, &r);
    for (size_t i = 0; i < N_CLAIMS && !err; i++)
        if (!strcmp(claims[i].loop, loop->name) && !p->evidence[i].is_within)
            check_claim(&p->evidence[i], &claims[i], &r, ground->n_turns);
    return err;
}

static void refute(struct ctr_proof *p, size_t metric, const struct ctr_claim *c, const struct ctr_evidence *e)
{
    const struct sim_why why = SIM_WHY(p->trust.why[metric]);

    if (e->is_counted)
        sim_fail(why, 0, "not available: %s counted %.0f where %.0f were made (known work: %s)", c->metric, e->counted,
                 e->made, c->loop);
    else
        sim_fail(why, 0, "not available: it could not be proven: %s", e->why);
}

/* Judges the metrics: a single refuted claim refutes the metric. */
static void judge_metrics(struct ctr_proof *p, const struct ctr_group *g)
{
    for (size_t i = 0; i < N_CLAIMS; i++) {
        const struct ctr_evidence *e = &p->evidence[i];
        size_t m = ctr_group_metric_index(g, claims[i].metric);

        if (!e->is_tried || m == g->n_metrics || p->trust.metric[m] == CTR_REFUTED)
            continue;
        p->trust.metric[m] = e->is_within ? CTR_PROVEN : CTR_REFUTED;
        if (!e->is_within)
            refute(p, m, &claims[i], e);
    }
}

struct collected {
    const struct ctr_group *group;
    bool has[CTR_MAX_EVENTS];
};

static int collect(void *context, const char *name, size_t name_chars, double *value)
{
    struct collected *c = context;
    size_t i = ctr_group_event_index(c->group, name, name_chars);

    *value = 1;
    if (i < c->group->n_events)
        c->has[i] = true;
    return 0;
}

/* Judges the events: an event is as good as the best judged metric with the event. */
static void judge_events(struct ctr_proof *p, const struct ctr_group *g)
{
    for (size_t m = 0; m < g->n_metrics; m++) {
        struct collected c = { .group = g };
        double value;

        if (p->trust.metric[m] == CTR_UNPROVEN)
            continue;
        ctr_expr_eval(g->metric[m].formula, collect, &c, &value, NULL);
        for (size_t i = 0; i < g->n_events; i++)
            if (c.has[i] && p->trust.event[i] != CTR_PROVEN)
                p->trust.event[i] = p->trust.metric[m];
    }
}

int ctr_prove(struct ctr_proof *p, struct ctr_session *s, struct ctr_ground *ground)
{
    const struct ctr_group *g = ctr_session_group(s);
    int err = 0;

    assert(g->n_metrics <= CTR_MAX_METRICS);
    *p = (struct ctr_proof){ 0 };
    ctr_session_set_trust(s, NULL);
    for (size_t i = 0; i < ctr_n_loops() && !err; i++) {
        const struct ctr_loop *loop = ctr_loop_at(i);

        for (int k = 0; k < MAX_ATTEMPTS && !err && loop->can_run() && is_wanted(p, g, loop->name); k++)
            err = try_loop(p, s, loop, ground);
    }
    judge_metrics(p, g);
    judge_events(p, g);
    ctr_session_forget(s);
    return err;
}
