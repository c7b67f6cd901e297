/* Finds which line of which source file an instruction is of. */
#ifndef SIM_CACHESIM_SYMBOLS_H
#define SIM_CACHESIM_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/why.h"

/* A part of a file that is in memory. */
struct cachesim_mapping {
    uint64_t begin, end; /* addresses; end is not part of it */
    uint64_t offset;     /* of the first byte in the file */
    char *path;
};

struct cachesim_mappings {
    struct cachesim_mapping *mapping; /* [n] */
    size_t n;
};

/* An instruction, and what is known of it; "???" and 0 where nothing is. */
struct cachesim_place {
    uint64_t address;
    const char *file, *function;
    unsigned line;
    const char *loaded; /* path of the program or library of the address, as in the mappings; NULL: unknown */
};

/* Adds the lines of a file like /proc/<pid>/maps that name a file. Returns 0 or -ENOMEM. */
int cachesim_mappings_read(struct cachesim_mappings *m, FILE *maps);

/*
 * Adds a program or library, "FILE" or "FILE@BASE": by how much its addresses in memory are higher than its own, 0
 * without. Returns 0, or -errno with one line in why.
 */
int cachesim_mappings_add(struct cachesim_mappings *m, const char *text, struct sim_why why);

/* Adds a program as Valgrind loads it. Returns 0 or -ENOMEM; a file that is no program adds nothing. */
int cachesim_mappings_add_program(struct cachesim_mappings *m, const char *path);

void cachesim_mappings_release(struct cachesim_mappings *m);

struct cachesim_names; /* owns the texts */

/*
 * Names n places, in any order. Returns 0 and *names, or -ENOMEM. Where there is no addr2line all are "???", and one
 * line on standard error says so.
 */
int cachesim_symbols_find(const struct cachesim_mappings *m, struct cachesim_place *place, size_t n,
                          struct cachesim_names **names);
void cachesim_names_free(struct cachesim_names *names);

#endif
