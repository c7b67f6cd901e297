/* The tensors of a layer's variants in memory: all variants of a layer have the same. */
#ifndef EXPERIMENTS_EXP_OPERANDS_H
#define EXPERIMENTS_EXP_OPERANDS_H

#include "experiments/polydl/exp_variants.h"

enum { EXP_OPERANDS_MAX_THREADS = 2 };

struct exp_operands {
    float *of[EXP_OPERANDS_MAX_THREADS][EXP_N_OPERANDS]; /* of each image; of images, A is the same */
    size_t bytes[EXP_N_OPERANDS], n_images;
};

/* Allocates for so many images, on pages of their own, filled as exp_tensors_fill does. Returns 0 or -ENOMEM. */
int exp_operands_init(struct exp_operands *o, const struct exp_variant *v, size_t n_images);
void exp_operands_release(struct exp_operands *o);

/* Says where tensors are when they are replayed: one after the other, on pages of their own. */
void exp_operands_replayed(const struct exp_variant *v, uint64_t base[EXP_N_OPERANDS]);

/* Their addresses in memory. */
void exp_operands_base(const struct exp_operands *o, size_t image, uint64_t base[EXP_N_OPERANDS]);

#endif
