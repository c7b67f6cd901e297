/*
 * The full engine's inside, shared by its parts. Internal.
 *
 *   engine_full.c            objects, and the choice of the variant
 *   engine_full_<isa>.c      the variants: engine_full_tmpl.h, compiled for an instruction set; the variants differ in
 *                            base/search.h
 *   engine_full_level.c      the content of a level
 *   engine_full_tlb.c        a TLB
 *   engine_full_relay.c      followers: hierarchies that share a leader's first level
 *
 * The template consists of the following parts. For the compiler they are one piece of code, with the usual way
 * inlined:
 *
 *   engine_full_prefetch_tmpl.h   lines that prefetchers ask for, waiting in a queue
 *   engine_full_path_tmpl.h       a request on its way out through the levels: fetches, writes, victims
 *   engine_full_combine_tmpl.h    write-combining buffers
 *   engine_full_access_tmpl.h     an access, or its part in a line, with all consequences
 *   engine_full_relay_tmpl.h      requests of the first level to the levels behind, replayed by followers
 *   engine_full_tmpl.h            bursts, cut into accesses and lines; flushing
 *   engine_full_touch_tmpl.h      lines of skipped parts of a stream
 *   engine_full_records_tmpl.h    records; repeated records are only counted
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
 * A line that a prefetcher asked for, and the account: level, tag, phase, `late` and the prefetcher's index in its
 * level, a byte each, in a word.
 */
