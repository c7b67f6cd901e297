/*
 * The plain engine's inside, shared by its variants. Internal.
 *
 * A variant is a template built for an instruction set (engine_plain_<words>_<isa>.c). Two back-ends keep the caches
 * and answer touches of first-level lines; two front-ends turn the user's accesses into touches:
 *
 *   engine_plain_compact_tmpl.h   words of 32 bits; misses wait in queues. The usual back-end
 *   engine_plain_wide_tmpl.h      words of 64 bits, each miss at once: for line sizes that differ between levels,
 *                                 and for accesses to more memory than compact words can name
 *   engine_plain_bursts_tmpl.h    the front-end of bursts: sim/engine/bursts_tmpl.h and a little
 *   engine_plain_records_tmpl.h   the front-end of records
 *
 * The way of an access, from sim_emit() to a set of the first level and beyond:
 *
 *   accept()                    engine_plain_bursts_tmpl.h          a burst arrives
 *     sweep_burst()             engine_plain_sweeps_tmpl.h          short cut: sliding windows of lines, run by run
 *     walk_times()              engine/bursts_tmpl.h                repetitions; settled repetitions are multiplied
 *       place_run(), walk_once() engine/bursts_walk_tmpl.h           a run's accesses become touches of lines
 *         touch_line()          engine_plain_compact_tmpl.h         a touch: done if the line is in front of its set
 *           use_group()         engine_plain_compact_<isa>.c        else searches the set, moves or fills the line
 *           ask_for()           engine_plain_compact_queues_tmpl.h  after a miss: requests wait in the queue of level 2
 *             answer()          engine_plain_compact_queues_tmpl.h  level 2 takes many requests at once, and so on
 *   settle()                    engine_plain_compact_queues_tmpl.h  sim_hierarchy_stats(): requests become counts
 */
#ifndef SIM_ENGINE_PLAIN_H
#define SIM_ENGINE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/cpu.h"
#include "sim/plain/compact.h"
#include "sim/engine/bursts.h"
#include "sim/engine/engine.h"
#include "sim/plain/lists.h"
#include "sim/plain/word.h"

enum {
    SIM_PLAIN_GROUP_BYTES = 64, /* sets are padded to 64 bytes, sets of compact words perhaps to half */
    SIM_PLAIN_QUEUE = 512,      /* requests that wait for a level; below 64 Ki */
    SIM_PLAIN_AHEAD = 16,       /* lookups between a prefetch for the host and its use */
    SIM_PLAIN_RANGE = 64,       /* consecutive lines that are touched together */
    SIM_PLAIN_SWEEPS = 16,      /* most runs that are swept together */
    SIM_PLAIN_N_REQUESTS = 256, /* kinds of requests, a byte each, see engine_plain_compact_queues_tmpl.h */
    SIM_PLAIN_KINDS = 64,       /* bytes that are counted together */
};

/* Says how a set of compact words is padded. */
enum sim_plain_set_size {
    SIM_PLAIN_SMALL, /* to 8 words */
    SIM_PLAIN_GROUP, /* to 16 */
    SIM_PLAIN_MANY,  /* to a multiple of 16 */
};

/* The data for lookups in a level of compact words, close together. */
struct sim_plain_sets {
    uint32_t *words;   /* n_sets * set_words, owned; NULL if the machine can't have any */
    uint32_t mask;     /* has_mask: the set number's bits of a word */
    uint32_t last_way; /* the bit of the last way, if there are at most 16 ways */
    uint32_t n_ways, n_sets;
    uint32_t set_words;
    enum sim_plain_set_size size;
    bool has_mask;              /* the number of sets is a power of two, small enough for the word to show the set */
    const uint32_t *region_set; /* else: the set of the first line of each region known */
};

/*
 * A level. A set's words are in order of use, most recent first, free ways last, then empty padding that is never
 * touched. Either kind of words is in use, see struct sim_plain.
 */
struct sim_plain_level {
    uint64_t *words;   /* n_sets * set_words, owned */
    uint64_t set_mask; /* n_sets - 1, if has_mask */
    uint64_t n_sets;
    size_t set_words;
    uint32_t n_ways;
    uint32_t line_bytes;
    unsigned line_shift;
    bool has_mask; /* the number of sets is a power of two */
    struct sim_plain_sets compact;
    uint32_t region_set[SIM_MAX_REGIONS + 1];
};

/* Requests on their way to a level, in order. */
struct sim_plain_queue {
    size_t n;
    bool has_missed; /* any line of the load of several whose requests were taken last */
    uint64_t request[SIM_PLAIN_QUEUE + SIM_PLAIN_AHEAD];
    uint64_t n_seen[SIM_PLAIN_N_REQUESTS]; /* requests that have left the queue and are not counted yet */
};

/*
 * Effect of a use of a line on its set. A hit: the word found; a fill: the word pushed out, an empty word for a free
 * way.
 */
