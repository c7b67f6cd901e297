/*
 * Hardware prefetchers of the full engine: each watches the requests that arrive at its level and names lines to bring
 * into it. One file each (prefetch_<name>.h), one line each in SIM_PREFETCH_KINDS (levels.h) and prefetch_kinds.h.
 *
 * What they see: at the first level, every line of a load or store; further out, every line read, also what prefetchers
 * of the levels inside ask for. Not write-backs, not stores passing through, not software prefetches, not what their
 * own level prefetches. A request for the same line as the one just before, from the same instruction, changes nothing
 * in any of them, and asks for nothing, if it hits and is not the first use of a prefetched line. hierarchy.h says when
 * the lines come.
 *
 * Words that most of them take:
 *
 *   on       all | miss | demand: which of the requests they see. miss: those that miss, or are the first for a line
 *            that was prefetched; demand: those that miss and come from a load or store, not from a prefetcher
 *   pages    stay | cross: stay drops lines outside of the 4 KiB of the address space that the request is in, since
 *            hardware that sees physical addresses knows nothing about what is next in memory
 *   late     until this many requests have arrived at the first level (lines of loads and stores) after a line was
 *            asked for, it has not come: see late prefetches in stats.h. 0, in time, if not given. Nothing else is
 *            delayed
 *   entries  how many pages, or instructions, are watched; the one unused for longest gives way
 *   key      tag | run: what stands for an instruction's address, which is not in our traces: the tag, or tag, phase
 *            and place of the run in its burst
 *
 *   next_line  degree   A request asks for the next degree lines (Smith, Computing Surveys 14, 1982: tagged prefetch).
 *              on (miss), pages (stay), late
 *   pair       A request asks for the other line of the two that lie on an even line.
 *              on (miss), late
 *   stream     degree   Watches the `entries` blocks of 4 KiB that were used last. The first request in a block only
 *              distance enters it; a request for the block's last line again changes nothing. Any other has a
 *              train    direction, up or down from the last line. A change of direction (the first direction is one)
 *              first    starts the stream anew, in that direction, with this step as the first; a step of more than
 *              reach    reach lines does so with none. The train-th step in the same direction and every later one
 *                       asks for up to degree lines (the train-th: first lines, if that is given), onward from what
 *                       was asked for last (if that is behind: from the line after this one), at most distance lines
 *                       ahead. With pages = cross a request for the line next to the last of a stream that ran to
 *                       its block's end takes it on into the next block.
 *              entries (16), on (all), pages (stay), late; train (2), reach (64)
 *   stride     degree   Watches each instruction. The difference to its last line, if not 0, is its stride; when it has
 *              distance been the same train times or more in a row, line + stride * (distance + i) is asked for,
 *              train    i < degree.
 *              key (tag), entries (8), on (all), pages (stay), late; train (3)
 *   region     degree   Watches each instruction. Its first request opens a region; later ones at most distance lines
 *              distance above or below that are its footprint, any other closes it and opens another. If a region's
 *              train    footprint was that of the region before, train times in a row, opening one asks for the
 *                       footprint's lines in ascending order, unless these are more than degree: those are streams.
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

/* The words that a prefetcher may take, as bits. */
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
    struct sim_prefetch usual; /* what stands for a 0 */
};

/* By enum sim_prefetch_kind; NULL first. */
extern const struct sim_prefetcher *const sim_prefetchers[SIM_PREFETCH_KINDS_END];

/* A word of machine files that all prefetchers that take it share. */
struct sim_prefetch_param {
    const char *name;
    unsigned bit;             /* of takes */
    size_t offset;            /* of the uint8_t in struct sim_prefetch */
    uint8_t max;              /* from 1 */
    const char *const *word;  /* what it may be, by value from 1, NULL last; NULL: a number */
    const char *rule, *fault; /* for messages */
};

extern const struct sim_prefetch_param sim_prefetch_params[]; /* ends with one without a name */

static inline const uint8_t *sim_prefetch_value(const struct sim_prefetch_param *p, const struct sim_prefetch *f)
{
    return (const uint8_t *)f + p->offset;
}

/* Tells whether f's value of p is one that f's kind, which is valid, can have. */
bool sim_prefetch_param_fits(const struct sim_prefetch_param *p, const struct sim_prefetch *f);

/* f with what is usual in place of every 0. */
struct sim_prefetch sim_prefetch_resolve(const struct sim_prefetch *f);

#endif
