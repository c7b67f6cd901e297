/* One layer by one method on the tensors that exp_peers_open made. Internal to exp_peers.h. */
#ifndef EXPERIMENTS_EXP_PEERS_RUN_H
#define EXPERIMENTS_EXP_PEERS_RUN_H

#include "experiments/peers/exp_peers.h"

/* Allocates zeros on pages of their own. Returns 0 or -ENOMEM; to be freed. */
int exp_peers_allocate(float **x, size_t bytes);

const struct conv_problem *exp_peers_problem(const struct exp_peers_layer *l);
const size_t *exp_peers_bytes(const struct exp_peers_layer *l); /* of its tensors, by enum conv_tensor */

/* Returns the layer's own tensors and the scratch that all layers share. */
struct conv_binding exp_peers_bind(const struct exp_peers *p, const struct exp_peers_layer *l,
                                   const float *packed_filter);

/* Runs a method that runs here (why_not). Returns 0 or -errno. */
int exp_peers_run(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m);

#endif
