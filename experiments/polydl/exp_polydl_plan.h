/* Layers and their variants, before anything is known of them. */
#ifndef EXPERIMENTS_EXP_POLYDL_PLAN_H
#define EXPERIMENTS_EXP_POLYDL_PLAN_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/exp_polydl.h"

/*
 * Reads the models that a comma-separated list names: those of PolyDL's evaluation, "all" for its ten, "gemm" for its
 * Table 1, or what exp_model_find takes. Of each, keeps the layers that match patterns. Returns as exp_models_read.
 */
int exp_polydl_models(struct exp_models *m, const char *list, const char *patterns, struct exp_why *why);

/*
 * Generates the variants of all layers (exp_variants_make). A layer that has none says why. Models and machine must
 * outlive p. Returns 0; -EINVAL with one line in why for variants that cannot be, or if no layer has any; -ENOMEM.
 */
int exp_polydl_plan(struct exp_polydl *p, const struct exp_models *m, const struct sim_machine *machine,
                    const char *variants, struct exp_why *why);
void exp_polydl_release(struct exp_polydl *p); /* a half-planned one is fine */

#endif
