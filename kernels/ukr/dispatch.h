/* Lists the micro-kernels and packing routines, and says which of them this CPU runs. */
#ifndef KERNELS_DISPATCH_H
#define KERNELS_DISPATCH_H

#include <stddef.h>

#include "kernels/ukr/pack.h"
#include "kernels/ukr/ukr.h"

/* List all micro-kernels, the portable micro-kernels first. */
size_t conv_ukr_count(void);
const struct conv_ukr *conv_ukr_at(size_t i);

/* Returns the micro-kernel of the name, runnable here or not; NULL if there is none. */
const struct conv_ukr *conv_ukr_find(const char *name);

/* Tells whether this build and this CPU can execute a micro-kernel. */
bool conv_ukr_runs(const struct conv_ukr *u);

/* Returns the first micro-kernel of an instruction set, runnable here or not: the paper's tile, if the set has it. */
const struct conv_ukr *conv_ukr_of(enum cpu_isa isa);

/* Returns the first micro-kernel of the widest vectors that this CPU runs. */
const struct conv_ukr *conv_ukr_best(void);

/* List all window packing routines, the portable routine first. */
size_t conv_pack_windows_count(void);
const struct conv_pack_windows *conv_pack_windows_at(size_t i);

/* Returns the packing routine for a micro-kernel's instruction set and the shape. */
const struct conv_pack_windows *conv_pack_windows_for(const struct conv_problem *p, const struct conv_ukr *u);

#endif
