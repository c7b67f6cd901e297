/* Replaying an experiment's access streams through the simulated machine. */
#ifndef EXPERIMENTS_EXP_REPLAY_H
#define EXPERIMENTS_EXP_REPLAY_H

#include <stddef.h>

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/setup/exp_case.h"
#include "experiments/store/exp_tasks.h"

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

/* Tells whether a setup's replays take so long that keeping their counts costs less than 1 % of them. */
bool exp_replay_is_worth_keeping(const struct exp_setup *s);

/* Does the same for several experiments. */
int exp_replay_batch(const struct exp_replay_batch *b, struct exp_why *why);

/* Holds what the user asked for; the last three as exp_main_store takes them. */
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

#endif