struct sim_full_wanted {
    uint64_t line;
    uint64_t by;
    uint64_t *row; /* the row of a line known to be absent from the first level; NULL: the line must be looked for */
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

/* A prefetched line on its way, by its number at the first level. */
struct sim_full_flight {
    uint64_t line;
    double due;      /* cycles, by sim_full.now */
    uint32_t source; /* the level that sends the line; n_levels: memory */
};

/* A wait of a load: the number of its request, and cycles. */
struct sim_full_stall {
    uint64_t request;
    double cycles;
};

enum { SIM_FULL_FLIGHTS = 1024, SIM_FULL_STALLS = 64 };

struct sim_full_buffer {
    uint64_t unit;
    uint8_t owner; /* tag */
};

/* Returns a number that stands for an instruction: tag, phase and place in the burst. */
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

/* The account of a request, and its source: reads missed all levels before. */
struct sim_full_request {
    struct sim_cell *cell;
    uint32_t tag; /* a 32-bit word, like phase and source: a store of bytes would delay a later load of the word */
    uint32_t phase;
    uint32_t source;
    uint32_t by;  /* tag and phase, as in struct sim_full_wanted */
    uint32_t run; /* sim_full_run() */
    bool is_prefetch;
    bool is_instructed; /* a prefetch instruction asks */
    bool is_walk;       /* of a page table */
};

/*
 * Events of the first level, for followers (sim_hierarchy_follow). The leader notes the events, and each follower
 * replays the events at its own levels behind the first. The first level of machines that may share the level sees
 * nothing of the levels behind. Prefetchers of all levels have a common queue, so the order of the queue is noted, too.
 */
enum sim_full_event {
    SIM_FULL_READS,       /* a line */
    SIM_FULL_WRITES,      /* a line, back */
    SIM_FULL_ASKS,        /* a prefetcher of the first level asked for a line, which waits in the queue from now on */
    SIM_FULL_RUNS,        /* the queue comes in: for each line of the first level its reads and writes, then ... */
    SIM_FULL_HAS_COME,    /* ... this */
    SIM_FULL_LOADS_FIRST, /* a load uses a prefetched line of the first level */
    SIM_FULL_LOAD_MISSED  /* a load is finished: all reads since, without prefetches, stores and walks */
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
    void (*touch)(struct sim_hierarchy *h, const struct sim_run *lines);
    void (*touch_far)(struct sim_hierarchy *h, const struct sim_run *lines);
    bool (*reads_ahead)(struct sim_hierarchy *h, const struct sim_run *lines);
    void (*follow)(struct sim_full *f, const struct sim_full_note *note, size_t n); /* replays events */
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
    struct sim_prefetch_lines asked; /* several lines that a prefetcher asked for, handled next */
    uint64_t queue_first, queue_end; /* count all requested lines; modulo SIM_FULL_QUEUE: the place in the queue */
    struct sim_full_buffer buffer[SIM_MAX_COMBINING_BUFFERS]; /* the oldest first */
    size_t n_buffers;
    unsigned unit_shift;            /* log2 of a buffer's bytes: the longest line of all levels */
    bool walks_loads, walks_stores; /* bursts_tmpl.h can take loads, stores: see walks() */
    bool hits_repeat;               /* of the first level's policy */
    bool is_usual;                  /* the usual kind of first level and buffers: see touch_times() */
    unsigned page_lines_shift;      /* log2 of the first level's lines in a page */
    bool remembers_hits;            /* all prefetchers of the first level for hits have entries */
    bool holds_all;                 /* the queue has room for all requests that an access can cause */
    uint8_t lone_seer;              /* kind of the only prefetcher for hits of the first level: see touch_seen() */
    uint64_t read_lately[SIM_MAX_RECENT_LINES]; /* recent lines from memory, a ring of lines of the last level */
    uint64_t n_read;
    uint64_t n_requests; /* lines of loads and stores at the first level: the clock of prefetches */
    double now;          /* the core's cycles, by sim_hierarchy_set_pace() */
    uint64_t n_timed;    /* n_requests at `now` */
    struct sim_full_stall stall[SIM_FULL_STALLS]; /* a ring */
    uint64_t n_stalls;
    struct sim_full_flight flight[SIM_FULL_FLIGHTS]; /* by the line's number modulo SIM_FULL_FLIGHTS */
    uint64_t n_changes; /* grows if equal accesses, made again, could have another effect: see bursts_tmpl.h */
    struct sim_bursts bursts;
    struct sim_full *leader;    /* of a follower */
    struct sim_full *follower;  /* of a leader: the first follower */
    struct sim_full *next;      /* of a follower: the leader's next */
    struct sim_full_note *note; /* [note_room], owned: of a leader, events that followers have not replayed yet */
    size_t n_notes, note_room;
    size_t n_run;                 /* events up to the last SIM_FULL_RUNS */
    uint64_t n_asks;              /* noted since */
    struct sim_full_request load; /* of a follower: the load in progress */
};

/* Notes a line on its way to a prefetcher's level. The pace of the phase is known. */
void sim_full_depart(struct sim_full *e, size_t level, uint64_t line, const struct sim_full_request *r);

/* Has a load wait for a line on its way. The pace of the phase is known. */
void sim_full_await(struct sim_full *e, uint64_t line, const struct sim_full_request *r);

static inline bool sim_full_has_pace(const struct sim_full *e, const struct sim_full_request *r)
{
    return e->base.pace[r->phase].request_cycles > 0;
}

/* Notes that a line of the last level came from memory. Returns whether the line is far from the recent lines. */
bool sim_full_is_scattered(struct sim_full *e, uint64_t line);

/* Fills a request in place: a copy would wait for the parts just written. */
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

/* Fills a request for an access of the core; place: the run's place in its burst. */
static inline void sim_full_request_by(struct sim_full_request *r, struct sim_full *e, unsigned tag, unsigned phase,
                                       unsigned place)
{
    sim_full_request_in(r, sim_hierarchy_cell(&e->base, tag, phase), tag, phase, place);
}

static inline void sim_full_request_of(struct sim_full_request *r, struct sim_full *e, unsigned tag, unsigned phase)
{
    sim_full_request_by(r, e, tag, phase, 0);
}

/* Notes an event for followers. There is at least one follower. */
void sim_full_note(struct sim_full *e, enum sim_full_event event, uint64_t line, uint32_t run, unsigned by);

/* Notes the new requests of the first level's prefetchers. */
void sim_full_note_asks(struct sim_full *e);

/* Has followers replay the events. */
void sim_full_hand_over(struct sim_full *e);

int sim_full_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels);

/* Tells whether an empty queue has room for all prefetches that a request can cause. */
bool sim_full_holds_all(const struct sim_machine *m);

#endif
