/* The loaded peers (bench_peer.h) of a benchmark. */
#ifndef SIM_BENCH_PEERS_H
#define SIM_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/machine/machine.h"
#include "sim/programs/bench_peer.h"
#include "sim/programs/bench_streams.h"
#include "sim/base/stats.h"
#include "sim/base/why.h"

enum { BENCH_MAX_PEERS = 8 };

struct bench_peers {
    struct {
        const struct sim_bench_peer *peer;
        void *object, *caches; /* caches: of the last feed */
    } loaded[BENCH_MAX_PEERS];
    size_t n, n_levels;
    struct sim_bench_peer_level level[SIM_MAX_LEVELS];
    struct sim_bench_peer_access *access; /* of the stream filled in last */
    size_t n_accesses;
};

/*
 * Loads the peers in a list of paths with commas between (NULL: none), for a machine. Returns 0, or -errno with a line
 * in why; in both cases bench_peers_release() must follow.
 */
int bench_peers_load(struct bench_peers *p, const char *paths, const struct sim_machine *m, struct sim_why why);
void bench_peers_release(struct bench_peers *p);

/* Takes over the accesses of a stream. Returns 0 or -ENOMEM. */
int bench_peers_fill(struct bench_peers *p, const struct bench_stream *s);

/* Gives peer i empty caches of the machine. Returns whether the peer has caches. */
bool bench_peers_clear(struct bench_peers *p, size_t i);

/* Feeds the stream to peer i. */
void bench_peers_feed(struct bench_peers *p, size_t i);

/* Tells whether the i-th missed as many lines in the first level as a simulation did. */
bool bench_peers_agree(const struct bench_peers *p, size_t i, const struct sim_stats *s);

#endif
