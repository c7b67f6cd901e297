/* The accesses of generated code to the tensors, under the emulator, compared with the replay of its plan. */
#ifndef EXPERIMENTS_EMIT_OBSERVE_H
#define EXPERIMENTS_EMIT_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/watch/watch.h"
#include "experiments/emit/build.h"
#include "kernels/plan/plan.h"
#include "sim/base/stats.h"
#include "sim/machine/machine.h"

/* ---- two streams of accesses, the observed code's and the replay's, compared tensor by tensor ---- */

/* Says how much of a tensor's accesses is alike. */
enum exp_emit_likeness {
    EXP_EMIT_IN_ORDER,  /* address, width and kind of each access, one after the other */
    EXP_EMIT_REORDERED, /* address, width and kind of each */
    EXP_EMIT_MORE,      /* all accesses of the replay, and more */
    EXP_EMIT_BYTES,     /* the bytes that are loaded and stored, each as often, in different widths */
    EXP_EMIT_OTHER,
    EXP_EMIT_N_LIKENESSES,
};

const char *exp_emit_likeness_name(enum exp_emit_likeness l); /* a word of the tables */

/*
 * An emulator reports a masked load as a load of all bytes; the code loads some of the bytes, or none (emulator_plugin.c).
 * Address and bytes of accesses in this phase are not settled; 0 bytes: a masked load without bytes.
 */
enum { EXP_EMIT_MASKED_PHASE = SIM_MAX_PHASES - 1 };

/*
 * Compares the accesses to a tensor. Masked loads are settled if settling makes the streams equal: a masked load that
 * covers a load of the replay becomes the covered load, and a masked load without a covered load touches nothing.
 * Otherwise masked loads keep their width.
 */
enum exp_emit_likeness exp_emit_stream_compare(struct watch_list *seen, const struct watch_list *replayed,
                                               enum conv_tensor t);

/* Emits all accesses, in phase 0. */
void exp_emit_stream_emit(const struct watch_list *s, struct sim_sink *sink);

/* ---- the code under the emulator ---- */

/* The emulator's plugin, the program that runs the code (main_guest.c), and the simulated machine. */
struct exp_emit_watch {
    const char *observer, *guest;
    const struct sim_machine *machine;
};

/* A tensor: counts of all phases, and the likeness of the two streams. The code's own allocations are CONV_IM2COL. */
struct exp_emit_seen {
    struct sim_cell observed, replayed;
    enum exp_emit_likeness likeness;
};

/*
 * Prints and compiles a plan's code, and runs it once under the emulator, with filters packed before. Returns 0, or as
 * exp_emit_compile or exp_guest_run, with one line in why.
 */
int exp_emit_observe(enum exp_emit_what what, const struct conv_layer_plan *plan, const struct exp_emit_watch *w,
                     struct exp_emit_seen of[CONV_N_TENSORS], struct exp_why *why);

#endif
