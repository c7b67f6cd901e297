/* The portable transforms: a vector is a float. No auto-vectorisation: a source load is a machine load. */
#include <string.h>

#include "kernels/ukr/winograd_tile.h"

#define VECTOR float
enum { LANES = CONV_WINOGRAD_LANES__ref };

/* The pointer is volatile: loads keep number and order. */
static inline float load(const volatile float *p)
{
    return *p;
}

#define zero() 0
#define broadcast(x) ((float)(x))
#define add(a, b) ((a) + (b))
#define subtract(a, b) ((a) - (b))
#define multiply_add(a, b, c) ((a) * (b) + (c))
#define store(p, x) (void)(*(p) = (x))
#define load_part(p, part) load(p) /* a part that is not empty is the whole */
#define store_first(p, n, x) ((void)0)
#define store_from(p, n, x) ((void)0)
#define even(a, b) (a)
#define odd(a, b) (b)
#define zip_low(a, b) (a)
#define zip_high(a, b) (b)
#define IN_REGISTER(x) ((void)(x))

#include "kernels/ukr/winograd_tmpl.h"

CONV_WINOGRAD_FUNCTIONS(ref)
