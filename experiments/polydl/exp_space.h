/*
 * A space is what the variants of a layer have in common: its dimensions, how each moves through the three tensors, and
 * which of them the micro-kernel has. A variant only says in which order and steps the dimensions are walked. Internal
 * to variants.
 */
#ifndef EXPERIMENTS_EXP_SPACE_H
#define EXPERIMENTS_EXP_SPACE_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_variants.h"

/* The micro-kernel's loops, outermost first. */
enum exp_micro_loop { EXP_MICRO_N, EXP_MICRO_M, EXP_MICRO_K, EXP_N_MICRO_LOOPS, EXP_NO_MICRO_LOOP = EXP_N_MICRO_LOOPS };

#define EXP_NO_LOOPS "-" /* a variant of a single call */

enum { EXP_MAX_SPACE_DIMS = 9, EXP_MAX_OUTER_LOOPS = EXP_AFFINE_MAX_LOOPS - EXP_N_MICRO_LOOPS };

struct exp_space_dim {
    const char *name; /* in texts; "": it has no loops but the micro-kernel's */
    uint64_t extent;
    enum exp_micro_loop micro; /* has what the outer loops leave of it; EXP_NO_MICRO_LOOP: they leave 1 */
    uint64_t step[EXP_N_OPERANDS][EXP_AFFINE_MAX_DIMS]; /* what a subscript of a tensor moves by */
};

struct exp_space {
    size_t n_dims;
    struct exp_space_dim dim[EXP_MAX_SPACE_DIMS];
    struct exp_tensor tensor[EXP_N_OPERANDS];
    uint64_t block;
};

/* One outer loop of a variant: a dimension, in steps of so many. */
struct exp_space_loop {
    size_t dim;
    uint64_t step, extent;
    bool is_parallel;
};

struct exp_space exp_space_of(const struct exp_variant_source *s);

/* Puts loops into a variant, outermost first: its nest, tensors and name. They are at most EXP_MAX_OUTER_LOOPS. */
void exp_space_fill(const struct exp_space *s, const struct exp_space_loop *loop, size_t n_loops,
                    struct exp_variant *v);

/* Does exp_variant_read's work but for exp_variant_check. */
int exp_space_parse(struct exp_variant *v, const struct exp_space *s, const char *text, struct exp_why *why);

#endif
