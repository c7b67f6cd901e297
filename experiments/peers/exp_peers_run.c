#include "experiments/peers/exp_peers_run.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/backend/base.h"
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
