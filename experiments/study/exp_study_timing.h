/* Times the runs of a sample on this computer. */
#ifndef EXPERIMENTS_EXP_STUDY_TIMING_H
#define EXPERIMENTS_EXP_STUDY_TIMING_H

#include "experiments/study/exp_study_kept.h"

/*
 * Times all runs that this computer can execute, with cold caches: the runs of a layer take turns, round by round, each
 * on tensors of its own; a time is the fastest of its rounds, by the thread's own clock, and a second one the median.
 * Layers share the rounds' time limit evenly; each layer's times are kept, and *n_kept is of how many they were there.
 * Pins the calling thread. Returns 0, or -EINTR, -ENOMEM, -errno of keeping, with one line in why.
 */
int exp_study_time_runs(struct exp_study_runs *r, const struct exp_setup *setup,
                        const struct exp_study_keeping *keeping, size_t *n_kept, char *why, size_t why_bytes);

#endif
