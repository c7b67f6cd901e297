#include "tests/rng.h"

static uint64_t state[4]; /* test program only: one thread, re-seeded before every test */

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void rng_seed(uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        state[i] = splitmix(&seed);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(void)
{
    uint64_t result = rotl(state[1] * 5, 7) * 9;
    uint64_t t = state[1] << 17;

    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotl(state[3], 45);
    return result;
}

uint64_t rng_below(uint64_t n)
{
    return rng_u64() % n; /* the bias of 2^-64 * n is nothing to a test */
}

int64_t rng_range(int64_t low, int64_t high)
{
    return low + (int64_t)rng_below((uint64_t)(high - low) + 1);
}

double rng_unit(void)
{
    return (double)(rng_u64() >> 11) * 0x1p-53;
}

void rng_floats(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((int64_t)(rng_u64() >> 40) - (1 << 23)) * 0x1p-23f;
}

void rng_small_ints(float *x, size_t n, int m)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_range(-m, m);
}
