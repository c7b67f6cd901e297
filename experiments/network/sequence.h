/*
 * Simulates a sequence of steps, as of a network: each step starts with the caches of the steps before, at the real
 * addresses. Optionally, each step alone: with empty caches, and once more with its own leftovers.
 *
 * The file knows nothing of networks: a function emits the accesses of a step.
 */
#ifndef EXPERIMENTS_NETWORK_SEQUENCE_H
#define EXPERIMENTS_NETWORK_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/tasks.h"
#include "kernels/shape/tensor.h"
#include "sim/base/access.h"
#include "sim/base/stats.h"
#include "sim/machine/machine.h"

/* The tensors of a step, by the tables' names. */
enum exp_touched {
    EXP_TOUCHED_INPUT,   /* the first input */
    EXP_TOUCHED_OTHER,   /* a second input: of an addition or a concatenation */
    EXP_TOUCHED_WEIGHTS, /* filters, as read or packed ahead; bias; further constants */
    EXP_TOUCHED_OUTPUT,
    EXP_TOUCHED_WORKSPACE, /* packed input, im2col's matrix, filters packed at run time, a library's buffers */
    EXP_TOUCHED_STACK,
    EXP_N_TOUCHED,
};

const char *exp_touched_name(enum exp_touched t);

/* Tags of a step beside a convolution's tags (CONV_N_TENSORS, and CONV_STACK). */
enum { EXP_TAG_OTHER = SIM_USUAL_TAGS - 1 };

struct exp_steps {
    size_t n;
    /*
     * Emits a step's accesses into a sink, with *mac_instructions as in exp_replay_plan. Thread-safe. pool may be NULL.
     * Returns 0; -EINTR or -ECANCELED if the pool stops; -ENOTSUP if the step can never be emitted; or -errno.
     */
    int (*emit)(const void *ctx, size_t step, const struct exp_pool *pool, struct sim_sink *sink,
                uint64_t *mac_instructions);
    /* Names the tensor behind a tag. */
    enum exp_touched (*touched)(const void *ctx, size_t step, unsigned tag);
    double (*seconds)(const void *ctx, size_t step); /* of a simulation of plain caches, on a usual computer */
    const void *ctx;
};

/* Counts of a step. */
struct exp_step_counts {
    struct sim_cell touched[EXP_N_TOUCHED];
    struct sim_cell phase[CONV_N_PHASES];
    uint64_t mac_instructions;
};

struct sim_cell exp_step_total(const struct exp_step_counts *c);

/* A simulation: of steps in sequence or, if is_alone, of each step by itself. */
struct exp_sequence {
    const struct exp_steps *steps;
    const struct sim_machine *machine;
    bool is_alone;
    struct exp_step_counts *counts; /* [steps->n] in sequence, or alone with empty caches; from exp_sequence_run */
    struct exp_step_counts *warm;   /* [steps->n] alone, once more; NULL in sequence */
    bool is_refused;                /* a step cannot be emitted: there are no counts */
    double seconds;                 /* processor time, without the time of `warm` */
};

/*
 * Runs simulations side by side on n_threads threads. Returns 0, or -errno with a line in why; exp_sequence_release is
 * due in any case.
 */
int exp_sequence_run(struct exp_sequence *s, size_t n, unsigned n_threads, struct exp_progress *progress,
                     struct exp_why *why);
double exp_sequence_seconds(const struct exp_sequence *s); /* announced to exp_progress */
void exp_sequence_release(struct exp_sequence *s);

/* Lines that came into a level by any request; for level n_levels: lines read from memory. */
uint64_t exp_lines_into(const struct sim_cell *c, const struct sim_machine *m, size_t level);

#endif
