/* The portable pointwise kernel: a vector is a float. No auto-vectorisation: a source load is a machine load. */
#include <stdbool.h>

#include "kernels/ukr/pointwise_tile.h"

#define ISA ref
#define VECTOR float
#define LANE_MASK bool
enum { LANES = CONV_DIRECT_LANES__ref };

/* Volatile: loads keep their number and order. */
static inline float load(const volatile float *p)
{
    return *p;
}

#define lane_mask(n) ((n) > 0)
#define zero() 0
#define multiply_add(a, b, c) ((a) * (b) + (c))
#define broadcast(p) load(p)
#define store(p, x) (void)(*(p) = (x))
#define load_first(p, n, mask) ((void)(n), (void)(mask), load(p))
#define store_first(p, n, mask, x) ((void)(mask), store(p, x))
#define IN_REGISTER(x) ((void)(x))
#define PREFETCH(p) ((void)(p))

#include "kernels/ukr/pointwise_tmpl.h"

void conv_f32_pointwise__ref(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_pointwise_tiles(d, a, run_tile, NULL);
}
