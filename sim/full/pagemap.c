#include "sim/full/pagemap.h"

#include <assert.h>

#include "sim/base/access.h"

static uint64_t mix(uint64_t x, uint64_t seed, unsigned round)
{
    uint64_t z = x + seed * 0x9e3779b97f4a7c15 + round;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) >> 32;
}

uint64_t sim_pagemap_translate(uint64_t addr, unsigned page_shift, uint64_t seed)
{
    unsigned n_bits = SIM_ADDRESS_BITS - page_shift;
    unsigned n_low = n_bits / 2;
    uint64_t low_mask = ((uint64_t)1 << n_low) - 1;
    uint64_t high_mask = ((uint64_t)1 << (n_bits - n_low)) - 1;
    uint64_t low = addr >> page_shift & low_mask;
    uint64_t high = addr >> page_shift >> n_low & high_mask;

    assert(page_shift < SIM_ADDRESS_BITS);
    for (unsigned round = 0; round < 4; round += 2) {
        high ^= mix(low, seed, round) & high_mask;
        low ^= mix(high, seed, round + 1) & low_mask;
    }
    return (high << n_low | low) << page_shift | (addr & (((uint64_t)1 << page_shift) - 1));
}

uint64_t sim_page_table_entry(unsigned table, uint64_t page)
{
    return ((uint64_t)1 << (SIM_ADDRESS_BITS - 1)) + ((uint64_t)table << (SIM_ADDRESS_BITS - 4)) + 8 * page;
}
