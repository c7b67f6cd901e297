/* Machine files of tests: reads texts, prints machines and reads the prints. */
#ifndef TESTS_SIM_MACHINE_FILE_H
#define TESTS_SIM_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/machine/machine.h"
#include "sim/replacement/replacement.h"

enum { MACHINE_WHY_BYTES = 768 };

#define MACHINE "[machine]\nname = m\nmemory_latency_cycles = 100\n" /* lines 1 to 3 */
#define REST "ways = 2\nline = 64\nlatency_cycles = 1\n"
#define CACHE(name) "[cache " name "]\nsize = 1 KiB\n" REST /* 5 lines */

#define UNKNOWN "unknown policy; there are " SIM_REPLACEMENT_NAMES

#define LEVEL(n, p, sets, ways, line, latency)                                                                         \
    {                                                                                                                  \
        .name = n, .policy = p, .n_sets = sets, .n_ways = ways, .line_bytes = line, .latency_cycles = latency          \
    }

/*
 * Writes bytes, or a text, to a temporary file, reads the file as a machine, and removes the file. Returns as
 * sim_machine_read; the file's name in why, of MACHINE_WHY_BYTES, becomes "FILE".
 */
int machine_read_bytes(struct sim_machine *m, const char *bytes, size_t n_bytes, char *why);
int machine_read_text(struct sim_machine *m, const char *text, char *why);

/* Tells whether all keys of two machines are equal. */
bool machine_same(const struct sim_machine *a, const struct sim_machine *b);

/* Checks that a machine equals the machine read from its print. */
void machine_check_round_trip(const struct sim_machine *m);

#endif
