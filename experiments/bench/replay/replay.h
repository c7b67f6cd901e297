/* Replaying an experiment's access streams through the simulated machine. */
#ifndef EXPERIMENTS_BENCH_REPLAY_REPLAY_H
#define EXPERIMENTS_BENCH_REPLAY_REPLAY_H

#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/bench/case/case.h"
#include "experiments/base/tasks.h"
#include "kernels/backend/backend.h"
#include "kernels/backend/fused.h"
#include "sim/cores.h"
#include "sim/hierarchy.h"

/* ---- one plan through one simulation ---- */

struct exp_replay_plan {
    const struct conv_plan *plan;
    const struct sim_issue *issue;  /* of the machine: the shape of its multiply-adds */
    const struct conv_stack *stack; /* what compiled code does on its stack; NULL: not replayed */
    struct sim_clock *clock;        /* [n_clocks]: take every step's time, of a replay with a stack */
    size_t n_clocks;
    const struct conv_binding *bind;        /* where tensors are; NULL: at CONV_REPLAY_BASE */
    const struct conv_after *after;         /* what is fused behind it; NULL: nothing */
    struct sim_sink *after_sink;            /* gets the accesses of that, in their place among the others */
    unsigned thread, n_threads;             /* whose share is replayed (kernels/nest/share.h), if there are several */
    const struct exp_pool *pool;            /* the replay ends when this one stops; may be NULL */
    void (*report)(void *ctx, double macs); /* is told what was replayed, step by step; may be NULL */
    void *ctx;
    const char **why; /* gets a plug-in's reason for -ENOTSUP; may be NULL */
};

/*
 * Hands the plan's accesses to a sink; of a plug-in, those of a run. Returns 0 with *mac_instructions, the
 * multiply-adds of the machine's shape that the micro-kernels issue (0: not stated); -EINTR if the program is
 * interrupted, -ECANCELED if the pool stopped for another reason; -ENOTSUP if a plug-in's accesses cannot be had; or
 * what the nest returns.
 */
int exp_replay_plan(const struct exp_replay_plan *r, struct sim_sink *sink, uint64_t *mac_instructions);

/*
 * Replaying one plan as libsconv's threads run it, each on a core of its own: the shares of the threads take turns, so
 * that all have made about as many accesses at any time.
 */

/* Accesses that a core makes before another one's turn: a call or two of a micro-kernel, a microsecond. */
enum { EXP_REPLAY_TURN = 10000 };

/* Says why a plan has no shares for threads; NULL if it has. */
const char *exp_replay_cores_why_not(const struct conv_plan *plan);

/*
 * Hands each share to a core of its own. What r says of threads and bind is not used: all have the same tensors, but
 * for the packed input, of which each has its own; the stack is not replayed. The order of turns does not depend on the
 * computer. mac_instructions[n_cores] as of exp_replay_plan, of each core. Returns as that does; -EAGAIN if there are
 * no more threads.
 */
int exp_replay_cores(const struct exp_replay_plan *r, struct sim_cores *cores, unsigned n_cores,
                     uint64_t *mac_instructions);

/* ---- an experiment ---- */

/*
 * Replays every case that can be replayed, through the machine and through its caches alone, on n_threads threads.
 * Cold and warm: each layer by itself, identical ones once; warm counts only the second of two runs. Network: the
 * layers of an algorithm one after the other through the same caches; a layer reads its input where the layer before
 * wrote its output, if the sizes agree, and all use the same buffers for packed and lowered data.
 *
 * If the setup classifies misses, the machine's simulation is setup->classified. A plain machine is then simulated
 * twice, by two engines of the simulator, which must agree in every other count.
 *
 * Returns 0, or with one line in why: -EINTR if interrupted; -ENOMEM; -EBADMSG if the engines do not agree.
 */
int exp_replay_all(struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads,
                   struct exp_progress *progress, struct exp_why *why);

/* Experiments that are replayed together: what one of them leaves idle, the others use. */
struct exp_replay_batch {
    struct exp_experiment **experiment; /* those of the longest replays are begun first */
    size_t n;
    enum exp_cache_state cache;
    unsigned n_threads;
    struct exp_progress *progress;
    /*
     * NULL, or what is to be done as soon as one of them is replayed: one call at a time, on any thread. Returns 0, or
     * -errno with one line in the why of exp_replay_batch, which ends it.
     */
    int (*done)(void *ctx, size_t index, struct exp_why *why);
    void *ctx;
    /*
     * NULL, or where counts are kept and taken from: of a batch of one experiment, without `done`. counts becomes what
     * came from there.
     */
    struct exp_store *store;
    struct exp_tasks_counts *counts;
};

/* Does the same for several experiments. */
int exp_replay_batch(const struct exp_replay_batch *b, struct exp_why *why);

/* Holds what the user asked for; the last three as exp_store_asked takes them. */
struct exp_replay_asked {
    enum exp_cache_state cache;
    unsigned n_threads;
    const char *store, *results, *known;
};

/* Replays an experiment like this, and takes from the store what it has, if that is worth it. Adds to *counts. */
int exp_replay_as_asked(struct exp_experiment *e, const struct exp_replay_asked *asked, struct exp_progress *progress,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Prints a line that says how many simulations came from the store; nothing if none was used. */
void exp_replay_say_kept(const char *store, const struct exp_tasks_counts *counts, FILE *out);

/* Estimates what a layer takes, in all algorithms, on a usual computer: announced to exp_progress. */
double exp_replay_seconds(const struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads, size_t layer);

/*
 * Estimates what the machine's own simulation takes for a multiply-add on a usual computer, in seconds of one thread.
 */
double exp_replay_mac_seconds(const struct exp_setup *s);

/*
 * The streams of an experiment, one by one: what exp_replay_batch hands to its threads. Internal to replay*.c.
 */

/* Returns how many streams there are: a case each, or for a whole network an algorithm each. */
size_t exp_replay_streams(const struct exp_experiment *e, enum exp_cache_state cache);

/* Estimates what a stream takes on one thread of a usual computer; 0: another one's counts are copied. */
double exp_replay_stream_seconds(const struct exp_experiment *e, enum exp_cache_state cache, size_t stream);

/* Tells whether a setup's replays take so long that keeping their counts costs less than 1 % of them. */
bool exp_replay_is_worth_keeping(const struct exp_setup *s);

/* Explains in why the error err of a stream's replay; for -EINVAL, why the machine cannot be simulated. Returns err. */
int exp_replay_fail(const struct exp_replay_batch *b, const struct exp_experiment *e, size_t stream, int err,
                    struct exp_why *why);

/*
 * Replays a stream on n_threads threads. Returns 0, -EINTR, -ECANCELED if the pool stops, -EBADMSG if two simulations
 * of the stream disagree, or the simulator's error.
 */
int exp_replay_stream(const struct exp_replay_batch *b, struct exp_experiment *e, size_t stream, unsigned n_threads,
                      const struct exp_pool *pool);

/*
 * Copies a clock's counts, rounded to whole cycles; fractions of a cycle have no meaning. The results store keeps
 * integers, so results with and without a store are equal.
 */
void exp_replay_cycles(struct sim_cycles to[CONV_N_PHASES], const struct sim_clock *clock);

/*
 * Tells whether the counts of caches alone are others than those of the machine; else they are the same, without the
 * classes that the machine's may have.
 */
bool exp_replay_alone_differs(const struct exp_setup *s);
void exp_replay_forget_classes(struct sim_cell *cell);

#endif
