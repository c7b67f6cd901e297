/*
 * What OpenBLAS's Haswell micro-kernel prefetches (sgemm_kernel_8x4_haswell_2.c; addresses by the disassembly of Debian's
 * 0.3.21, numbers as observed under emulation). Its loops take eight steps at a time, then the rest singly.
 */
#ifndef KERNELS_HASWELL_PREFETCH_H
#define KERNELS_HASWELL_PREFETCH_H

#include <stdbool.h>

#include "kernels/ukr/ukr.h"

/*
 * One loop over the steps of a block of outputs. By kind:
 *
 *   windows  ask for the panel's windows 512 bytes on, a line every two steps
 *   first    and for the rows of outputs, half a line at a time, every eight steps
 *   pair     the same for a pair of panels, of the second one; also for its filters, 128 bytes on, for those of the next
 *            column of filters, and for the outputs; its single steps ask for a row of outputs each
 */
enum haswell_kind { HASWELL_WINDOWS, HASWELL_FIRST, HASWELL_PAIR };

struct haswell_loop {
    enum haswell_kind kind;
    const struct sim_run *load; /* of one step, step_bytes set; at most HASWELL_MAX_LOADS */
    size_t n_loads;
    size_t k;
    uint64_t windows;       /* the panel whose windows are asked for */
    bool has_single_steps;  /* the steps that are left ask for windows, too */
    uint64_t filters, next; /* a pair's */
    bool asks_again;        /* a pair's end asks for the column's first filters, */
    uint64_t first_filters; /* where they are */
    uint64_t out;           /* first output of the block */
    uint64_t row_bytes;     /* from one row of outputs to the next; there are six */
};

enum { HASWELL_MAX_LOADS = 6, HASWELL_NEXT_STEP = 16 };

void conv_haswell_emit(const struct haswell_loop *l, struct sim_sink *sink);

/* Steps that a pair's loop takes eight at a time, in eights. */
size_t conv_haswell_eights(enum haswell_kind kind, size_t k);

#endif
