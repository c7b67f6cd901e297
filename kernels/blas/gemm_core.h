/*
 * The blocking of OpenBLAS's sgemm and the loads of its kernels, per core type (DYNAMIC_ARCH build, 0.3.21): data for
 * the replay of the baseline.
 *
 * Sources: OpenBLAS's param.h (P, Q, unroll), driver/level3/level3.c (block order); observation of Debian's build for
 * the accesses of its copy routines and micro-kernels, in their order. R follows from the buffer size at run time.
 */
#ifndef KERNELS_GEMM_CORE_H
#define KERNELS_GEMM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/ukr/block_copy.h"
#include "kernels/ukr/ukr.h"

struct conv_gemm_core {
    const char *name;    /* the answer of openblas_get_corename() */
    size_t p, q, r;      /* GotoBLAS block sizes: windows, reduction, filters */
    size_t unroll_win;   /* balanced blocks are rounded up to a multiple */
    size_t first_pass_f; /* filters packed and used at a time while the first window block is in cache */
    const struct conv_core_copies *copies;
    uint32_t zero_bytes; /* width of the beta routine's stores */
    bool has_small;      /* small products have a kernel (product.h) */
    struct conv_ukr ukr; /* replay only: fn is NULL */
};

/* The known cores. */
size_t conv_gemm_core_count(void);
const struct conv_gemm_core *conv_gemm_core_at(size_t i);

/* The core of the name, or NULL if its blocking is not known here. */
const struct conv_gemm_core *conv_gemm_core_find(const char *name);

/*
 * The core type that suits this CPU best, to be put into OPENBLAS_CORETYPE before the library loads: OpenBLAS falls
 * back to SSE kernels on CPUs newer than itself. NULL: leave the choice to the library, as on POWER10: version 0.3.21
 * finds POWER10 by itself, but answers with POWER8 kernels when asked for POWER10 by name. Under a limit (sim/cpu.h)
 * the choice is never left to the library, which knows no limit.
 */
const char *conv_gemm_core_for_host(void);

/*
 * The packing routines of OpenBLAS's cores (Debian's 0.3.21), observed access by access: x86's in copies of their
 * machine code, POWER10's under emulation (counters/watch/). A panel of one filter ends, on most of x86, in a copy of
 * up to three elements that touches some elements twice.
 *
 * Windows come from the rows of a matrix, filters from their own rows.
 */
struct conv_core_copies {
    struct conv_copy windows, filters;
};

/* SkylakeX's are Cooperlake's. */
extern const struct conv_core_copies conv_copies_skylakex, conv_copies_haswell, conv_copies_zen, conv_copies_power10;

#endif
