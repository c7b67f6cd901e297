/* Arithmetic on sizes. */
#ifndef KERNELS_SIZES_H
#define KERNELS_SIZES_H

#include <stddef.h>

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns how many pieces of size b hold a; no sum overflows. */
static inline size_t ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Returns the least multiple of unit that is at least n. */
static inline size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#endif
