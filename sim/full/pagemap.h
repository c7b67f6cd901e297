/*
 * Maps pages of virtual memory to frames: a bijection of page numbers that looks random, so that no two pages share a
 * frame and no table is needed. Four rounds of a Feistel network over the bits of the page number:
 *
 *     n     bits of a page number, SIM_ADDRESS_BITS - log2(page size); low = n / 2 bits, high = the upper bits
 *     round i = 0..3:  i even: high ^= mix(low, i), i odd: low ^= mix(high, i), cut to the number of bits
 *     mix(x, i)        the top 32 bits of splitmix64's output function of (x + seed * 0x9e3779b97f4a7c15 + i)
 *
 * splitmix64's output function: z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >>
 * 31.
 */
#ifndef SIM_PAGEMAP_H
#define SIM_PAGEMAP_H

#include <stdint.h>

/* Returns the physical address of a virtual address; both are below 2^SIM_ADDRESS_BITS. */
uint64_t sim_pagemap_translate(uint64_t addr, unsigned page_shift, uint64_t seed);

/* Returns where the 8-byte entry of a page is in table number `table`. */
uint64_t sim_page_table_entry(unsigned table, uint64_t page);

/*
 * Slices: the set of a line in a level of n_slices (a power of two) slices of n_sets / n_slices sets each.
 *
 *     slice = XOR of all groups of log2(n_slices) bits of the line number
 *     set   = slice * (n_sets / n_slices) + line mod (n_sets / n_slices)
 *
 * The hash spreads lines as evenly as the unpublished hashes of real parts, with other bits (Maurice et al., RAID 2015,
 * for Intel's: each slice bit is an XOR of many address bits).
 */

/*
 * Folds the groups of an n_bits number by halves. Returns the widest shift, the first to apply: slice_bits times a
 * power of two; 0: there is nothing to fold.
 */
static inline unsigned sim_slice_fold(unsigned slice_bits, unsigned n_bits)
{
    unsigned shift = slice_bits;

    while (shift && 2 * shift < n_bits)
        shift *= 2;
    return n_bits <= slice_bits ? 0 : shift;
}

/* The slice of a line among 2^slice_bits. */
static inline uint64_t sim_slice(uint64_t line, unsigned slice_bits, unsigned fold)
{
    for (; fold && fold >= slice_bits; fold /= 2)
        line ^= line >> fold;
    return line & (((uint64_t)1 << slice_bits) - 1);
}

#endif
