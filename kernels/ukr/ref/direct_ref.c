/* The portable direct kernel: a vector is a float. No auto-vectorisation: a source load is a machine load. */
#include <stdbool.h>

#include "kernels/ukr/ukr.h"
#include "kernels/ukr/direct_tile.h"

#define VECTOR float
#define LANE_MASK bool
enum { LANES = CONV_DIRECT_LANES__ref, KEEPS_WINDOWS = 0 };

/* Loads through a volatile pointer, so that loads keep their number and order. */
static inline float load(const volatile float *p)
{
    return *p;
}

#define lane_mask(part) ((part).end > 0)
#define zero() 0
#define broadcast(p) load(p)
#define multiply_add(a, b, c) ((a) * (b) + (c))
#define store(p, x) (void)(*(p) = (x))
#define load_part(p, part, mask) ((mask) ? load(p) : 0)
#define store_first(p, n, x) store(p, x) /* n is at least one */
#define even(a, b) (a)                   /* a row of windows is one vector */
#define ordered(x) (x)
#define IN_REGISTER(x) ((void)(x))

#include "kernels/ukr/direct_tmpl.h"

void conv_f32_direct__ref(const struct conv_direct *d, const struct conv_direct_args *a)
{
    conv_direct_tiles(d, a, run_tile, NULL);
}
