/* The portable dot kernel: a vector is a float. No auto-vectorisation: a source load is a machine load. */
#include <stdbool.h>

#include "kernels/ukr/dot_tile.h"

#define ISA ref
#define VECTOR float
#define SUMS const float *
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
#define load_first(p, n, mask) ((void)(n), (void)(mask), load(p))
#define add_up(acc, n) (acc)
#define IN_REGISTER(x) ((void)(x))
#define IN_ORDER() ((void)0)
#define PREFETCH(p) ((void)(p))

static inline __attribute__((always_inline)) void store_sums(volatile float *p, const size_t first, const size_t n,
                                                             const float *sums)
{
#pragma GCC unroll 16
    for (size_t i = 0; i < n; i++)
        p[i] = sums[first + i];
}

#include "kernels/ukr/dot_tmpl.h"

void conv_f32_dot__ref(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_dot_tiles(d, a, run_tile, NULL);
}
