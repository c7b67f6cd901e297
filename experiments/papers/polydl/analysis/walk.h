/*
 * The walk through a variant's outer loops: each innermost iteration is a call of a micro-kernel on blocks
 * (kernels/ukr/small.h), and is executed on real memory or replayed. Execution and replay share the walk.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_ANALYSIS_WALK_H
#define EXPERIMENTS_PAPERS_POLYDL_ANALYSIS_WALK_H

#include <stdbool.h>

#include "experiments/papers/polydl/variants.h"
#include "kernels/ukr/small.h"
#include "sim/base/access.h"

/* The places of a variant's tensors, and the calls of the walk. */
struct exp_walk {
    struct conv_small_args first; /* the first call; all calls differ in their addresses only */
    size_t n_loops;
    struct {
        uint64_t extent;
        uint64_t bytes[EXP_N_OPERANDS]; /* step of each operand with an iteration */
    } loop[EXP_AFFINE_MAX_LOOPS];
    size_t parallel; /* the loop that threads share; n_loops: none */
};

/* Prepares the walk of a variant whose tensors begin at these addresses. */
void exp_walk_init(struct exp_walk *w, const struct exp_variant *v, const uint64_t base[EXP_N_OPERANDS]);

/* Returns how many calls there are. */
uint64_t exp_walk_calls(const struct exp_walk *w);

typedef void (*exp_walk_fn)(void *ctx, const struct conv_small_args *call);

/*
 * Makes the calls of a thread of n_threads, in order: an equal share of the parallel loop's iterations, neighbours of
 * each other. Where no loop is parallel, thread 0 has all calls.
 */
void exp_walk(const struct exp_walk *w, size_t thread, size_t n_threads, exp_walk_fn call, void *ctx);

/* Executes calls: a micro-kernel of this project, or LIBXSMM's code for these calls. */
struct exp_executor {
    const struct conv_small *small; /* NULL: jit */
    void (*jit)(const float *a, const float *b, float *c);
};

/* Executes the share of a thread. */
void exp_walk_execute(const struct exp_walk *w, size_t thread, size_t n_threads, const struct exp_executor *e);

/*
 * Hands the accesses of thread 0 of n_threads to a sink. Returns 0, or -EINTR as soon as stops(ctx) says so; stops may
 * be NULL.
 */
int exp_walk_replay(const struct exp_walk *w, size_t n_threads, const struct conv_small *small, struct sim_sink *sink,
                    bool (*stops)(void *ctx), void *ctx);

/* Says the places of tensors in replays: one after the other, each on its own pages. */
void exp_operands_replayed(const struct exp_variant *v, uint64_t base[EXP_N_OPERANDS]);

#endif
