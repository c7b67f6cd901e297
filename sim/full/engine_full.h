/*
 * The full engine's inside: what its parts share. Internal.
 *
 *   engine_full.c            life, and which variant an object gets
 *   engine_full_<isa>.c      the variants: engine_full_tmpl.h, compiled for an instruction set; they differ in
 *                            base/search.h
 *   engine_full_level.c      what one level holds
 *   engine_full_tlb.c        a TLB
 *   engine_full_relay.c      followers, which share a leader's first level
 *
 * The template, one part after the other; they are one piece of code for the compiler, which inlines the usual way:
 *
 *   engine_full_prefetch_tmpl.h   what prefetchers ask for, waiting in a queue
 *   engine_full_path_tmpl.h       a request on its way out through the levels: fetches, writes, victims
 *   engine_full_combine_tmpl.h    write-combining buffers
 *   engine_full_access_tmpl.h     an access, or its part in one line, with all that it causes
 *   engine_full_relay_tmpl.h      what the first level asks of those behind it, asked by followers, too
 *   engine_full_tmpl.h            bursts, cut into accesses and lines; flushing
 *   engine_full_records_tmpl.h    records, of which those that repeat others are only counted
 */
#ifndef SIM_ENGINE_FULL_H
#define SIM_ENGINE_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/bursts.h"
#include "sim/cpu.h"
#include "sim/engine/engine.h"
#include "sim/full/engine_full_level.h"
#include "sim/full/engine_full_tlb.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

#define SIM_FULL_ADDRESS_MASK (((uint64_t)1 << SIM_ADDRESS_BITS) - 1)

enum { SIM_FULL_LATE_SHIFT = 24, SIM_FULL_PLACE_SHIFT = 32 };

/*
 * A line that a prefetcher asked for, and on whose account: level, tag, phase, `late` and the prefetcher's place in its
 * level, a byte each, in one word.
 */
struct sim_full_wanted {
    uint64_t line;
    uint64_t by;
    uint64_t *row; /* of the first level, if it is known that the line is not there; NULL: it is to be looked for */
    struct sim_cell *cell;
};

static inline uint64_t sim_full_asking(size_t level, uint32_t tag, uint32_t phase, uint8_t late, size_t place)
{
    return level | tag << 8 | phase << 16 | (uint64_t)late << SIM_FULL_LATE_SHIFT |
           (uint64_t)place << SIM_FULL_PLACE_SHIFT;
}

static inline size_t sim_full_asking_level(uint64_t by)
{
    return by & UINT8_MAX;
}

static inline unsigned sim_full_asking_tag(uint64_t by)
{
    return by >> 8 & UINT8_MAX;
}

static inline unsigned sim_full_asking_phase(uint64_t by)
{
    return by >> 16 & UINT8_MAX;
}

static inline unsigned sim_full_asking_late(uint64_t by)
{
    return by >> SIM_FULL_LATE_SHIFT & UINT8_MAX;
}

static inline unsigned sim_full_asking_place(uint64_t by)
{
    return (unsigned)(by >> SIM_FULL_PLACE_SHIFT);
}

struct sim_full;

struct sim_full_buffer {
    uint64_t unit;
    uint8_t owner; /* tag */
};

/* What stands for an instruction: tag, phase and place in the burst in one number. */
static inline uint32_t sim_full_run(unsigned tag, unsigned phase, unsigned place)
{
    return (tag * SIM_MAX_PHASES + phase) * SIM_MAX_BURST_RUNS + place;
}

static inline unsigned sim_full_run_tag(uint32_t run)
{
    return run / SIM_MAX_BURST_RUNS / SIM_MAX_PHASES;
}

static inline unsigned sim_full_run_phase(uint32_t run)
{
    return run / SIM_MAX_BURST_RUNS % SIM_MAX_PHASES;
}

/* On whose account something happens; how far out its reads had to go: misses at all levels before. */
struct sim_full_request {
    struct sim_cell *cell;
    uint32_t tag; /* words, all of them: bytes would be put together, and then waited for */
    uint32_t phase;
    uint32_t source;
    uint32_t by;  /* tag and phase: a part of what struct sim_full_wanted says */
    uint32_t run; /* sim_full_run() */
    bool is_prefetch;
    bool is_instructed; /* a prefetch instruction asks */
    bool is_walk;       /* of a page table */
};

/*
 * What leaves the first level, for followers (sim_hierarchy_follow): the leader notes it, and each follower does the same
 * at its own levels behind the first. The first level of machines that may share it sees nothing of those behind. Both
 * have one queue for what prefetchers of all levels ask for, so that its order is noted, too.
 */
enum sim_full_event {
    SIM_FULL_READS,    /* a line */
    SIM_FULL_WRITES,   /* a line, back */
    SIM_FULL_ASKS,     /* a prefetcher of the first level, for a line that waits in the queue from now on */
    SIM_FULL_RUNS,     /* what waits comes in: of each line that those asked for, its reads and writes, and then ... */
    SIM_FULL_HAS_COME, /* ... this */
    SIM_FULL_LOAD_MISSED /* a load is through: all reads since the load before but prefetchers', stores' and walks' */
};

