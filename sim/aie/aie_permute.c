/* The two selection networks in front of the multipliers, and the parameters for given elements. */
#include <errno.h>

#include "sim/aie/aie.h"

unsigned aie_mac_lanes(enum aie_mac_kind kind)
{
    return kind == AIE_MAC_16 ? 16 : 8;
}

unsigned aie_mac_columns(enum aie_mac_kind kind)
{
    return kind == AIE_MAC_32 ? 1 : kind == AIE_MAC_16 ? 2 : 4;
}

unsigned aie_mac_element_bytes(enum aie_mac_kind kind)
{
    return kind == AIE_MAC_32 ? 4 : 2;
}

static unsigned nibble(uint64_t word, unsigned i)
{
    return word >> 4 * i & 15;
}

/* Chooses 16-bit values: a block of two lanes and two columns has four, in two words of 32 bits. */
static unsigned element_of_block(const struct aie_permutation *p, unsigned lane, unsigned column)
{
    const unsigned even = nibble(p->offsets, lane & ~1U), odd = nibble(p->offsets, lane | 1);
    const unsigned which = nibble(p->square, 2 * (lane & 1) + (column & 1)) & 3;
    const unsigned word = which < 2 ? even : even + odd + 1;

    return p->start + p->step * (column / 2) + 2 * word + (which & 1);
}

unsigned aie_element(const struct aie_permutation *p, enum aie_mac_kind kind, bool x, unsigned lane, unsigned column,
                     unsigned n)
{
    if (x && kind != AIE_MAC_32)
        return element_of_block(p, lane, column) % n;
    return (p->start + nibble(p->offsets, lane) + p->step * column) % n;
}

/* ---- the inverse ---- */

/* Sets the offset of a lane to the distance from start, if four bits suffice. */
static int set_offset(struct aie_permutation *p, unsigned lane, unsigned distance)
{
    if (distance > 15)
        return -ERANGE;
    p->offsets |= (uint64_t)distance << 4 * lane;
    return 0;
}

/* Solves the plain rule, start + offset + step * column: z, and x of 32 bits. */
static int solve_plain(struct aie_permutation *p, enum aie_mac_kind kind, int (*need)[AIE_LANES], unsigned n)
{
    const unsigned lanes = aie_mac_lanes(kind), columns = aie_mac_columns(kind);

    *p = (struct aie_permutation){ 0 };
    if (need[0][0] < 0)
        return -ERANGE;
    p->start = (unsigned)need[0][0];
    for (unsigned c = 1; c < columns && !p->step; c++)
        p->step = need[c][0] < 0 ? 0 : c == 1 ? ((unsigned)need[1][0] + n - p->start) % n : 0;
    for (unsigned l = 0; l < lanes; l++) {
        if (need[0][l] >= 0 && set_offset(p, l, ((unsigned)need[0][l] + n - p->start) % n))
            return -ERANGE;
        for (unsigned c = 0; c < columns; c++) {
            if (need[c][l] >= 0 && aie_element(p, kind, false, l, c, n) != (unsigned)need[c][l])
                return -ERANGE;
        }
    }
    return 0;
}

/* Returns the index of an element among a block's four values, with words e and o; 4: none. */
static unsigned which_of(int element, int e, int o)
{
    if (element / 2 == e)
        return (unsigned)element % 2;
    return element / 2 == o ? 2 + (unsigned)element % 2 : 4;
}

/* Finds the words of 32 bits that a block needs; false if there are more than two. */
static bool words_of_block(int word[2], int (*need)[AIE_LANES], unsigned lane)
{
    word[0] = word[1] = -1;
    for (unsigned i = 0; i < 4; i++) {
        const int element = need[i % 2][lane + i / 2], w = element / 2;

        if (element < 0 || w == word[0] || w == word[1])
            continue;
        if (word[1] >= 0)
            return false;
        word[word[0] >= 0] = w;
    }
    return word[0] >= 0;
}

/* Solves a block with words e and o; `square` of the blocks before (16 bits; known: the decided bits). */
static int solve_block(struct aie_permutation *p, unsigned *known, int (*need)[AIE_LANES], unsigned lane,
                       const int word[2], unsigned n)
{
    const unsigned words = n / 2, first = ((unsigned)word[0] + words - p->start / 2) % words;
    const unsigned second = word[1] < 0 ? 0 : ((unsigned)(word[1] - word[0]) + words - 1) % words;

    for (unsigned i = 0; i < 4; i++) {
        const int element = need[i % 2][lane + i / 2];
        const unsigned which = element < 0 ? 0 : which_of(element, word[0], word[1]);

        if (element < 0)
            continue;
        if (which > 3 || ((*known >> i & 1) && nibble(p->square, i) != which))
            return -ERANGE;
        p->square |= which << 4 * i;
        *known |= 1U << i;
    }
    return set_offset(p, lane, first) || set_offset(p, lane + 1, second) ? -ERANGE : 0;
}

/* Tries to solve all blocks of two columns; swap: the word found second is the first of each block. */
static int solve_blocks(struct aie_permutation *p, unsigned lanes, int (*need)[AIE_LANES], unsigned n, bool swap)
{
    unsigned known = 0;
    int word[2];

    *p = (struct aie_permutation){ 0 };
    for (unsigned lane = 0; lane < lanes; lane += 2) {
        if (!words_of_block(word, need, lane) || (swap && word[1] < 0))
            return -ERANGE;
        if (swap) {
            const int first = word[0];

            word[0] = word[1];
            word[1] = first;
        }
        if (!lane)
            p->start = 2 * (unsigned)word[0];
        if (solve_block(p, &known, need, lane, word, n))
            return -ERANGE;
    }
    return 0;
}

int aie_solve_x(struct aie_permutation *p, enum aie_mac_kind kind, int (*need)[AIE_LANES], unsigned n)
{
    struct aie_permutation second;
    int err;

    if (kind == AIE_MAC_32)
        return solve_plain(p, kind, need, n);
    err = solve_blocks(p, aie_mac_lanes(kind), need, n, false);
    if (err)
        err = solve_blocks(p, aie_mac_lanes(kind), need, n, true);
    if (err || kind == AIE_MAC_16)
        return err;
    /* the second pair of columns equals the first pair, a step on */
    err = solve_blocks(&second, aie_mac_lanes(kind), need + 2, n, false);
    if (err || second.offsets != p->offsets || second.square != p->square)
        return -ERANGE;
    p->step = (second.start + n - p->start) % n;
    return 0;
}

int aie_solve_z(struct aie_permutation *p, enum aie_mac_kind kind, int (*need)[AIE_LANES], unsigned n)
{
    return solve_plain(p, kind, need, n);
}
