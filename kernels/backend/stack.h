/*
 * Describes the loads and stores of compiled code beside the tensors: spilled registers, arguments in memory, saved
 * registers, and reads of plans and descriptors. All these accesses are called the code's stack here.
 *
 * No source line tells how many accesses the stack has: the compiler decides. So the stack is observed
 * (experiments/stack), and described per phase as numbers of loads and stores for each unit of some kinds of work,
 * which are known of every step. The instructions of compiled code, accesses to tensors included, are described
 * likewise.
 */
#ifndef KERNELS_STACK_H
#define KERNELS_STACK_H

#include <stdint.h>

#include "kernels/nest/nest.h"
#include "kernels/plan/plan.h"
#include "kernels/ukr/pack.h"
#include "sim/base/access.h"
#include "sim/core/clock.h"

/* The tag of the stack's accesses, which is no tensor's. */
enum { CONV_STACK = CONV_N_TENSORS };

/* Kinds of work of a step; 0 if the step has none of a kind. */
enum conv_work {
    CONV_WORK_STEP, /* 1 */
    CONV_WORK_RUN,  /* 1 if the step is a micro-kernel's and no later step of a run */
    CONV_WORK_LOAD, /* accesses to tensors */
    CONV_WORK_STORE,
    CONV_WORK_PREFETCH,
    CONV_WORK_PREFETCH_PASS,  /* repetitions of the accesses with prefetches among them */
    CONV_WORK_INPUT_AHEAD,    /* 1 if the step prefetches input, */
    CONV_WORK_FILTER_AHEAD,   /* or filters */
    CONV_WORK_IN_PLACE,       /* 1 if a micro-kernel reads windows in place */
    CONV_WORK_TAP_ROW,        /* rows of taps of all channels, if windows are read tap by tap, */
    CONV_WORK_TAP,            /* taps live for all windows, */
    CONV_WORK_PART_TAP,       /* and taps live for some windows */
    CONV_WORK_RAGGED_WINDOWS, /* 1 if a micro-kernel's tile has fewer windows than it may, */
    CONV_WORK_RAGGED_FILTERS, /* or fewer filters */
    CONV_WORK_MATRIX_ROW,     /* lowering: rows of the matrix, */
    CONV_WORK_PLANE_ROW,      /* and rows of outputs in all planes */
    CONV_WORK_PANEL_ROW,      /* packing: rows of panels, by routines without vectors */
    CONV_WORK_PLAIN_STEP,     /* packing windows by the portable routine: 1, and its accesses, not counted above */
    CONV_WORK_PLAIN_LOAD,
    CONV_WORK_PLAIN_STORE,
    CONV_WORK_TILE, /* packing windows by vectors: struct conv_pack_work */
    CONV_WORK_SEGMENT,
    CONV_WORK_COPY,
    CONV_WORK_PASS,
    CONV_WORK_ROW = CONV_WORK_PASS + CONV_PACK_PATHS,
    CONV_N_WORKS = CONV_WORK_ROW + CONV_PACK_PATHS,
};

const char *conv_work_name(enum conv_work w);

struct conv_stack_phase {
    double loads[CONV_N_WORKS], stores[CONV_N_WORKS];          /* for each unit of work */
    double instructions[CONV_N_WORKS], branches[CONV_N_WORKS]; /* of all instructions; all 0: not known */
    uint32_t lines;                                            /* of 64 bytes, over which accesses are spread */
};

struct conv_stack {
    struct conv_stack_phase phase[CONV_N_PHASES];
};

/* The phase of a kind of step. */
enum conv_phase conv_step_phase(enum conv_step_kind kind);

/* A sink that hands everything on and adds up the work of a step. */
struct conv_work_meter {
    struct sim_sink sink;
    struct sim_sink *to; /* NULL: nobody */
    uint64_t n[SIM_N_KINDS], prefetch_passes;
};

void conv_work_meter_init(struct conv_work_meter *m, struct sim_sink *to);

/* Takes the work of a step whose accesses went through the meter, and resets the meter. */
void conv_work_meter_take(struct conv_work_meter *m, const struct conv_plan *plan, const struct conv_binding *bind,
                          const struct conv_step *s, double work[CONV_N_WORKS]);

/* Counts the instructions of compiled code for a step, without multiply-adds; unknown counts are assumed (stack.c). */
struct sim_work conv_stack_work(const struct conv_stack *stack, enum conv_phase phase, const double work[CONV_N_WORKS]);

/* Emits the stack's accesses of a step's work over the lines. Fractions are owed to the phase's next step. */
struct conv_stack_emitter {
    const struct conv_stack *stack;
    double owed_loads[CONV_N_PHASES], owed_stores[CONV_N_PHASES];
};

void conv_stack_emit(struct conv_stack_emitter *e, enum conv_phase phase, const double work[CONV_N_WORKS],
                     struct sim_sink *sink);

#endif
