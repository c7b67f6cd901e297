/*
 * Runs ONNX Runtime in a separate process: if ONNX Runtime crashes, hangs or writes to wrong addresses, the study loses
 * a row and goes on. The process is a fork and sees the network as loaded at the time of the fork.
 */
#ifndef EXPERIMENTS_NETWORK_PEER_PROCESS_H
#define EXPERIMENTS_NETWORK_PEER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/network/reference.h"

struct net_peer_process;

struct net_peer_ask {
    const char *path;       /* of the library, as for net_peer_open */
    const struct net *like; /* a loaded network: ONNX Runtime gets its graph and inputs */
    bool optimises;
    unsigned n_threads;
    unsigned limit_s;         /* for each task, plus 20 ns for each multiply-add of a run */
    double macs;              /* multiply-adds of a run */
    uint64_t (*now_ns)(void); /* the clock of runs, read in ONNX Runtime's process */
};

/* Results of ONNX Runtime's process. */
struct net_peer_found {
    char version[32];
    struct net_distance distance; /* of net_compare_peer */
    double conv_share;            /* of net_peer_conv_share; NaN: not known */
    struct exp_why missing[2];    /* why distance [0] and conv_share [1] are not known; "": known */
};

/*
 * Starts the process: it loads the library and makes a session of the graph. Returns 0 and sets found->version; else
 * -errno with a line in why: how the process ended or how long the study waited.
 */
int net_peer_start(struct net_peer_process **p, const struct net_peer_ask *ask, struct net_peer_found *found,
                   struct exp_why *why);

/*
 * Profiles ONNX Runtime and, if `compares`, compares its values with ours. g: the graph of ask. Returns 0 or -errno as
 * net_peer_start does; found says why a result is missing.
 */
int net_peer_look(struct net_peer_process *p, bool compares, struct net_peer_found *found, const struct onnx_graph *g,
                  struct exp_why *why);

/* Runs once; *ns is measured by ask->now_ns. Returns 0 or -errno as net_peer_start does. */
int net_peer_run(struct net_peer_process *p, uint64_t *ns, struct exp_why *why);

void net_peer_end(struct net_peer_process *p); /* ends the process, too; NULL is fine */

#endif
