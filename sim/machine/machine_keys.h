/*
 * Internal: the format of machine files as tables, read by machine_file.c and written by machine_print.c.
 *
 * A section fills a struct; each key of the section fills a member of the struct. machine.h describes the keys.
 */
#ifndef SIM_MACHINE_KEYS_H
#define SIM_MACHINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine/machine.h"

#define SIM_MAX_LATENCY_CYCLES 1e9
#define SIM_MAX_BYTES_PER_CYCLE 1e6
#define SIM_MIN_BYTES_PER_CYCLE 1e-6 /* least rate per cycle, so that division by a rate stays finite */
#define SIM_BLANKS " \t"

enum {
    SIM_MAX_SECTION_KEYS = 28,
    SIM_MAX_LINE_CHARS = 511, /* without the line's end */
    SIM_MAX_TLB_ENTRIES = 1 << 20,
};

enum sim_key_kind {
    SIM_KEY_TEXT,
    SIM_KEY_NAME,   /* a text for sim_is_machine_name() */
    SIM_KEY_POLICY, /* a text for sim_replacement_find() */
    SIM_KEY_COUNT,  /* a whole number from 1; with a KiB or MiB suffix where takes_suffix */
    SIM_KEY_NUMBER, /* a whole number from 0, 64 bits */
    SIM_KEY_CYCLES,
    SIM_KEY_BANDWIDTH, /* more than 0 */
    SIM_KEY_CHOICE,    /* a word of several, stored as its index in an uint8_t or a bool */
    SIM_KEY_PREFETCH,
};

struct sim_key {
    const char *name;
    enum sim_key_kind kind;
    size_t offset; /* of the member in the section's struct */
    size_t bytes;  /* of the member */
    uint64_t max;  /* of a count */
    bool takes_suffix;
    bool is_power; /* of two */
    bool is_optional;
    uint64_t min;              /* of a count; 0: 1 */
    const char *const *choice; /* of a choice: the words, the default first, NULL last */
};

/* The struct of a [cache NAME] section. */
struct sim_level_draft {
    struct sim_level level;
    uint64_t size_bytes; /* 0: sets were given */
    uint8_t hash;
};

/* Places in the tables. */
enum { SIM_CACHE_KEY_SIZE, SIM_CACHE_KEY_SETS };
enum { SIM_TLB_KEY_ENTRIES, SIM_TLB_KEY_WAYS };

/*
 * Each table ends with a key without a name. Its order is the order of printing. The tables fill a sim_machine, a
 * sim_level_draft, a sim_tlb and a sim_core.
 */
extern const struct sim_key sim_machine_keys[];
extern const struct sim_key sim_cache_keys[];
extern const struct sim_key sim_tlb_keys[];
extern const struct sim_key sim_core_keys[];

/* Changes a machine's text as the machine is printed. */
struct sim_key_changes {
    const void *ctx;

    /*
     * Returns the new value of a key of the section with the table `keys` and a name ("" for [machine] and [core]); "":
     * the key is left out; NULL: the key keeps its value.
     */
    const char *(*value)(const void *ctx, const struct sim_key *keys, const char *section, const struct sim_key *key);
};

/* Does the same as sim_machine_print, with changes. */
int sim_machine_print_changed(const struct sim_machine *m, const struct sim_key_changes *changes, FILE *out);

/* Tells whether no line may hold the character; tabs are allowed. */
bool sim_is_control(char c);

/*
 * Tells whether name can be a machine's name. The name is also the name of a folder of results, and stands in figures
 * and CSV files, so its characters need no quoting: see SIM_MACHINE_NAME_RULE.
 */
bool sim_is_machine_name(const char *name);
#define SIM_MACHINE_NAME_RULE "letters, digits, '_', '-', '.' and '+', a letter or digit first"

/* Tells whether name can be the name of a cache or a TLB. */
bool sim_is_section_name(const char *name);

#endif
