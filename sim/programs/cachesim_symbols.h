/* Finds the source file and line of an instruction. */
#ifndef SIM_CACHESIM_SYMBOLS_H
#define SIM_CACHESIM_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/why.h"

/* A part of a file in memory. */
struct cachesim_mapping {
    uint64_t begin, end; /* addresses; end is exclusive */
    uint64_t offset;     /* of the first byte in the file */
    char *path;
};

struct cachesim_mappings {
    struct cachesim_mapping *mapping; /* [n] */
    size_t n;
};

/* An instruction and its names; "???" and 0 where unknown. */
struct cachesim_place {
    uint64_t address;
    const char *file, *function;
    unsigned line;
    const char *loaded; /* path of the program or library of the address, as in the mappings; NULL: unknown */
};

/* Adds the lines of a file like /proc/<pid>/maps that name a file. Returns 0 or -ENOMEM. */
int cachesim_mappings_read(struct cachesim_mappings *m, FILE *maps);

/*
 * Adds a program or library, "FILE" or "FILE@BASE". BASE: the difference between its addresses in memory and in the
 * file, 0 without. Returns 0, or -errno with a line in why.
 */
int cachesim_mappings_add(struct cachesim_mappings *m, const char *text, struct sim_why why);

/* Adds a program as Valgrind loads the program. Returns 0 or -ENOMEM; a file that is no program adds nothing. */
int cachesim_mappings_add_program(struct cachesim_mappings *m, const char *path);

void cachesim_mappings_release(struct cachesim_mappings *m);

struct cachesim_names; /* owns the texts */

/*
 * Names n places, in any order. Returns 0 and *names, or -ENOMEM. Without addr2line all names are "???", and a line on
 * standard error says so.
 */
int cachesim_symbols_find(const struct cachesim_mappings *m, struct cachesim_place *place, size_t n,
                          struct cachesim_names **names);
void cachesim_names_free(struct cachesim_names *names);

#endif
