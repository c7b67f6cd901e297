/* A layer, run where the layer can be observed: under an emulator, or as a twin or a copy of the machine code. */
#ifndef TESTS_EXPERIMENTS_OBSERVED_LAYER_H
#define TESTS_EXPERIMENTS_OBSERVED_LAYER_H

#include "counters/watch/watch.h"
#include "experiments/base/error.h"
#include "experiments/bench/case/case.h"
#include "tests/experiments/observed_place.h"

/* Small layers with and without padding, strides, dilations and groups. */
extern const struct conv_problem observed_small[4];

/* Layers that were not used to fit the tables of stacks. */
extern const struct conv_problem observed_unfitted[2];

/* A layer, planned as the guest plans the layer. */
struct observed_layer {
    struct exp_setup setup;
    struct exp_layer layer;
    struct exp_model model;
    struct exp_experiment e;
    bool is_part;
    struct conv_part part;
    struct conv_plan plan; /* of the part, or the whole */
};

/* Plans a layer. Fails the test at once on an error. */
void observed_plan(struct observed_layer *l, const struct observed_place *p, struct conv_problem problem,
                   const char *algo, bool packs_filters);

/* Takes half the rows and filters of the planned layer. */
void observed_take_part(struct observed_layer *l);

void observed_release(struct observed_layer *l);

/*
 * Runs the layer. The result is left in the scratch file r, the trace in t. Returns 0, or as exp_guest_run or
 * watch_result_read with a line in why.
 */
int observed_run(const struct observed_layer *l, const struct observed_place *p, bool is_traced, struct watch_result *r,
                 struct exp_why *why);

/* Returns the places of the tensors in the run. */
struct conv_binding observed_binding(const struct conv_plan *plan, const struct watch_result *r);

#endif
