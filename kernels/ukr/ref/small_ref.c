/* The portable micro-kernel on blocks: a vector is a float. No auto-vectorisation: a source load is a machine load. */
#include "kernels/ukr/small_tile.h"

#define ISA ref
#define VECTOR float
enum { LANES = CONV_SMALL_LANES__ref };

/* Loads through a volatile pointer, so that loads keep their number and order. */
static inline float load(const volatile float *p)
{
    return *p;
}

#define multiply_add(a, b, c) ((a) * (b) + (c))
#define store(p, x) (void)(*(p) = (x))
#define broadcast(p) load(p)
#define IN_REGISTER(x) ((void)(x))

#include "kernels/ukr/small_tmpl.h"

void conv_f32_small__ref(const struct conv_small *s, const struct conv_small_args *a)
{
    conv_small_tiles(s, a, run_tile, NULL);
}
