/* Machine files in which every value says where it is from. */
#ifndef EXPERIMENTS_EXP_NOTED_H
#define EXPERIMENTS_EXP_NOTED_H

#include <stdio.h>

#include "sim/machine/machine.h"

/* What keys of a kind of section ("machine", "cache", "tlb") are from. The first note that fits a key counts. */
struct exp_note {
    const char *section;
    const char *keys;   /* blank-separated; "": all */
    const char *source; /* "measured"; "": nothing to say */
};

/*
 * Writes m as sim_machine_print does, with `# source` behind every value that has a note, after comment lines of header
 * text. Returns as sim_machine_print, or -ENOMEM.
 */
int exp_noted_print(const struct sim_machine *m, const char *header, const struct exp_note *note, size_t n_notes,
                    FILE *out);

#endif
