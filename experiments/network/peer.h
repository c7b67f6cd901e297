/*
 * ONNX Runtime as a peer, loaded at run time: the same graph with the same weights, in memory, whatever the file has.
 *
 * The library is libonnxruntime.so.1 of the npm package onnxruntime-node (npm install --ignore-scripts
 * onnxruntime-node). There is no header in it: its C interface is a table of functions that only grows, of which some
 * 20 are used here, as of version 11.
 */
#ifndef EXPERIMENTS_NETWORK_PEER_H
#define EXPERIMENTS_NETWORK_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/network/beside.h"
#include "experiments/onnx/graph.h"

struct net_session;

/*
 * Loads the library: of path, a file or a folder below which it is installed; "" or NULL: of the folder convsim in the
 * user's cache (~/.cache), else where the loader finds it. Returns 0, or -ENOENT or -EINVAL with one line in why.
 */
int net_peer_open(struct net_peer **p, const char *path, struct exp_why *why);
void net_peer_close(struct net_peer *p); /* NULL is fine; after its sessions */
const char *net_peer_version(const struct net_peer *p);

struct net_session_ask {
    unsigned n_threads;  /* 0 is 1 */
    bool optimises;      /* all that it has: fusion, layouts of its own; otherwise nothing */
    bool keeps_all;      /* every float that a node makes is an output */
    const char *profile; /* writes one, with this prefix, when the session ends; NULL: none */
};

/*
 * Hands it a graph. Returns 0; -ENOTSUP with one line in why for what it does not take; -EOVERFLOW for 2 GiB of weights
 * and more. The graph must outlive the session.
 */
int net_session_open(struct net_session **s, const struct net_peer *p, const struct onnx_graph *g,
                     const struct net_session_ask *ask, struct exp_why *why);

/* NULL is fine. Writes the profile, and its path to *profile, to be freed; profile may be NULL. */
void net_session_close(struct net_session *s, char **profile);

/* Runs on inputs in the order of the graph's, which stay the caller's. *ns: how long; NULL. Returns 0 or -EIO. */
int net_session_run(struct net_session *s, const void *const *in, uint64_t *ns, struct exp_why *why);

/* Compares all values that both have, after both ran on the same inputs. */
struct net_distance net_session_compare(const struct net_session *s, const struct net *net);

#endif
