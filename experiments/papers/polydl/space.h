/*
 * A space is common to the variants of a layer: dimensions, the steps of each dimension in the three tensors, and the
 * dimensions of the micro-kernel. A variant only says the order and steps of the dimensions. Internal to variants.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_SPACE_H
#define EXPERIMENTS_PAPERS_POLYDL_SPACE_H

#include "experiments/papers/polydl/variants.h"

/* The micro-kernel's loops, outermost first. */
enum exp_micro_loop { EXP_MICRO_N, EXP_MICRO_M, EXP_MICRO_K, EXP_N_MICRO_LOOPS, EXP_NO_MICRO_LOOP = EXP_N_MICRO_LOOPS };

#define EXP_NO_LOOPS "-" /* a variant of a single call */

enum { EXP_MAX_SPACE_DIMS = 9 };

struct exp_space_dim {
    const char *name; /* in texts; "": the dimension has no loops but the micro-kernel's */
    uint64_t extent;
    enum exp_micro_loop micro; /* has the rest behind the outer loops; EXP_NO_MICRO_LOOP: the rest is 1 */
    uint64_t step[EXP_N_OPERANDS][EXP_AFFINE_MAX_DIMS]; /* step of a subscript of a tensor */
};

struct exp_space {
    size_t n_dims;
    struct exp_space_dim dim[EXP_MAX_SPACE_DIMS];
    struct exp_tensor tensor[EXP_N_OPERANDS];
    uint64_t block;
};

struct exp_space exp_space_of(const struct exp_variant_source *s);

/* Returns the dimension with this name; n_dims if there is none. */
size_t exp_space_dim(const struct exp_space *s, const char *name, size_t length);

/* Does exp_variant_read's work but for exp_variant_check. */
int exp_space_parse(struct exp_variant *v, const struct exp_space *s, const char *text, struct exp_why *why);

#endif
