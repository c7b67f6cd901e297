/* Tensors of a network: where each lies. */
#include "experiments/network/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/shape/sizes.h"

void *net_own(struct net *net, size_t n, size_t bytes)
{
    struct net_own *own = net->own;
    void **piece = exp_append(&own->piece, &own->n_pieces, sizeof *piece);

    *piece = exp_new(n ? n : 1, bytes);
    return *piece;
}

size_t net_add_tensor(struct net *net, const char *name, size_t bytes, enum net_place place)
{
    struct net_tensor *t = exp_append(&net->tensor, &net->n_tensors, sizeof *t);

    *t = (struct net_tensor){
        .name = name, .value = ONNX_NONE, .place = place, .bytes = bytes, .root = net->n_tensors - 1
    };
    t->is_workspace = place == NET_ARENA;
    return t->root;
}

size_t net_root(const struct net *net, size_t tensor, size_t *at)
{
    for (*at = 0; net->tensor[tensor].root != tensor; tensor = net->tensor[tensor].root)
        *at += net->tensor[tensor].at;
    return tensor;
}

uint64_t net_address(const struct net *net, const uint64_t base[NET_N_PLACES], size_t tensor)
{
    const struct net_tensor *t = tensor == ONNX_NONE ? NULL : &net->tensor[tensor];

    return !t || t->place == NET_NOWHERE ? 0 : base[t->place] + t->offset;
}

void *net_at(const struct net *net, size_t tensor)
{
    const struct net_tensor *t = tensor == ONNX_NONE ? NULL : &net->tensor[tensor];

    return !t || t->place == NET_NOWHERE ? NULL : net->place[t->place] + t->offset;
}
