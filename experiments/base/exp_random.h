/* Random numbers that are the same every time: of equal samples the same is drawn. */
#ifndef EXPERIMENTS_EXP_RANDOM_H
#define EXPERIMENTS_EXP_RANDOM_H

#include <stdint.h>

/* Returns the next of a sequence that begins with any *state (SplitMix64). */
static inline uint64_t exp_random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
