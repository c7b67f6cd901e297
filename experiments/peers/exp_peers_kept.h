/* Keeps what was timed of a network as the result of a task, in the results store. */
#ifndef EXPERIMENTS_EXP_PEERS_KEPT_H
#define EXPERIMENTS_EXP_PEERS_KEPT_H

#include "experiments/peers/exp_peers.h"
#include "experiments/store/exp_result.h"

/* Says where and when a network was timed. */
struct exp_peers_origin {
    char on[192];      /* host and CPU model */
    uint64_t core, at; /* seconds since 1970 */
};

/* Puts all that exp_peers_measure found, and why methods did not run. Errors are the result's own. */
void exp_peers_keep(struct exp_result *to, const struct exp_peers *p, const struct exp_peers_origin *o);

/* Reads it back into a network that is planned. Returns 0, -ENOMEM, or -EINVAL if it is of another one. */
int exp_peers_recall(const struct exp_result *from, struct exp_peers *p, struct exp_peers_origin *o);

#endif
