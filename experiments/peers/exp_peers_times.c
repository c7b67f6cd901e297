/* Does what all ways of exp_peers_timing.h share: what times are made of and come to, and how long they take. */
#include <errno.h>
#include <stdlib.h>

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
            struct exp_peer_times *t = &p->layer[i].times[c][m];

            t->sample_ns = calloc(n ? n : 1, sizeof *t->sample_ns);
            t->mark = calloc(n ? n : 1, sizeof *t->mark);
            if (!t->sample_ns || !t->mark)
                return -ENOMEM;
        }
    }
    return 0;
}
