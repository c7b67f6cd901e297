/*
 * ONNX Runtime in a process of its own: what it does there - it crashes, hangs, writes where it must not - costs its own
 * row and not the study. The process is a fork that sees the network as it is when it starts.
 */
#ifndef EXPERIMENTS_NETWORK_PEER_PROCESS_H
#define EXPERIMENTS_NETWORK_PEER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/network/beside.h"

struct net_peer_process;

struct net_peer_ask {
    const char *path;       /* of the library, as net_peer_open has it */
    const struct net *like; /* a network that is loaded, whose graph and inputs ONNX Runtime gets */
    bool optimises;
    unsigned n_threads;
    unsigned limit_s;         /* for each thing that is asked of it, besides 20 ns for each multiply-add of a run */
    double macs;              /* of a run */
    uint64_t (*now_ns)(void); /* the clock of its runs, read in its process */
};

/* What it says of itself, and beside ours. */
struct net_peer_found {
    char version[32];
    char why_not_beside[512], why_no_share[512]; /* "": there is one */
    struct net_distance distance;                /* of net_compare_peer */
    double conv_share;                           /* of net_peer_conv_share */
};

/*
 * Starts the process, which loads the library and makes a session of the graph. Returns 0, and the version in found;
 * -errno with one line in why, which says what the process did if it ended by itself, or how long it was waited for.
 */
int net_peer_start(struct net_peer_process **p, const struct net_peer_ask *ask, struct net_peer_found *found,
                   struct exp_why *why);

/*
 * Compares its values with ours, if that is asked for, and profiles it; g is the graph of ask. Returns as
 * net_peer_start; what cannot be is in found.
 */
int net_peer_look(struct net_peer_process *p, bool compares, struct net_peer_found *found, const struct onnx_graph *g,
                  struct exp_why *why);

/* Runs once. Returns likewise; *ns is by the clock of ask. */
int net_peer_run(struct net_peer_process *p, uint64_t *ns, struct exp_why *why);

void net_peer_end(struct net_peer_process *p); /* with its process; NULL is fine */

#endif
