/*
 * Observed layers beside their replay. make test and make test-power10 name programs and plug-in in the environment:
 * OBSERVER, GUEST_x86_64, GUEST_ppc64le, TWIN, COPIED.
 */
#ifndef TESTS_EXPERIMENTS_OBSERVED_H
#define TESTS_EXPERIMENTS_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>

#include "counters/watch/watch.h"
#include "experiments/base/error.h"
#include "experiments/bench/case/case.h"
#include "experiments/observe/guest.h"

/* A guest to test with. */
struct observed_place {
    const struct exp_emulator *emulator;
    const char *observer, *guest, *machine, *ukr;
    const char *core; /* OpenBLAS's; NULL: the emulator's, or any */
};

/* Finds every emulator with a guest, and returns how many; the test is skipped if there is none. */
size_t observed_find_places(struct observed_place place[2]);

/* Finds the instrumented twin, of any micro-kernel; the test is skipped if there is none. */
bool observed_find_twin(struct observed_place *p);

/* Finds the program whose machine code is copied, with a micro-kernel that must run here, or skips the test. */
bool observed_find_copied(struct observed_place *p, const char *ukr, const char *machine);

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

/* Runs a layer, or half of the rows and filters, and checks that the observed stream equals the replay's stream. */
void observed_check_stream(const struct observed_place *p, struct conv_problem problem, const char *algo,
                           bool packs_filters, bool is_part);

/*
 * Runs a layer, or half of the rows and filters, and checks accesses within 1 %, load misses of every level within 3 %,
 * and the number of prefetches if the replay knows the prefetches. The result is left in *r.
 */
void observed_check_totals(const struct observed_place *p, struct conv_problem problem, const char *algo, bool is_part,
                           struct watch_result *r);

#endif
