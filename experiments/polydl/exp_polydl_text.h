/* Layers and their variants in words: what decides a task's result. Internal to exp_polydl_tasks.h. */
#ifndef EXPERIMENTS_EXP_POLYDL_TEXT_H
#define EXPERIMENTS_EXP_POLYDL_TEXT_H

#include "experiments/polydl/exp_polydl.h"

/* Tells whether two layers have the same variants of the same shape. */
bool exp_polydl_are_same(const struct exp_polydl_layer *a, const struct exp_polydl_layer *b);

/* Returns the first layer that is the same as one, which may be itself. */
size_t exp_polydl_first_same(const struct exp_polydl *p, size_t layer);

/* Writes shape, block and micro-kernel, and the variant or all of them (NULL); from malloc, NULL when out of memory. */
char *exp_polydl_text(const struct exp_polydl_layer *l, const struct exp_variant *v, const char *micro_kernel);

#endif
