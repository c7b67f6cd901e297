/* Checks that every method computes the convolution: the checking half of exp_peers.h. */
#include <errno.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/peers/exp_peers.h"
#include "experiments/peers/exp_peers_run.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/conv_naive.h"

static int wrong(const struct exp_peers_layer *l, enum exp_peer m, size_t index, double got, double want,
                 struct exp_why *why)
{
    return exp_fail(why, -EILSEQ, "layer '%s': %s computes a wrong result: output element %zu is %.9g, must be %.9g",
                    l->base->layer->name, exp_peer_name(m), index, got, want);
}

static int compare_naive(const struct exp_peers_layer *l, enum exp_peer m, struct exp_why *why)
{
    struct conv_mismatch at;
    int err = conv_naive_compare(exp_peers_problem(l), l->in, l->filter, l->out,
                                 exp_tensors_exact(exp_peers_problem(l)), &at);

    return err == -EILSEQ ? wrong(l, m, at.index, at.got, at.want, why) : err;
}

/*
 * Compares with Base's result. Sums of small integers are the same in any order. Where they could exceed what floats
 * hold exactly, the plain loops judge.
 */
static int compare_base(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m,
                        struct exp_why *why)
{
    const float *want = p->scratch[CONV_OUTPUT];

    if (!exp_tensors_exact(exp_peers_problem(l)))
        return compare_naive(l, m, why);
    for (size_t i = 0; i < exp_peers_bytes(l)[CONV_OUTPUT] / sizeof(float); i++) {
        if (!(l->out[i] == want[i]))
            return wrong(l, m, i, (double)l->out[i], (double)want[i], why);
    }
    return 0;
}

/* Checks that Base step by step computes what Base computes. */
static int verify_parts(const struct exp_peers *p, const struct exp_peers_layer *l, struct exp_why *why)
{
    const struct conv_binding b = exp_peers_bind(p, l, p->scratch[CONV_PACKED_FILTER]);
    struct conv_blas_exec exec;
    int err;

    memset(l->out, 0xff, exp_peers_bytes(l)[CONV_OUTPUT]);
    conv_blas_exec_init(&exec, &l->base->plan, &b, &p->parts);
    err = conv_nest_run(&l->base->plan, &exec.base);
    conv_blas_exec_flush(&exec);
    return err ? err : compare_base(p, l, EXP_PEER_BASE, why);
}

static int verify_layer(const struct exp_peers *p, const struct exp_peers_layer *l, struct exp_why *why)
{
    bool is_first = l->base->same_as == (size_t)(l->base - p->experiment.cases);
    size_t bytes = exp_peers_bytes(l)[CONV_OUTPUT];
    int err = exp_peers_run(p, l, EXP_PEER_BASE);

    if (!err && is_first)
        err = compare_naive(l, EXP_PEER_BASE, why);
    memcpy(p->scratch[CONV_OUTPUT], l->out, bytes);
    if (!err && !*p->why_no_parts)
        err = verify_parts(p, l, why);
    for (int m = EXP_PEER_BASE_ROWS; m < EXP_N_PEERS && !err; m++) {
        if (*l->why_not[m])
            continue;
        memset(l->out, 0xff, bytes); /* NaN */
        err = exp_peers_run(p, l, (enum exp_peer)m);
        if (!err && exp_peer_is_onednn((enum exp_peer)m))
            err = exp_dnnl_fetch(l->conv[m - EXP_PEER_NCHW]);
        if (!err)
            err = compare_base(p, l, (enum exp_peer)m, why);
    }
    return err;
}

int exp_peers_verify(struct exp_peers *p, struct exp_progress *progress, struct exp_why *why)
{
    exp_progress_begin(progress, EXP_WORK_VERIFY, p->experiment.model->name, "checking results");
    for (size_t i = 0; i < p->n_layers; i++) {
        int err = exp_interrupted() ? -EINTR : verify_layer(p, &p->layer[i], why);

        if (err == -EILSEQ)
            return err;
        if (err)
            return exp_fail(why, err, "layer '%s': cannot be checked: %s", p->layer[i].base->layer->name,
                            strerror(-err));
        exp_progress_step(progress, EXP_WORK_VERIFY,
                          exp_peers_seconds(EXP_WORK_VERIFY, conv_macs(exp_peers_problem(&p->layer[i])), NULL));
    }
    return 0;
}
