/*
 * Hardware prefetchers of the full engine: each watches the requests that arrive at its level and names lines to bring
 * into the level. A prefetcher is a file (prefetch_<name>.h), a line in SIM_PREFETCH_KINDS (levels.h) and a line in
 * prefetch_kinds.h.
 *
 * Seen requests: at the first level, every line of a load or store; further out, every line read, also for prefetchers
 * of the levels inside. Not seen: write-backs, stores passing through, software prefetches, prefetches of the own
 * level. A repeated request for a line, from the same instruction, changes nothing in any prefetcher, and asks for
 * nothing, if the request hits and is not the first use of a prefetched line. hierarchy.h says when the lines come.
 *
 * Parameters of most prefetchers:
 *
 *   on       all | miss | demand: the seen requests. miss: requests that miss, or that are the first for a prefetched
 *            line; demand: requests that miss and come from a load or store, not from a prefetcher
 *   pages    stay | cross: stay drops lines outside of the request's 4 KiB of the address space, because hardware with
 *            physical addresses knows nothing about the next page
 *   late     a prefetched line has not come until `late` requests have arrived at the first level (lines of loads and
 *            stores) after the prefetch: see late prefetches in stats.h. 0, in time, if not given. Nothing else is
 *            delayed
 *   entries  watched pages, or instructions; the entry unused for longest gives way
 *   key      tag | run: the stand-in for an instruction's address, absent from our traces: the tag, or tag, phase
 *            and place of the run in its burst
 *
 *   next_line  degree   A request asks for the next degree lines (Smith, Computing Surveys 14, 1982: tagged prefetch).
 *              on (miss), pages (stay), late
 *   pair       A request asks for the line that forms an aligned pair with its line.
 *              on (miss), late
 *   stream     degree   Watches the `entries` blocks of 4 KiB that were used last. The first request in a block only
 *              distance enters the block; a repeated request for the block's last line changes nothing. Any further
 *              train    request has a direction, up or down from the last line. A change of direction (the first
 *              first    direction is a change) starts the stream anew, in the new direction, with this step as the
 *              reach    first; a step of more than reach lines starts the stream without a step. The train-th step in
 *                       a direction and every later step ask for up to degree lines (the train-th: first lines, if
 *                       given), onward from the line asked for last (if that is behind: from the line after this
 *                       request), at most distance lines ahead. With pages = cross a request for the line next to the
 *                       last line of a stream that ran to its block's end continues the stream in the next block.
 *              entries (16), on (all), pages (stay), late; train (2), reach (64)
 *   stride     degree   Watches each instruction. The difference to its last line, if not 0, is its stride. After train
 *              distance equal strides or more in a row, a request asks for line + stride * (distance + i),
 *              train    i < degree.
 *              key (tag), entries (8), on (all), pages (stay), late; train (3)
 *   region     degree   Watches each instruction. Its first request opens a region; later requests at most distance
 *              distance lines above or below are the region's footprint, any further request closes the region and
 *              train    opens another. If a region's footprint equalled the footprint of the region before, train
 *                       times in a row, opening a region asks for the footprint's lines in ascending order, unless
 *                       there are more than degree lines: then the instruction streams.
 *              key (tag), entries (8), on (miss), pages (stay), late; train (1)
 */
#ifndef SIM_PREFETCH_H
#define SIM_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/levels.h"

enum {
    SIM_MAX_PREFETCH_ENTRIES = 64,
    SIM_MAX_REGION_DISTANCE = 31,
    SIM_PREFETCH_BLOCK_SHIFT = 12,
};

/* The parameters of a prefetcher, as bits. */
enum {
    SIM_PREFETCH_TAKES_DEGREE = 1 << 0,
    SIM_PREFETCH_TAKES_DISTANCE = 1 << 1,
    SIM_PREFETCH_TAKES_TRAIN = 1 << 2,
    SIM_PREFETCH_TAKES_FIRST = 1 << 3,
    SIM_PREFETCH_TAKES_ENTRIES = 1 << 4,
    SIM_PREFETCH_TAKES_LATE = 1 << 5,
    SIM_PREFETCH_TAKES_ON = 1 << 6,
    SIM_PREFETCH_TAKES_KEY = 1 << 7,
    SIM_PREFETCH_TAKES_PAGES = 1 << 8,
    SIM_PREFETCH_TAKES_REACH = 1 << 9,
};

struct sim_prefetcher {
    const char *name;
    unsigned takes;
    struct sim_prefetch usual; /* values in place of 0 */
};

/* By enum sim_prefetch_kind; NULL first. */
extern const struct sim_prefetcher *const sim_prefetchers[SIM_PREFETCH_KINDS_END];

/* A parameter in machine files, shared by all prefetchers with the parameter. */
struct sim_prefetch_param {
    const char *name;
    unsigned bit;             /* of takes */
    size_t offset;            /* of the uint8_t in struct sim_prefetch */
    uint8_t max;              /* from 1 */
    const char *const *word;  /* the words, by value from 1, NULL last; NULL: a number */
    const char *rule, *fault; /* for messages */
};

extern const struct sim_prefetch_param sim_prefetch_params[]; /* ends with a parameter without a name */

static inline const uint8_t *sim_prefetch_value(const struct sim_prefetch_param *p, const struct sim_prefetch *f)
{
    return (const uint8_t *)f + p->offset;
}

/* Tells whether f's kind, which is valid, allows f's value of p. */
bool sim_prefetch_param_fits(const struct sim_prefetch_param *p, const struct sim_prefetch *f);

/* Returns f with the usual value in place of every 0. */
struct sim_prefetch sim_prefetch_resolve(const struct sim_prefetch *f);

#endif
