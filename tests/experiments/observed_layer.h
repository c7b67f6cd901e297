/* A layer that is run where it can be observed: under an emulator, or as a twin or a copy of the machine code. */
#ifndef TESTS_EXPERIMENTS_OBSERVED_LAYER_H
#define TESTS_EXPERIMENTS_OBSERVED_LAYER_H

#include "counters/observe/obs_result.h"
#include "experiments/observe/exp_guest.h"
#include "experiments/setup/exp_case.h"

/* A guest to test with, or a reason why there is none. */
struct observed_place {
    const struct exp_emulator *emulator;
    const char *observer, *guest, *machine, *ukr;
    const char *core; /* OpenBLAS's; NULL: the emulator's, or any */
};

/* One layer, planned as the guest plans it. */
struct observed_layer {
    struct exp_setup setup;
    struct exp_layer layer;
    struct exp_model model;
    struct exp_experiment e;
    bool is_part;
    struct conv_part part;
    struct conv_plan plan; /* of the part, or the whole */
};

/* Plans a layer. Fails the test at once if it cannot be planned. */
void observed_plan(struct observed_layer *l, const struct observed_place *p, struct conv_problem problem,
                   const char *algo, bool packs_filters);

/* Takes half the rows and filters of the planned layer. */
void observed_take_part(struct observed_layer *l);

void observed_release(struct observed_layer *l);

/*
 * Runs it. The result is left in the scratch file r, the trace in t. Returns 0, or as exp_guest_run or obs_result_read
 * with one line in why.
 */
int observed_run(const struct observed_layer *l, const struct observed_place *p, bool is_traced, struct obs_result *r,
                 char *why, size_t why_bytes);

/* Returns where the run had its tensors. */
struct conv_binding observed_binding(const struct conv_plan *plan, const struct obs_result *r);

#endif
