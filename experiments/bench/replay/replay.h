/* Replays an experiment's access streams through the simulated machine. */
#ifndef EXPERIMENTS_BENCH_REPLAY_REPLAY_H
#define EXPERIMENTS_BENCH_REPLAY_REPLAY_H

#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/bench/case/case.h"
#include "experiments/base/tasks.h"
#include "kernels/backend/backend.h"
#include "experiments/bench/case/sampled.h"
#include "kernels/backend/fused.h"
#include "sim/cores.h"
#include "sim/hierarchy.h"

/* ---- one plan through one simulation ---- */

struct exp_replay_plan {
    const struct conv_plan *plan;
    const struct sim_issue *issue;  /* of the machine: the shape of a multiply-add */
    const struct conv_stack *stack; /* accesses of compiled code to the stack; NULL: not replayed */
    struct sim_clock *clock; /* [n_clocks]: receive every step's time, of a replay with a stack or of a plug-in */
    size_t n_clocks;
    const struct conv_binding *bind;        /* addresses of the tensors; NULL: from CONV_REPLAY_BASE on */
    const struct conv_after *after;         /* operation fused behind the plan; NULL: nothing */
    struct sim_sink *after_sink;            /* gets the fused operation's accesses, in order with the plan's */
    unsigned thread, n_threads;             /* the replayed share (kernels/nest/share.h), with several threads */
    const struct exp_pool *pool;            /* the replay ends when the pool stops; may be NULL */
    void (*report)(void *ctx, double macs); /* gets the replayed multiply-adds, step by step; may be NULL */
    void *ctx;
    const char **why; /* gets a plug-in's reason for -ENOTSUP; may be NULL */
};

/*
 * Hands the plan's accesses to a sink; of a plug-in, the accesses of a run. Returns 0 with *mac_instructions, the
 * micro-kernels' multiply-adds in the machine's shape (0: not stated); -EINTR if the program is interrupted, -ECANCELED
 * if the pool stopped for another reason; -ENOTSUP if a plug-in's accesses cannot be recorded; or the nest's error.
 */
int exp_replay_plan(const struct exp_replay_plan *r, struct sim_sink *sink, uint64_t *mac_instructions);

/*
 * Replays one plan as libsconv's threads run the plan, each thread on a core of its own: the threads' shares take
 * turns, so that all cores have made about as many accesses at any time.
 */

/* Accesses of a core's turn: a call or two of a micro-kernel, a microsecond. */
enum { EXP_REPLAY_TURN = 10000 };

/* Says why a plan has no shares for threads, or NULL. */
const char *exp_replay_cores_why_not(const struct conv_plan *plan);

/*
 * Hands each share to a core of its own. The members thread, n_threads and bind of r are not used: the cores share all
 * tensors except the packed input, of which each core has a copy; the stack is not replayed. The order of turns does
 * not depend on the computer. mac_instructions[n_cores] as of exp_replay_plan, of each core. Returns as
 * exp_replay_plan; -EAGAIN if no more threads start.
 */
int exp_replay_cores(const struct exp_replay_plan *r, struct sim_cores *cores, unsigned n_cores,
                     uint64_t *mac_instructions);

/* ---- an experiment ---- */

/*
 * Replays every case that can be replayed, through the machine and through the caches alone, on n_threads threads. Cold
 * and warm: each layer alone, identical layers once; warm counts only the second of two runs. Network: an algorithm's
 * layers one after another through one set of caches; a layer reads its input where the layer before wrote its output,
 * if the sizes agree, and all layers use common buffers for packed and lowered data.
 *
 * If the setup classifies misses, the machine's simulation is setup->classified. A plain machine is then simulated
 * twice, by two engines of the simulator, which must agree in every further count.
 *
 * Returns 0, or with one line in why: -EINTR if interrupted; -ENOMEM; -EBADMSG if the engines do not agree.
 */
int exp_replay_all(struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads,
                   struct exp_progress *progress, struct exp_why *why);

/* Experiments that are replayed together: threads left idle by one experiment work for the next. */
struct exp_replay_batch {
    struct exp_experiment **experiment; /* the longest replays begin first */
    size_t n;
    enum exp_cache_state cache;
    unsigned n_threads;
    struct exp_progress *progress;
    /*
     * Called after the replay of each experiment: one call at a time, on any thread. Returns 0, or -errno with one line
     * in the why of exp_replay_batch, which ends the batch. May be NULL.
     */
    int (*done)(void *ctx, size_t index, struct exp_why *why);
    void *ctx;
    /*
     * The store that keeps counts, of a batch of one experiment without `done`; may be NULL. counts becomes the number
     * of results from the store.
     */
    struct exp_store *store;
    struct exp_tasks_counts *counts;
};

