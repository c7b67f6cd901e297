/* Generated code under the emulator: what it does to the tensors, beside the replay of its plan. */
#ifndef EXPERIMENTS_EXP_EMIT_OBSERVE_H
#define EXPERIMENTS_EXP_EMIT_OBSERVE_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/emit/exp_emit_stream.h"
#include "experiments/emit/exp_emit_text.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

extern const struct exp_csv_file exp_emit_observe_file; /* streams.csv */

/*
 * Names who watches: the emulator's plugin, the program that runs the code (main_guest.c), and the simulated machine.
 */
struct exp_emit_watch {
    const char *observer, *guest;
    const struct sim_machine *machine;
};

/* One tensor: counts of all phases, and how much of the two streams is alike. */
struct exp_emit_seen {
    struct sim_cell observed, replayed;
    enum exp_emit_likeness likeness;
};

struct exp_emit_observed {
    size_t n_levels;
    struct exp_emit_seen of[CONV_N_TENSORS]; /* what the code allocates for itself is CONV_IM2COL */
};

/* Says why nothing can be observed here, or returns NULL. */
const char *exp_emit_why_not_observed(const struct exp_emit_watch *w, const struct conv_plan *plan);

/*
 * Prints and compiles a plan's code, and runs it once under the emulator, with filters that were packed before. Returns
 * 0, or as exp_emit_build, exp_guest_run or obs_result_read, with one line in why.
 */
int exp_emit_observe(enum exp_emit_what what, const struct conv_noted_plan *plan, const struct exp_emit_watch *w,
                     struct exp_emit_observed *o, struct exp_why *why);

/* Observes a layer's code in all forms, and writes a row for each tensor. Returns 0, -EINTR, -ENOMEM, or of writing. */
int exp_emit_observe_forms(const struct conv_noted_plan *plan, const struct exp_emit_watch *w, struct exp_csv *csv,
                           struct exp_why *why);

#endif
