#include "experiments/peers/exp_peers_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_program.h"
#include "experiments/peers/exp_peers.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/backend/base.h"
#include "kernels/conv_naive.h"
#include "kernels/ukr/im2col_rows.h"

enum { ALIGN = 4096 };

int exp_peers_allocate(float **x, size_t bytes)
{
    void *memory = NULL;
    int err = posix_memalign(&memory, ALIGN, bytes + ALIGN); /* OpenBLAS's kernels may read past a panel's end */

    if (err)
        return -err;
    memset(memory, 0, bytes);
    *x = memory;
    return 0;
}

const struct conv_problem *exp_peers_problem(const struct exp_peers_layer *l)
{
    return &l->base->layer->problem;
}

const size_t *exp_peers_bytes(const struct exp_peers_layer *l)
{
    return l->sconv[0].c->plan.layout.bytes;
}

struct conv_binding exp_peers_bind(const struct exp_peers *p, const struct exp_peers_layer *l,
                                   const float *packed_filter)
{
    struct conv_binding b = { { 0 } };

    b.addr[CONV_INPUT] = (uintptr_t)l->in;
    b.addr[CONV_FILTER] = (uintptr_t)l->filter;
    b.addr[CONV_OUTPUT] = (uintptr_t)l->out;
    b.addr[CONV_IM2COL] = (uintptr_t)p->scratch[CONV_IM2COL];
    b.addr[CONV_PACKED_INPUT] = (uintptr_t)p->scratch[CONV_PACKED_INPUT];
    b.addr[CONV_PACKED_FILTER] = (uintptr_t)packed_filter;
    return b;
}

int exp_peers_run(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m)
{
    const struct exp_peers_sconv *x;
    struct conv_binding b;

    if (exp_peer_is_onednn(m))
        return exp_dnnl_run(l->conv[m - EXP_PEER_NCHW]);
    if (!exp_peer_is_planned(m)) {
        b = exp_peers_bind(p, l, NULL);
        return conv_base_run_with(&l->base->plan, &b, &p->setup->blas,
                                  m == EXP_PEER_BASE ? conv_im2col : conv_im2col_rows);
    }
    x = &l->sconv[m - EXP_PEER_SCONV];
    b = exp_peers_bind(p, l, x->packed);
    return x->c->algo->run(p->setup, &x->c->plan, &b);
}

/* ---- every method computes the convolution ---- */

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
