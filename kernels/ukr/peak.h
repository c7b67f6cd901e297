/*
 * Measures the peak of the core, to quote speeds as shares of the peak: loops of nothing but fused multiply-adds on
 * registers, and of nothing but loads. Clocks wander, so sample the loops beside the measured code.
 */
#ifndef KERNELS_PEAK_H
#define KERNELS_PEAK_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/shape/type.h"
#include "sim/cpu.h"

struct conv_peak {
    const char *name;
    enum cpu_isa isa;
    size_t n_chains;              /* multiply-adds of a step, each on a vector or more */
    double flop_per_step;         /* multiply-adds count as two */
    float (*fma)(size_t n_steps); /* the result is useless but must be used; NULL: this build lacks the loop */
    float (*read)(const float *x, size_t n); /* adds n floats, n a multiple of 256: a stream of loads; of f32 */
    enum cpu_extension extension;            /* needed, beside isa */
};

/* List all peak loops of f32, and tell whether this build and this CPU can execute a loop. */
size_t conv_peak_count(void);
const struct conv_peak *conv_peak_at(size_t i);
bool conv_peak_runs(const struct conv_peak *p);

/* Returns the peak loop with the widest vectors that this CPU runs; NULL if there is none: no loop is portable. */
const struct conv_peak *conv_peak_best(void);

/* Returns the peak loop of an instruction set, if the set has a loop that this CPU runs; else the best. */
const struct conv_peak *conv_peak_of(enum cpu_isa isa);

/* Returns the fastest peak loop of an element type that this CPU runs; NULL if there is none. Only f32's loops read. */
const struct conv_peak *conv_peak_of_type(enum conv_type type);

#endif
