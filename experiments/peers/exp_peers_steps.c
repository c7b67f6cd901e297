/* Sweeps step by step, for where Base's and SConv's time goes: exp_peers_timing.h. */
#include <errno.h>

#include "experiments/base/exp_program.h"
#include "experiments/peers/exp_peers_run.h"
#include "experiments/peers/exp_peers_timing.h"

/* Runs the network once by one of the SConvs, or by Base step by step. */
static int phase_sweep(struct exp_peers *p, enum exp_peer m, uint64_t (*now_ns)(void))
{
    for (size_t i = 0; i < p->n_layers; i++) {
        struct exp_peers_layer *l = &p->layer[i];
        struct exp_peers_sconv *sconv = exp_peer_is_sconv(m) ? &l->sconv[m - EXP_PEER_SCONV] : NULL;
        struct conv_binding b = exp_peers_bind(p, l, sconv ? sconv->packed : p->scratch[CONV_PACKED_FILTER]);
        struct exp_phases x;
        int err;

        if (exp_interrupted())
            return -EINTR;
        if (sconv)
            err = exp_phases_run(&sconv->c->plan, &b, now_ns, &x);
        else
            err = exp_phases_run_base(&l->base->plan, &b, &p->parts, now_ns, &x);
        if (err)
            return err;
        exp_phases_add(sconv ? &sconv->phases : &l->base_phases, &x);
    }
    return 0;
}

/* Tells whether a method can be run step by step: on any layer, so on the first. */
static bool has_phases(const struct exp_peers *p, enum exp_peer m)
{
    return exp_peer_is_sconv(m) ? !*p->layer[0].why_not[m] : m == EXP_PEER_BASE && !*p->why_no_parts;
}

int exp_peers_measure_phases(struct exp_peers *p, uint64_t (*now_ns)(void), struct exp_progress *progress)
{
    int err = 0;

    exp_progress_begin(progress, EXP_WORK_PHASES, p->experiment.model->name, "phases");
    for (int r = 0; r < EXP_PEERS_PHASE_ROUNDS && !err; r++) {
        for (int m = 0; m < EXP_PEER_NCHW && !err; m++) {
            if (has_phases(p, (enum exp_peer)m))
                err = phase_sweep(p, (enum exp_peer)m, now_ns);
        }
        exp_progress_step(progress, EXP_WORK_PHASES,
                          exp_peers_phases_seconds(exp_peers_macs(p)) / EXP_PEERS_PHASE_ROUNDS);
    }
    return err;
}
