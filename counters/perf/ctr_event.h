/*
 * Finds an event's code by the event's name, and this CPU's PMU, both through libpfm4.
 *
 * Events are written as libpfm4 names with the PMU in front (clx::MEM_INST_RETIRED:ALL_LOADS, perf::PAGE-FAULTS), or as
 * raw codes (r0x4003e) where the library has no table for the CPU. Names encode on any machine. Counting is in user
 * mode only, unless a name ends in `:u:k`.
 *
 * libpfm4 keeps global state: the functions are not thread-safe.
 */
#ifndef CTR_EVENT_H
#define CTR_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/perf/ctr_perf.h"
#include "sim/base/why.h"

/* Tells whether text starts as a raw code does (r0x); the digits may still be wrong. */
bool ctr_event_is_raw(const char *text);

/* Reads a raw code, r0x and 1 to 16 hexadecimal digits. Returns 0 or -EINVAL. */
int ctr_event_raw_code(const char *text, uint64_t *config);

/* Returns 0, or -EINVAL with the reason if the raw code is malformed or libpfm4 does not know the name. */
int ctr_event_encode(const char *text, struct ctr_event_code *code, struct sim_why why);

/* Finds libpfm4's name of this CPU's core PMU ("clx"). Returns 0, or -ENOENT if libpfm4 recognises no core PMU. */
int ctr_event_host_pmu(char *name, size_t bytes);

#endif
