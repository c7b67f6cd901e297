/* Internal: from the text of a key in a machine file to its value. */
#ifndef SIM_MACHINE_VALUES_H
#define SIM_MACHINE_VALUES_H

#include <stddef.h>

#include "sim/base/why.h"
#include "sim/machine/machine_keys.h"

/* The place of a text, and the receiver of messages; the caller owns both strings. */
struct sim_place {
    const char *path;
    unsigned long line;
    const char *key; /* the key whose value stands there; NULL: none */
    struct sim_why why;
};

/* Puts "path:line: what, 'value'", or "path:line: what, 'key = value'", into why. Returns -EINVAL. */
int sim_place_report(const struct sim_place *at, const char *what, const char *value);

/*
 * Checks text, not empty and at most SIM_MAX_LINE_CHARS long, as a value of key and stores the value in target, the
 * struct of the key's section. Returns 0, or -EINVAL with a message at the place; then target may be half-written.
 */
int sim_value_set(const struct sim_place *at, const struct sim_key *key, const char *text, void *target);

#endif
