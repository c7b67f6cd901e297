/*
 * The expected codes of the shipped groups' events: the event tables of Intel, AMD and IBM, written down here
 * independently of libpfm4.
 */
#ifndef TESTS_COUNTERS_EXPECTED_EVENTS_H
#define TESTS_COUNTERS_EXPECTED_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOFTWARE_EVENT = 1, RAW_EVENT = 4 }; /* PERF_TYPE_SOFTWARE, PERF_TYPE_RAW */

struct expected_event {
    const char *label; /* LABEL, or GROUP/LABEL where groups differ; NULL ends a list */
    uint64_t code;
};

/* A folder of groups. pmu: libpfm4's table for the CPU itself, NULL where 4.13 has none; POWER10's codes are raw. */
struct expected_folder {
    const char *name, *pmu;
    unsigned type; /* SOFTWARE_EVENT or RAW_EVENT */
    const struct expected_event *special, *usual;
};

extern const struct expected_folder expected_folders[];
extern const size_t n_expected_folders;

/* Tells whether a folder is of a POWER CPU, or of the software events that the kernel counts. */
bool expected_is_power(const struct expected_folder *u);
bool expected_is_software(const struct expected_folder *u);

/*
 * Tells whether events can be encoded. libpfm4 has x86's events only in the x86 build; POWER10's events are written as
 * codes and the kernel's events are everywhere.
 */
bool expected_can_be_encoded(const struct expected_folder *u);

/* Returns the expected event of a group's label in a folder; NULL: unknown. */
const struct expected_event *expected_find(const struct expected_folder *u, const char *group, const char *label);

#endif
