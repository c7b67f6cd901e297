/* Replaying an experiment's access streams through the simulated machine. */
#ifndef EXPERIMENTS_EXP_REPLAY_H
#define EXPERIMENTS_EXP_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/exp_case.h"
#include "experiments/exp_progress.h"

/*
 * Replays every case that can be replayed, identical ones once, on n_threads threads; each from empty caches, or with
 * is_warm counting only the second of two runs. Returns 0; -EINTR if interrupted; -ENOMEM with one line in why.
 */
int exp_replay_all(struct exp_experiment *e, bool is_warm, unsigned n_threads, struct exp_progress *progress, char *why,
                   size_t why_bytes);

/* The work of replaying a case, in the unit of exp_verify_weight, for progress estimates. */
double exp_replay_weight(const struct exp_case *c);

#endif
