/* How far values of a network are from what another program makes of the network. */
#include "experiments/network/reference.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/network/peer.h"

/* How far floats are from others, and how large the others are. */
struct apart {
    double most, largest;
    bool has_nan;
};

static struct apart find_apart(const float *a, const float *b, size_t n)
{
    struct apart d = { 0 };

    for (size_t i = 0; i < n; i++) {
        const double x = (double)a[i], y = (double)b[i];

        d.largest = isfinite(y) ? fmax(d.largest, fabs(y)) : d.largest;
        if (x == y || (isnan(x) && isnan(y)))
            continue;
        if (isfinite(x) && isfinite(y))
            d.most = fmax(d.most, fabs(x - y));
        else
            d.has_nan = true;
    }
    return d;
}

void net_distance_add(struct net_distance *d, const struct onnx_graph *g, size_t value, const void *ours,
                      const void *theirs)
{
    const struct onnx_value *v = &g->value[value];
    double x = v->type != ONNX_FLOAT && memcmp(ours, theirs, v->elements * onnx_type_bytes(v->type)) != 0;

    if (v->type == ONNX_FLOAT) {
        const struct apart apart = find_apart(ours, theirs, v->elements);

        d->has_nan |= apart.has_nan;
        x = apart.most > 0 ? apart.most / apart.largest : 0;
    }
    if (!d->n_values++ || x > d->worst) {
        d->worst = x;
        d->worst_value = value;
    }
}