struct sim_plain_use {
    uint64_t word;
    bool is_hit;
};

struct sim_compact_use {
    uint32_t word;
    bool is_hit;
};

/*
 * Hierarchies that share their first levels (sim_hierarchy_follow). The leader's requests to the first unshared level
 * are copied into the queue of the follower's level. Words have the leader's names of regions. A follower's own first
 * levels are unused until the leader changes to wide words: then each follower gets a copy of the leader's levels and
 * makes all accesses itself.
 */
struct sim_plain_pack {
    struct sim_plain *leader;   /* of a follower */
    struct sim_plain *follower; /* of a leader: the first follower */
    struct sim_plain *next;     /* of a follower: the leader's next */
    size_t n_levels;            /* of a follower: the requested number of shared levels */
    size_t n_shared;            /* of a follower: the shared levels now; 0: the follower makes all accesses itself */
    bool is_apart;              /* of a leader: the followers make all accesses themselves */
};

struct sim_plain {
    struct sim_hierarchy base; /* first: see engine.h */
    struct sim_plain_pack pack;
    const struct sim_plain_variant *compact; /* NULL: the machine can't have compact words */
    const struct sim_plain_variant *wide;
    const struct sim_plain_variant *variant; /* `compact` or `wide`: the words in use */
    size_t n_levels;
    struct sim_plain_level level[SIM_MAX_LEVELS];
    struct sim_bursts bursts;
    uint64_t ring_bytes;      /* see engine_plain_sweeps_tmpl.h */
    size_t n_sweeps;          /* most runs that can be swept together; 0: no ring */
    uint64_t n_settling;      /* this many lines are in the first level after they were touched in a row */
    struct sim_lists *lists;  /* where touches go instead, see engine_plain_lists_tmpl.h */
    struct sim_splits splits; /* for shards of the caches on several threads */
    uint64_t n_l1_misses;     /* line misses of the first level since creation */
    struct sim_regions regions;
    struct sim_plain_queue queue[SIM_MAX_LEVELS + 1]; /* by level; [0] is not used, [n_levels] goes to memory */
};

struct sim_plain_variant {
    const char *name;
    enum cpu_isa isa; /* the instruction set that the variant needs */
    void (*accept)(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);
    void (*records)(struct sim_hierarchy *h, const uint64_t *record, size_t n);
    void (*touch_listed)(struct sim_plain *h, const struct sim_listed *touch, size_t n); /* see lists.h */
    void (*settle)(struct sim_plain *h); /* deals with whatever waits; the statistics are complete then */
    void (*flush)(struct sim_plain *h, unsigned phase);
};

extern const struct sim_plain_variant sim_plain_wide_portable;
extern const struct sim_plain_variant sim_plain_lists_portable; /* touch nothing, see engine_plain_lists_tmpl.h */
extern const struct sim_plain_variant sim_plain_lists_avx2;
extern const struct sim_plain_variant sim_plain_lists_avx512;
extern const struct sim_plain_variant sim_plain_compact_portable;
extern const struct sim_plain_variant sim_plain_compact_avx2;   /* without accept unless compiled for x86-64 */
extern const struct sim_plain_variant sim_plain_compact_avx512; /* without accept unless compiled for x86-64 */

/* Makes an object without caches: touches go into the lists. NULL: no memory. free() frees the object. */
struct sim_plain *sim_plain_new_front(const struct sim_machine *m, struct sim_lists *lists);

/* Empties a level of wide words. */
void sim_plain_clear_wide(struct sim_plain_level *c);

/* Lets a variant of the engine take what comes. */
void sim_plain_use_variant(struct sim_plain *h, const struct sim_plain_variant *v);

/* From compact words to whole ones, from one access to the next. */
void sim_plain_widen(struct sim_plain *h);

/* engine_plain_pack.c: a follower's counts made complete; followers on their own, before their leader changes over. */
void sim_plain_pack_complete(struct sim_plain *follower);
void sim_plain_pack_part(struct sim_plain *leader);
int sim_plain_pack_follow(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels);

/* Takes a leader's accesses. */
void sim_plain_pack_accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);

/*
 * The plain engine bound to a variant, for tests and benchmarks; wide: to wide words. -ENOTSUP if this CPU does not
 * execute the variant, or CONV_CPU masks the variant.
 */
extern const struct sim_engine sim_engine_avx512;
extern const struct sim_engine sim_engine_avx2;
extern const struct sim_engine sim_engine_portable;
extern const struct sim_engine sim_engine_wide;

/* Returns the name of the variant in use. */
const char *sim_plain_variant_name(const struct sim_hierarchy *h);

static inline const struct sim_paths *sim_plain_paths(const struct sim_hierarchy *h)
{
    return &((const struct sim_plain *)h)->bursts.paths;
}

#endif