/* Says who reads. */
enum { SIM_FULL_BY_STORE = 1, SIM_FULL_BY_PREFETCH = 2, SIM_FULL_BY_INSTRUCTION = 4, SIM_FULL_BY_WALK = 8 };

struct sim_full_note {
    uint64_t line;
    uint64_t time; /* n_requests */
    uint32_t run;  /* sim_full_run() */
    uint8_t event, by;
};

/* The hot part, compiled for an instruction set. Without functions: not for this CPU family. */
struct sim_full_variant {
    const char *name;
    enum cpu_isa isa;
    void (*accept)(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);
    void (*records)(struct sim_hierarchy *h, const uint64_t *record, size_t n);
    void (*flush)(struct sim_hierarchy *h, unsigned phase);
    void (*follow)(struct sim_full *f, const struct sim_full_note *note, size_t n); /* does what was noted */
};

extern const struct sim_full_variant sim_full_avx512, sim_full_avx2, sim_full_portable;

struct sim_full {
    struct sim_hierarchy base; /* first */
    const struct sim_full_variant *variant;
    struct sim_machine machine;
    size_t n_levels;
    struct sim_full_level level[SIM_MAX_LEVELS];
    struct sim_full_tlb tlb[SIM_MAX_TLBS];
    uint64_t last_page;
    unsigned page_shift;
    struct sim_full_wanted queue[SIM_FULL_QUEUE];
    struct sim_prefetch_lines asked; /* by a prefetcher: several lines, that are dealt with next */
    uint64_t queue_first, queue_end; /* of all lines ever asked for; that modulo SIM_FULL_QUEUE is the place */
    struct sim_full_buffer buffer[SIM_MAX_COMBINING_BUFFERS]; /* the oldest first */
    size_t n_buffers;
    unsigned unit_shift;            /* log2 of what a buffer covers: the longest line of all levels */
    bool walks_loads, walks_stores; /* which bursts_tmpl.h can take, see walks() */
    bool hits_repeat;               /* of the first level's policy */
    bool is_usual;                  /* of the first level and its buffers: see touch_times() */
    unsigned page_lines_shift;      /* log2 of the first level's lines in a page */
    bool remembers_hits;            /* all prefetchers of the first level that see hits have entries */
    bool holds_all;                 /* the queue has room for all that one access makes prefetchers ask for */
    uint8_t lone_seer;              /* kind of the one prefetcher that sees hits of the first level: see touch_seen() */
    uint64_t read_lately[SIM_READ_LATELY]; /* lines of the last level that came from memory, in turns */
    uint64_t n_read;
    uint64_t n_requests; /* lines of loads and stores at the first level: the time that prefetches take */
    uint64_t n_changes;  /* grows with whatever the same accesses, made again, would not do again: see bursts_tmpl.h */
    struct sim_bursts bursts;
    struct sim_full *leader;    /* of a follower */
    struct sim_full *follower;  /* of a leader: the first one */
    struct sim_full *next;      /* of a follower: the leader's next */
    struct sim_full_note *note; /* [note_room], owned: of a leader, those that followers did not do yet */
    size_t n_notes, note_room;
    size_t n_run;                 /* of these, up to the last time that what waits came in */
    uint64_t n_asks;              /* noted since */
    struct sim_full_request load; /* of a follower: the one on its way */
};

/* Notes that a line of the last level came from memory. Returns whether it is near none of those before. */
bool sim_full_is_scattered(struct sim_full *e, uint64_t line);

/* In place: a copy of what was just written waits. */
static inline void sim_full_request_in(struct sim_full_request *r, struct sim_cell *cell, unsigned tag, unsigned phase,
                                       unsigned place)
{
    r->cell = cell;
    r->tag = tag;
    r->phase = phase;
    r->source = 0;
    r->by = (uint32_t)sim_full_asking(0, tag, phase, 0, 0);
    r->run = sim_full_run(tag, phase, place);
    r->is_prefetch = r->is_instructed = r->is_walk = false;
}

/* For an access of the core: of the run at this place of its burst. */
static inline void sim_full_request_by(struct sim_full_request *r, struct sim_full *e, unsigned tag, unsigned phase,
                                       unsigned place)
{
    sim_full_request_in(r, sim_hierarchy_cell(&e->base, tag, phase), tag, phase, place);
}

static inline void sim_full_request_of(struct sim_full_request *r, struct sim_full *e, unsigned tag, unsigned phase)
{
    sim_full_request_by(r, e, tag, phase, 0);
}

/* Notes an event for followers, of which there is at least one. */
void sim_full_note(struct sim_full *e, enum sim_full_event event, uint64_t line, uint32_t run, unsigned by);

/* Notes what prefetchers of the first level asked for and that was not noted yet. */
void sim_full_note_asks(struct sim_full *e);

/* Has followers do what was noted. */
void sim_full_hand_over(struct sim_full *e);

int sim_full_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels);

/* Tells whether the queue has room for whatever one request, which finds it empty, makes prefetchers ask for. */
bool sim_full_holds_all(const struct sim_machine *m);

#endif
