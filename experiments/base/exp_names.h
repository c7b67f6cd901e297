/* Names that stand for files (models and machines), and slips in names. */
#ifndef EXPERIMENTS_EXP_NAMES_H
#define EXPERIMENTS_EXP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/exp_error.h"

bool exp_name_ends_in(const char *name, const char *suffix); /* and is not the suffix alone */

struct exp_names {
    const char *what;       /* "model" */
    const char *folder;     /* whose files the names stand for, */
    const char *suffix;     /* with this appended */
    const char *also;       /* a name without a file, after a blank; or "" */
    const char *else_taken; /* "the path of a .cfg file" */
};

/* Writes one line that says that a name is unknown and lists the known ones, as far as they fit. Returns -ENOENT. */
int exp_names_unknown(const struct exp_names *n, const char *name, struct exp_why *why);

/* Finds what somebody may have meant: sim_nearest_word (sim/machine/machine_words.h). */
const char *exp_names_nearest(const char *word, const char *const *known, size_t n);

/*
 * Adds a name to a comma-separated list from malloc, unless it is there. Returns whether it is there now; if not, out
 * of memory, *list is NULL.
 */
bool exp_names_add(char **list, const char *name);

#endif
