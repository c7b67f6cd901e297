/*
 * Hardware prefetchers of the full engine: each watches the requests that arrive at its level and names lines to bring
 * into it. One file each (prefetch_<name>.c).
 *
 * What they see: at the first level, every line of a load or store; further out, every line read. Not write-backs, not
 * stores passing through, not software prefetches, not what their own level prefetches. What they may ask for: lines in
 * the same 4 KiB of the address space as the line that made them ask (the engine drops others), since hardware knows no
 * more than that about what is next in memory. hierarchy.h says when the lines come.
 *
 *   next_line  degree   A request that misses, or is the first for a line that was prefetched, asks for the next degree
 *                       lines (Smith, Computing Surveys 14, 1982: tagged prefetch).
 *   stream     degree   Watches the 16 blocks of 4 KiB that were used last (LRU). The first request in a block only
 *              distance enters it; a request for the block's last line again changes nothing. Any other has a
 *                       direction, up or down from the last line. A change of direction (the first direction is one)
 *                       starts the stream anew, in that direction, with nothing asked for. A second step in the same
 *                       direction and every later one asks for up to degree lines, onward from what was asked for last
 *                       (if that is behind: from the line after this one), at most distance lines ahead.
 *   stride     degree   Watches each tag. The difference to the tag's last line, if not 0, is its stride; when it has
 *              distance been the same three times or more in a row, line + stride * (distance + i) is asked for,
 *                       i < degree. (The instruction's address, which hardware uses, is not in our traces.)
 */
#ifndef SIM_PREFETCH_H
#define SIM_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/access.h"
#include "sim/machine/machine.h"

enum { SIM_STREAMS = 16 };

struct sim_stream {
    bool is_valid;
    bool is_trained;
    int8_t direction; /* 0: none yet */
    uint64_t block;
    int64_t last;
    int64_t head; /* the next line to ask for */
    uint64_t used;
};

/* What one prefetcher remembers; zeroed at the start. */
struct sim_prefetch_state {
    struct sim_stream stream[SIM_STREAMS];
    uint64_t clock;
    struct {
        bool is_valid;
        int64_t last;
        int64_t stride;
        unsigned n_same;
    } tag[SIM_MAX_TAGS];
};

struct sim_prefetch_request {
    int64_t line;        /* number: address / line size */
    unsigned line_shift; /* log2 of the line size */
    unsigned tag;
    bool is_hit;
    bool is_first_use; /* of a line that was prefetched */
};

/* Notes a request and writes what to prefetch to want[SIM_MAX_PREFETCH_LINES], in order; returns how many lines. */
typedef size_t (*sim_prefetch_fn)(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                                  const struct sim_prefetch_request *r, int64_t *want);

size_t sim_prefetch_next_line(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                              const struct sim_prefetch_request *r, int64_t *want);
size_t sim_prefetch_stream(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                           const struct sim_prefetch_request *r, int64_t *want);
size_t sim_prefetch_stride(struct sim_prefetch_state *s, const struct sim_prefetch *p,
                           const struct sim_prefetch_request *r, int64_t *want);

#endif
