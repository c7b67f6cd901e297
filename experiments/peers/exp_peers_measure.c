/* Times of all methods: the timing half of exp_peers.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/peers/exp_peers_run.h"
#include "experiments/peers/exp_peers_timing.h"

/* ---- how long it takes ---- */

static const double naive_seconds = 1e-9, fast_seconds = 2e-11; /* of a multiply-add on a usual computer */

double exp_peers_macs(const struct exp_peers *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->n_layers; i++)
        sum += conv_macs(exp_peers_problem(&p->layer[i]));
    return sum;
}

double exp_peers_hot_seconds(double macs, const struct exp_peers_options *o)
{
    return 2 * fast_seconds * macs * o->n_hot_reps * EXP_N_PEERS;
}

double exp_peers_phases_seconds(double macs)
{
    return fast_seconds * macs * (EXP_N_PEERS_SCONVS + 1) * EXP_PEERS_PHASE_ROUNDS;
}

double exp_peers_seconds(enum exp_work work, double macs, const struct exp_peers_options *o)
{
    switch (work) {
    case EXP_WORK_VERIFY:
        return (naive_seconds + EXP_N_PEERS * fast_seconds) * macs;
    case EXP_WORK_ROUNDS:
        return 2 * fast_seconds * macs * (double)(o->rounds.most * EXP_N_PEERS);
    case EXP_WORK_PHASES:
        return exp_peers_hot_seconds(macs, o) + exp_peers_phases_seconds(macs);
    default:
        return 0;
    }
}

/* ---- times ---- */

struct exp_times exp_peers_times(const struct exp_peers_layer *l, enum exp_peers_cache c, enum exp_peer m)
{
    return exp_times_of(l->times[c][m].sample_ns, l->times[c][m].n);
}

struct exp_ratio exp_peers_speedup(const struct exp_peers *p, enum exp_peers_cache c, enum exp_peer m)
{
    struct exp_pair *pair = calloc(p->n_layers, sizeof *pair);
    struct exp_ratio ratio = exp_ratio_none();
    size_t n = 0;

    for (size_t i = 0; i < p->n_layers && pair; i++) {
        const struct exp_peer_times *base = &p->layer[i].times[c][EXP_PEER_BASE], *t = &p->layer[i].times[c][m];

        if (base->n && base->n == t->n)
            pair[n++] = (struct exp_pair){ base->sample_ns, t->sample_ns, t->n };
    }
    if (pair)
        ratio = exp_ratio_of(pair, n);
    free(pair);
    return ratio;
}

int exp_peers_make_samples(struct exp_peers *p, enum exp_peers_cache c, size_t n)
{
    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            p->layer[i].times[c][m].sample_ns = calloc(n ? n : 1, sizeof(uint64_t));
            if (!p->layer[i].times[c][m].sample_ns)
                return -ENOMEM;
        }
    }
    return 0;
}

/* Tells how far the medians of the sweeps lie above the fastest; NaN if there are none. */
static double median_percent(const struct exp_peers *p)
{
    struct exp_times sum = { 0 };

    for (size_t i = 0; i < p->n_layers; i++) {
        for (int m = 0; m < EXP_N_PEERS; m++) {
            const struct exp_times x = exp_peers_times(&p->layer[i], EXP_PEERS_SWEEP, (enum exp_peer)m);

            if (p->layer[i].times[EXP_PEERS_SWEEP][m].n)
                exp_times_add(&sum, &x);
        }
    }
    return exp_times_median_percent(&sum);
}

int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress, char *why,
                      size_t why_bytes)
{
    int err;

    exp_disturbance_begin(&p->disturbance, "/proc", p->peak);
    err = exp_peers_measure_sweeps(p, o, progress);
    exp_disturbance_end(&p->disturbance, "/proc", p->peak);
    p->disturbance.median_percent = median_percent(p);
    if (!err && o->n_hot_reps)
        err = exp_peers_measure_hot(p, o, progress);
    if (!err)
        err = exp_peers_measure_phases(p, o->now_ns, progress);
    return err ? exp_fail(why, why_bytes, err, "%s: %s", p->experiment.model->name,
                          err == -EINTR ? "interrupted while timing" : strerror(-err))
               : 0;
}
