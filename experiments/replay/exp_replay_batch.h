/*
 * The streams of an experiment, one by one: what exp_replay_batch hands to its threads. Internal to experiments/replay.
 */
#ifndef EXPERIMENTS_EXP_REPLAY_BATCH_H
#define EXPERIMENTS_EXP_REPLAY_BATCH_H

#include "experiments/base/exp_error.h"
#include "experiments/base/exp_pool.h"
#include "experiments/replay/exp_replay.h"

/* Returns how many streams there are: a case each, or for a whole network an algorithm each. */
size_t exp_replay_streams(const struct exp_experiment *e, enum exp_cache_state cache);

/* Estimates what a stream takes on one thread of a usual computer; 0: another one's counts are copied. */
double exp_replay_stream_seconds(const struct exp_experiment *e, enum exp_cache_state cache, size_t stream);

/* Replays a stream on n_threads threads. Returns 0, -EINTR, -ECANCELED if the pool stops, -ENOMEM or -EBADMSG. */
int exp_replay_stream(const struct exp_replay_batch *b, struct exp_experiment *e, size_t stream, unsigned n_threads,
                      const struct exp_pool *pool);

/*
 * Tells whether the counts of caches alone are others than those of the machine; else they are the same, without the
 * classes that the machine's may have.
 */
bool exp_replay_alone_differs(const struct exp_setup *s);
void exp_replay_forget_classes(struct sim_cell *cell);

/* Replays a batch of one experiment with a store. Returns as exp_replay_batch, but for what follows the last stream. */
int exp_replay_kept(const struct exp_replay_batch *b, struct exp_why *why);

#endif
