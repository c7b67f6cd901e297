/*
 * The interface behind the facade (hierarchy.h). An engine is a way to simulate. All engines agree in every count on
 * every machine that several engines can run; the engines differ in features and in speed. Internal: users of the
 * simulator include hierarchy.h; tests include this file to force an engine.
 *
 * An engine's object begins with a struct sim_hierarchy: a pointer to the object is the facade's handle, and accept()
 * reaches the object without a detour.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/access.h"
#include "sim/machine/machine.h"
#include "sim/base/stats.h"

struct sim_hierarchy;

struct sim_engine {
    const char *name;

    /* Tells whether this engine has all features of the machine, which validates. */
    bool (*can_run)(const struct sim_machine *m);

    /* Builds an empty object with sink.accept set; the facade sets the rest. Returns 0 or -errno with *h NULL. */
    int (*create)(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_tags);
    void (*free)(struct sim_hierarchy *h); /* never NULL */

    /* As sim_hierarchy_follow(), for two objects of this engine. NULL: the engine has no followers. */
    int (*follow)(struct sim_hierarchy *follower, struct sim_hierarchy *leader, size_t n_levels);

    /*
     * Exchanges the last levels, with their content, of two objects for equal machines (cores.h). NULL: not possible.
     */
    void (*swap_last)(struct sim_hierarchy *a, struct sim_hierarchy *b);

    /* See record.h. */
    void (*records)(struct sim_hierarchy *h, const uint64_t *record, size_t n);

    /* Brings deferred counts up to date. */
    const struct sim_stats *(*stats)(const struct sim_hierarchy *h);
    void (*clear_stats)(struct sim_hierarchy *h);
    void (*clear)(struct sim_hierarchy *h); /* caches and counts */
    void (*flush)(struct sim_hierarchy *h, unsigned phase);

    /* As sim_hierarchy_touch(). Returns false, and does nothing, where lines need accesses. NULL: all lines do. */
    bool (*touch)(struct sim_hierarchy *h, const struct sim_run *lines);

    /* As sim_hierarchy_touch_far(); likewise. */
    bool (*touch_far)(struct sim_hierarchy *h, const struct sim_run *lines);

    /* As sim_hierarchy_reads_ahead(). NULL: always false. */
    bool (*reads_ahead)(struct sim_hierarchy *h, const struct sim_run *lines);

    /* As sim_hierarchy_begin_skip() and sim_hierarchy_end_skip(). NULL: nothing. */
    void (*begin_skip)(struct sim_hierarchy *h);
    void (*end_skip)(struct sim_hierarchy *h);
};

/* The core's pace in a phase, as sim_hierarchy_set_pace() says. */
struct sim_pace {
    double request_cycles, window_requests;
};

struct sim_hierarchy {
    struct sim_sink sink; /* first, because accept() casts the sink to its object */
    const struct sim_engine *engine;
    struct sim_stats *stats; /* [sim_stats_rows(n_tags)], owned; without deferred counts */
    unsigned n_tags;
    int err; /* the result of sim_hierarchy_error(); 0 after clear */
    struct sim_pace pace[SIM_MAX_PHASES];
};

/* For engines' constructors and destructors. Returns 0 or -ENOMEM. */
int sim_hierarchy_init_stats(struct sim_hierarchy *h, size_t n_levels, unsigned n_tags);
void sim_hierarchy_release_stats(struct sim_hierarchy *h);
void sim_hierarchy_zero_stats(struct sim_hierarchy *h);

/*
 * Copies from a leader the counts of the core, the TLBs and the first n_shared levels. All further counts stay the
 * follower's.
 */
void sim_hierarchy_complete(struct sim_hierarchy *follower, const struct sim_hierarchy *leader, size_t n_shared);

/* Tells whether two machines of the full engine can share their first level. */
bool sim_full_can_share(const struct sim_machine *a, const struct sim_machine *b);

/* Returns the cell of a tag and phase. */
static inline struct sim_cell *sim_hierarchy_cell(struct sim_hierarchy *h, unsigned tag, unsigned phase)
{
    return &h->stats[tag / SIM_USUAL_TAGS].cell[tag % SIM_USUAL_TAGS][phase];
}

/* Least recently used, non-inclusive, write-back, write-allocate, nothing else. */
extern const struct sim_engine sim_engine_plain;

/* All features of hierarchy.h, on any machine that validates. */
extern const struct sim_engine sim_engine_full;

/* The full engine, compiled for an instruction set; create() returns -ENOTSUP on a CPU without the set. */
extern const struct sim_engine sim_engine_full_avx512, sim_engine_full_avx2, sim_engine_full_portable;

static inline unsigned sim_log2(uint64_t power)
{
    unsigned shift = 0;

    while (power >> shift != 1)
        shift++;
    return shift;
}

/* Feeds records as bursts of a single access. */
void sim_records_as_bursts(struct sim_hierarchy *h, const uint64_t *record, size_t n);

/* As sim_hierarchy_new_threads; *h is NULL where threads do not help. */
int sim_threads_new(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_threads);

/*
 * As sim_hierarchy_new_tags, with the engine chosen by the caller; -EINVAL also if the engine cannot run the machine.
 */
int sim_engine_new_tags(struct sim_hierarchy **h, const struct sim_engine *e, const struct sim_machine *m,
                        unsigned n_tags);

/* Does the same for the usual tags. */
int sim_engine_new(struct sim_hierarchy **h, const struct sim_engine *e, const struct sim_machine *m);

#endif
