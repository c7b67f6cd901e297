/*
 * Counts the lines that each step of a network brings into the caches, by this computer's counters, in a run as
 * simulated in sequence. A run for every set of events; a quantity whose events are in several sets is missing.
 */
#include "experiments/network/study.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/proof/ctr_counters.h"

const char *const net_counted_names[NET_N_COUNTED] = { "l1_lines_in", "l2_lines_in", "memory_lines_in" };

/* Takes a set's counts of a step. */
static void take(struct net_counted *to, size_t step, const struct ctr_reading *reading)
{
    for (size_t q = 0; q < NET_N_COUNTED; q++) {
        double x;

        if (!ctr_reading_metric(reading, net_counted_names[q], &x))
            to->value[step * NET_N_COUNTED + q] = x;
    }
}

static int count_step(struct ctr_counters *c, size_t set, const struct net *net, size_t step, struct net_counted *to,
                      struct exp_why *why)
{
    struct ctr_reading reading;
    int err, stopped;

    ctr_session_forget(c->session);
    err = ctr_session_start_set(c->session, set);
    if (err)
        return exp_fail(why, err, "counters cannot be started: %s", strerror(-err));
    err = net_run_step(net, step, why);
    stopped = ctr_session_stop(c->session);
    if (!err && !stopped && !ctr_counters_read(c, &reading))
        take(to, step, &reading);
    return err;
}

/* A run to warm up, and a run for every set. */
static int count_network(struct ctr_counters *c, const struct net *net, struct net_counted *to, struct exp_why *why)
{
    int err = net_run(net, NULL, why);

    to->value = exp_new(net->n_steps * NET_N_COUNTED + 1, sizeof *to->value);
    for (size_t i = 0; i < net->n_steps * NET_N_COUNTED; i++)
        to->value[i] = (double)NAN;
    for (size_t set = 0; set < c->group->n_sets; set++) {
        for (size_t i = 0; i < net->n_steps && !err; i++)
            err = count_step(c, set, net, i, to, why);
    }
    return err;
}

int net_study_count(struct net_study *s, const struct net_counting *o, struct exp_why *why)
{
    struct ctr_counters *c = exp_new(1, sizeof *c);
    char refusal[sizeof s->by->counted.missing.text] = "";
    int err = 0;

    assert(s && o);
    ctr_counters_open(c, o->source ? o->source : &ctr_source_perf, o->groups_dir, o->uarch, "COMMON", SIM_WHY(refusal));
    for (size_t a = 0; a < s->n_algos && !err; a++) {
        struct net_by_algo *by = &s->by[a];

        exp_fail(&by->counted.missing, 0, "%s",
                 *by->timed.missing.text ? by->timed.missing.text
                 : s->n_threads > 1      ? "counted with one thread only"
                 : by->algo->plugin      ? "its convolutions run in a process of their own"
                                         : refusal);
        if (!*by->counted.missing.text)
            err = count_network(c, by->timed.net, &by->counted, why);
    }
    ctr_counters_close(c);
    free(c);
    return err;
}
