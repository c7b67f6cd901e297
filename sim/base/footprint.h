/*
 * The lines that a burst touches, without the accesses one by one.
 *
 * A run repeated n_times is a lattice of accesses in two directions: along the run, and along the repetitions. Where an
 * access begins at most a line behind the last byte of the access before, no line is left out between the two accesses.
 * A direction without left-out lines is an interval. Most runs of kernels are one interval, or an interval per row of a
 * tile.
 */
#ifndef SIM_FOOTPRINT_H
#define SIM_FOOTPRINT_H

#include "sim/base/access.h"

/* Lines side by side, by number (address / line bytes). */
struct sim_lines {
    uint64_t first, n; /* n >= 1 */
};

/* The lattice of a run: bytes accesses of `bytes` bytes; strides are not negative, and `inner` is at most `outer`. */
struct sim_lattice {
    uint64_t addr; /* the lowest */
    uint64_t bytes, inner, outer;
    uint64_t n_inner, n_outer;
};

static inline uint64_t sim_lattice_turn(uint64_t *addr, int64_t stride, uint64_t n)
{
    if (stride >= 0)
        return (uint64_t)stride;
    *addr += (uint64_t)stride * (n - 1);
    return -(uint64_t)stride;
}

/*
 * Returns a run's lattice with gaps closed: a direction without gaps between lines is made a part of the bytes. So
 * n_inner and n_outer are numbers of intervals.
 */
static inline struct sim_lattice sim_lattice_of(const struct sim_run *run, uint64_t n_times, unsigned line_shift)
{
    const uint64_t line_bytes = (uint64_t)1 << line_shift;
    struct sim_lattice l = { .addr = run->addr, .bytes = run->access_bytes, .n_inner = run->count, .n_outer = n_times };

    l.inner = sim_lattice_turn(&l.addr, run->stride_bytes, l.n_inner);
    l.outer = sim_lattice_turn(&l.addr, run->step_bytes, l.n_outer);
    if (l.inner > l.outer) {
        const struct sim_lattice swapped = { l.addr, l.bytes, l.outer, l.inner, l.n_outer, l.n_inner };

        l = swapped;
    }
    if (l.inner <
        l.bytes + line_bytes) { /* the next access begins in the line of the last byte, or in the line after */
        l.bytes += l.inner * (l.n_inner - 1);
        l.n_inner = 1;
    }
    if (l.n_inner == 1 && l.outer < l.bytes + line_bytes) {
        l.bytes += l.outer * (l.n_outer - 1);
        l.n_outer = 1;
    }
    return l;
}

/* Return the first byte, and the lines, of interval i of n_inner * n_outer. */
static inline uint64_t sim_lattice_addr(const struct sim_lattice *l, uint64_t i)
{
    const uint64_t mask = ((uint64_t)1 << SIM_ADDRESS_BITS) - 1;

    return (l->addr + i / l->n_inner * l->outer + i % l->n_inner * l->inner) & mask;
}

static inline struct sim_lines sim_lattice_lines(const struct sim_lattice *l, uint64_t i, unsigned line_shift)
{
    const uint64_t addr = sim_lattice_addr(l, i), first = addr >> line_shift;

    return (struct sim_lines){ first, ((addr + l->bytes - 1) >> line_shift) - first + 1 };
}

#endif
