/*
 * Internal: what hwloc tells of this computer, and the caches that follow from it.
 *
 * Firmware, hypervisors and kernels hide levels, sizes, ways and lines, or tell of ones that no cache has. What hwloc
 * does not tell comes from the machine file of the CPU, if there is one, or is guessed. Each of these is noted.
 */
#ifndef SIM_MACHINE_HOST_H
#define SIM_MACHINE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"

enum { SIM_HOST_MAX_CACHES = 5, SIM_NOTES_BYTES = 4096 };

/* Holds what is to be told of a machine beside its values: lines, each with its end. */
struct sim_notes {
    char text[SIM_NOTES_BYTES];
};

/* Appends a line; its format has no line's end. */
void sim_note(struct sim_notes *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Holds what hwloc tells of one level of data or unified caches; 0: hwloc does not tell it. */
struct sim_host_cache {
    bool is_shown; /* hwloc has such a level */
    uint64_t bytes;
    uint32_t line_bytes;
    int32_t n_ways; /* less than 0: as many as there are lines */
};

/* Holds what hwloc tells of the first core that this process may run on. */
struct sim_host_seen {
    char cpu[96];                                     /* its name, "" where hwloc has none */
    unsigned core;                                    /* its number */
    bool cores_differ;                                /* other cores that this process may run on have other caches */
    struct sim_host_cache cache[SIM_HOST_MAX_CACHES]; /* L1 first */
    char why_none[128];                               /* why no level is shown; "" if one is */
};

/* Asks hwloc. It returns 0, even if hwloc shows no cache; -ENOMEM with one line in why. */
int sim_host_see(struct sim_host_seen *seen, char *why, size_t why_bytes);

/* Returns the name of a level: "L1" of the first. The string is static. */
const char *sim_host_cache_name(size_t level);

/* Tells whether nothing that hwloc tells of a level speaks against it being l. */
bool sim_host_may_be(const struct sim_host_cache *told, const struct sim_level *l);

/* Returns the file's level of that name, or NULL. */
const struct sim_level *sim_level_named(const struct sim_machine *file, const char *name);

/*
 * Makes m of what hwloc tells: levels with LRU and assumed latencies. file: the machine file that serves this CPU, or
 * one without levels; called: its name, for notes. m has no levels if nothing can be made of what hwloc tells. Guesses are named in
 * m->description too, unless they are the file's.
 */
void sim_host_caches(struct sim_machine *m, const struct sim_host_seen *seen, const struct sim_machine *file,
                     const char *called, struct sim_notes *notes);

#endif
