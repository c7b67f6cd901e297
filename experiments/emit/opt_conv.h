/* The convolutions of a user's module: found, read as shapes, and planned for the module's machine. */
#ifndef EXPERIMENTS_EMIT_OPT_CONV_H
#define EXPERIMENTS_EMIT_OPT_CONV_H

#include "experiments/emit/opt_module.h"
#include "kernels/csa/csa.h"
#include "kernels/emit/linalg_source.h"
#include "kernels/emit/layer_plans.h"
#include "sim/machine/machine.h"

struct opt_conv {
    MlirOperation op;
    enum conv_linalg_layout layout;
    bool is_buffers;             /* of memrefs, not tensors */
    MlirOperation zeros;         /* the linalg.fill of the sums; null: the sums are not known to be zeros */
    struct conv_problem problem; /* without padding: the module pads by itself */
    struct exp_why why;          /* "": the convolution can be sliced */
};

struct opt_convs {
    struct opt_conv *conv;
    size_t n;
};

/* Finds all convolutions, and operations like a convolution, in the order of the text. Freed by free(found.conv). */
struct opt_convs opt_convs_find(const struct opt_module *m);

/* The machine of plans: the user's, or the machines of #dlti target specs. */
struct opt_planner {
    bool has_machine;
    struct sim_machine machine; /* the user's */
    const struct conv_ukr *ukr; /* the user's; NULL: the machine's, or the best of this computer */
};

/*
 * Plans a convolution that can be sliced. The machine's name stands in plan->machine, from malloc. Returns 0, or -errno
 * with one line in why: the module describes no machine, or the shape does not fit an address space.
 */
int opt_conv_plan(const struct opt_conv *c, const struct opt_planner *by, struct conv_layer_plan *plan,
                  struct exp_why *why);

/* Returns the values of constant filters; a null attribute: the filters are not constant. */
MlirAttribute opt_filter_constant(const struct opt_conv *c);

/* Packs constant filters: makes another constant, and returns the new operand of the convolution. */
MlirValue opt_filter_pack(const struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan);

/* Removes an unused constant. */
void opt_filter_drop(MlirOperation maker);

/* Slices the plan's convolution. Returns 0, or -EINVAL with one line in why, and the module unchanged. */
int opt_conv_slice(struct opt_module *m, const struct opt_conv *c, const struct conv_plan *plan, struct exp_why *why);

#endif
