/*
 * Internal: hwloc's values of this computer, and the caches made from these values.
 *
 * Firmware, hypervisors and kernels hide levels, sizes, ways and lines, or report impossible values. Missing values
 * come from the machine file of the CPU if there is a file, else from a guess. Every replaced value is noted.
 */
#ifndef SIM_MACHINE_HOST_H
#define SIM_MACHINE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/why.h"
#include "sim/machine/machine.h"

enum { SIM_HOST_MAX_CACHES = 5, SIM_NOTES_BYTES = 4096 };

/* Holds notes about a machine: lines, each with its newline. */
struct sim_notes {
    char text[SIM_NOTES_BYTES];
};

/* Appends a line; the format has no newline. */
void sim_note(struct sim_notes *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Holds hwloc's values of one level of data or unified caches; 0: unknown. */
struct sim_host_cache {
    bool is_shown; /* hwloc has the level */
    uint64_t bytes;
    uint32_t line_bytes;
    int32_t n_ways; /* less than 0: as many as there are lines */
};

/* Holds hwloc's values of the first core that this process may run on. */
struct sim_host_seen {
    char cpu[96];                                     /* the CPU's name; "": unknown */
    unsigned core;                                    /* the core's number */
    bool cores_differ;                                /* this process may run on cores with different caches */
    struct sim_host_cache cache[SIM_HOST_MAX_CACHES]; /* L1 first */
    char why_none[128];                               /* why no level is shown; "": a level is shown */
};

/* Asks hwloc. Returns 0, even if hwloc shows no cache; -ENOMEM with a line in why. */
int sim_host_see(struct sim_host_seen *seen, struct sim_why why);

/* Returns the name of a level: "L1" of the first. The string is static. */
const char *sim_host_cache_name(size_t level);

/* Tells whether hwloc's values of a level do not contradict l. */
bool sim_host_may_be(const struct sim_host_cache *told, const struct sim_level *l);

/* Returns the file's level with a name, or NULL. */
const struct sim_level *sim_level_named(const struct sim_machine *file, const char *name);

/*
 * Makes m from hwloc's values, with LRU and assumed latencies. file: the machine file that serves this CPU, or one
 * without levels; called: the file's name, for notes. If no level can be made, m has no levels. m->description names
 * guesses, too, unless the values are the file's.
 */
void sim_host_caches(struct sim_machine *m, const struct sim_host_seen *seen, const struct sim_machine *file,
                     const char *called, struct sim_notes *notes);

#endif
