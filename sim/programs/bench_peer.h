/*
 * Another simulator's core beside ours in `make bench-sim`: a shared object that its user builds around the core, given
 * by path, PEERS=./peer.so. The object needs nothing but this header and exports a symbol,
 *
 *     const struct sim_bench_peer sim_bench_peer = { SIM_BENCH_PEER_VERSION, "name", create, feed, l1_misses,
 *                                                    release };
 *
 * The peer gets the records of a stream as an array, and simulates hierarchies of write-back caches, least recently
 * used. The peer's name states its omissions: "cachegrind (no write-backs)". tests/sim/peer_lru.c is an example.
 */
#ifndef SIM_BENCH_PEER_H
#define SIM_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_BENCH_PEER_VERSION = 1 };

struct sim_bench_peer_level {
    uint64_t n_sets;
    uint32_t n_ways, line_bytes;
};

struct sim_bench_peer_access {
    uint64_t addr;
    uint32_t bytes;
    uint32_t is_store; /* 0 or 1 */
};

struct sim_bench_peer {
    unsigned version;
    const char *name;

    /* Returns empty caches, the first level first; NULL: no memory, or the peer cannot simulate the caches. */
    void *(*create)(const struct sim_bench_peer_level *level, size_t n_levels);
    void (*feed)(void *caches, const struct sim_bench_peer_access *access, size_t n);

    /* Returns the missed lines of the first level: they must be as many as ours. */
    uint64_t (*l1_misses)(const void *caches);
    void (*release)(void *caches);
};

#endif