/* Replays several experiments. Returns as exp_replay_all. */
int exp_replay_batch(const struct exp_replay_batch *b, struct exp_why *why);

/* The user's options; store, results and known as for exp_store_asked. */
struct exp_replay_asked {
    enum exp_cache_state cache;
    unsigned n_threads;
    const char *store, *results, *known;
};

/*
 * Replays an experiment by the user's options, with results from the store if the store is worth it. Adds to *counts.
 */
int exp_replay_as_asked(struct exp_experiment *e, const struct exp_replay_asked *asked, struct exp_progress *progress,
                        struct exp_tasks_counts *counts, struct exp_why *why);

/* Prints how many simulations came from the store; nothing for none. */
void exp_replay_say_kept(const char *store, const struct exp_tasks_counts *counts, FILE *out);

/* Estimates the seconds of a layer, in all algorithms, on a usual computer, for exp_progress. */
double exp_replay_seconds(const struct exp_experiment *e, enum exp_cache_state cache, unsigned n_threads, size_t layer);

/*
 * Reads SAMPLE= into the setup's sampling. Where auto asks for a sample, the exact replay of the models must need much
 * time: more than 20 s of a usual computer's CPU time, on a machine with more than caches. Model and machine alone decide:
 * every computer chooses alike. needs_all: every access is needed. Returns 0, or -EINVAL with a line in why.
 */
int exp_replay_settle_sampling(struct exp_setup *s, const char *text, const struct exp_model *model, size_t n_models,
                               unsigned algos, bool needs_all, struct exp_why *why);

/*
 * Tells whether classes of misses are worth the time, by SAMPLE= as settled: every access is replayed, and the classes are
 * found in exp_replay_long_seconds, or take a small part of the time of a machine with more than caches.
 */
bool exp_replay_classifies_soon(const struct exp_setup *s, const struct exp_model *model, unsigned algos);

/*
 * Seconds of exact replays, of a usual computer's CPU time, from which on SAMPLE=auto takes samples and CLASSES=auto leaves
 * classes out.
 */
extern const double exp_replay_long_seconds;

/* Tells whether a setup's replay of a plan is sampled: the plan is long enough, and not a plug-in's. */
bool exp_replay_is_sampled(const struct exp_setup *s, const struct conv_plan *plan);

/*
 * Replays a plan through one simulation of a machine with empty caches, sampled as `how` says. Sets the results in *to.
 * Returns as exp_replay_plan; -ERANGE with the hierarchy unused if the stream is too short.
 */
int exp_replay_sampled(const struct exp_replay_plan *r, const struct exp_sampling *how, const struct sim_machine *m,
                       struct sim_hierarchy *h, struct exp_simulated *to);

/* Estimates the seconds of one multiply-add in the machine's simulation on one thread of a usual computer. */
double exp_replay_mac_seconds(const struct exp_setup *s);

/* Estimates the seconds of a plan in the machine's simulation, sampled or not. */
double exp_replay_plan_seconds(const struct exp_setup *s, const struct conv_plan *plan);

/* Takes the quantities with intervals from a replay through the machine; has_cycles: the replay has cycles. */
void exp_replay_quantities(double of[EXP_N_SAMPLED], const struct sim_machine *m, const struct exp_simulated *s,
                           bool has_cycles);

/* The streams of an experiment, one by one, as exp_replay_batch gives them to threads. Internal to this room. */

/* Returns a step's multiply-adds in the machine's shape, and its work for a clock: work[] as of conv_replay. */
uint64_t exp_replay_mac_instructions(const struct exp_replay_plan *r, const struct conv_step *s);
struct sim_work exp_replay_work(const struct exp_replay_plan *r, const struct conv_step *s,
                                const double work[CONV_N_WORKS]);

/* Returns the number of streams: one per case, or for a whole network one per algorithm. */
size_t exp_replay_streams(const struct exp_experiment *e, enum exp_cache_state cache);

/* Estimates the seconds of a stream on one thread of a usual computer; 0: the counts are copied from another stream. */
double exp_replay_stream_seconds(const struct exp_experiment *e, enum exp_cache_state cache, size_t stream);

/* Tells whether a setup's replays are long enough that keeping counts costs less than 1 % of the time. */
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
 * Tells whether the counts of the caches alone differ from the machine's counts; otherwise they are equal, except for
 * the classes of the machine's misses.
 */
bool exp_replay_alone_differs(const struct exp_setup *s);
void exp_replay_forget_classes(struct sim_cell *cell);

#endif
