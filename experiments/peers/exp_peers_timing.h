/* The three ways in which exp_peers_measure times, a module each. Internal to exp_peers.h. All return 0 or -errno. */
#ifndef EXPERIMENTS_EXP_PEERS_TIMING_H
#define EXPERIMENTS_EXP_PEERS_TIMING_H

#include "experiments/peers/exp_peers.h"

/*
 * Times sweeps until the speed-ups stand, and samples the FMA peak and the read bandwidth between them. Methods take
 * turns, each round beginning with another. A timed sweep follows an untimed one by the same method, as one inference
 * follows another: what is left in the outer caches is the method's own doing, not its predecessor's.
 */
int exp_peers_measure_sweeps(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress);

/* Times each layer by itself; each timed run follows one of the same method: caches hold what it leaves in them. */
int exp_peers_measure_hot(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress);

/* Sweeps step by step, of the methods that have steps: EXP_PEERS_PHASE_ROUNDS each. */
int exp_peers_measure_phases(struct exp_peers *p, uint64_t (*now_ns)(void), struct exp_progress *progress);

/* Makes room for n samples of each layer and method. Returns 0 or -ENOMEM. */
int exp_peers_make_samples(struct exp_peers *p, enum exp_peers_cache c, size_t n);

/* Tells how long a part of the work takes on a usual computer: parts of exp_peers_seconds. */
double exp_peers_macs(const struct exp_peers *p); /* of the network */
double exp_peers_hot_seconds(double macs, const struct exp_peers_options *o);
double exp_peers_phases_seconds(double macs);

#endif
