/*
 * ONNX Runtime as a peer, loaded at run time: ONNX Runtime gets the graph and the weights from memory.
 *
 * The library is libonnxruntime.so.1 of the npm package onnxruntime-node (npm install --ignore-scripts
 * onnxruntime-node). The package has no header. Its C interface is a table of functions with fixed positions; about 20
 * functions of version 11 are used here.
 */
#ifndef EXPERIMENTS_NETWORK_PEER_H
#define EXPERIMENTS_NETWORK_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/base/error.h"
#include "experiments/network/reference.h"
#include "experiments/onnx/graph.h"

struct net_session;

/*
 * Loads the library from path, a file or a folder with an installation. "" or NULL: from the folder convsim in the
 * user's cache (~/.cache), else from the loader's path. Returns 0, or -ENOENT or -EINVAL with a line in why.
 */
int net_peer_open(struct net_peer **p, const char *path, struct exp_why *why);
void net_peer_close(struct net_peer *p); /* NULL is fine; close the sessions first */
const char *net_peer_version(const struct net_peer *p);

struct net_session_ask {
    unsigned n_threads;  /* 0 is 1 */
    bool optimises;      /* all optimisations: fusion, own layouts; otherwise none */
    bool keeps_all;      /* every float of a node is an output */
    const char *profile; /* path prefix of a profile, written at the end of the session; NULL: none */
};

/*
 * Hands a graph to ONNX Runtime. Returns 0; -ENOTSUP with a line in why if ONNX Runtime refuses the graph; -EOVERFLOW
 * for 2 GiB of weights and more. The graph must outlive the session.
 */
int net_session_open(struct net_session **s, const struct net_peer *p, const struct onnx_graph *g,
                     const struct net_session_ask *ask, struct exp_why *why);

/* NULL is fine. Writes the profile, and its path to *profile, to be freed; profile may be NULL. */
void net_session_close(struct net_session *s, char **profile);

/*
 * Runs on inputs in the graph's order; the caller keeps the inputs. *ns, unless NULL: the duration. Returns 0 or -EIO.
 */
int net_session_run(struct net_session *s, const void *const *in, uint64_t *ns, struct exp_why *why);

/* Compares all common values, after runs on equal inputs. */
struct net_distance net_session_compare(const struct net_session *s, const struct net *net);

#endif
