/* Lists the micro-kernels and packing routines, and says which of them this CPU runs. */
#ifndef KERNELS_DISPATCH_H
#define KERNELS_DISPATCH_H

#include <stddef.h>

#include "kernels/ukr/pack.h"
#include "kernels/ukr/ukr.h"

/* The routines of an element type, the portable first in both lists. */
struct conv_type_kernels {
    const struct conv_ukr *const *ukr;
    size_t n_ukrs;
    const struct conv_pack_windows *const *pack_windows;
    size_t n_packers;
    void (*pack_filters)(const struct conv_pack_filters_args *a);
    void (*pack_filters_emit)(const struct conv_pack_filters_args *a, struct sim_sink *sink);
};

const struct conv_type_kernels *conv_kernels_of(enum conv_type type);

/* Returns the last micro-kernel of a type's list that this CPU runs. */
const struct conv_ukr *conv_ukr_best_of(enum conv_type type);

/* List all micro-kernels of f32, the portable micro-kernels first. */
size_t conv_ukr_count(void);
const struct conv_ukr *conv_ukr_at(size_t i);

/* Returns the f32 micro-kernel of the name, runnable here or not; NULL if there is none. */
const struct conv_ukr *conv_ukr_find(const char *name);

/* Tells whether this build and this CPU can execute a micro-kernel. */
bool conv_ukr_runs(const struct conv_ukr *u);

/* Returns the first micro-kernel of an instruction set, runnable here or not: the paper's tile, if the set has it. */
const struct conv_ukr *conv_ukr_of(enum cpu_isa isa);

/* Returns the first micro-kernel of the widest vectors that this CPU runs. */
const struct conv_ukr *conv_ukr_best(void);

/* List all window packing routines of f32, the portable routine first. */
size_t conv_pack_windows_count(void);
const struct conv_pack_windows *conv_pack_windows_at(size_t i);

/*
 * Returns the packing routine for a micro-kernel's type and instruction set, and the shape; no routine that transposes
 * unless may_transpose.
 */
const struct conv_pack_windows *conv_pack_windows_for(const struct conv_problem *p, const struct conv_ukr *u,
                                                      bool may_transpose);

#endif
