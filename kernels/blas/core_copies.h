/*
 * The packing routines of OpenBLAS's cores (Debian's 0.3.21), as they were observed access by access: x86's in copies
 * of their machine code, POWER10's under emulation (counters/observe/). A panel of one filter ends, on most of x86, in
 * a copy of up to three elements that touches some of them twice.
 */
#ifndef KERNELS_CORE_COPIES_H
#define KERNELS_CORE_COPIES_H

#include "kernels/ukr/block_copy.h"

/* Windows from the rows of a matrix, filters from their own rows. */
struct conv_core_copies {
    struct conv_copy windows, filters;
};

/* SkylakeX's are Cooperlake's. */
extern const struct conv_core_copies conv_copies_skylakex, conv_copies_haswell, conv_copies_zen, conv_copies_power10;

#endif
