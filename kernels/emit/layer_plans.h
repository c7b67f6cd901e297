/* Plans of SConv with their layers, machines and caches: the content of a file of plans. */
#ifndef KERNELS_EMIT_LAYER_PLANS_H
#define KERNELS_EMIT_LAYER_PLANS_H

#include <stddef.h>

#include "kernels/plan/plan.h"

struct conv_layer_plan {
    const char *layer, *machine; /* names */
    struct csa_caches caches;
    struct conv_plan plan; /* of SConv */
};

/* The list owns the names. */
struct conv_layer_plans {
    char derived_anew[400]; /* keys of the file that contradict the file's decisions, and are ignored; "": none */
    size_t n;
    struct conv_layer_plan *plan;
};

/* Copies a plan to the end. Returns 0 or -ENOMEM. */
int conv_plans_add(struct conv_layer_plans *plans, const struct conv_layer_plan *plan);

void conv_plans_release(struct conv_layer_plans *plans); /* an empty one is fine */

/* Returns the plan of the shape, or NULL. */
const struct conv_layer_plan *conv_plans_find(const struct conv_layer_plans *plans, const struct conv_problem *p);

#endif
