/*
 * From an event's name to its code, and from this CPU to the folder with its event groups, both through libpfm4.
 *
 * Events are written as libpfm4 names with the PMU in front (clx::MEM_INST_RETIRED:ALL_LOADS, perf::PAGE-FAULTS), or
 * as raw codes (r0x4003e) where the library has no table for the CPU. Names encode on any machine, not only on the
 * CPU that they belong to. Counting is in user mode only, unless a name ends in `:u:k`.
 *
 * libpfm4 keeps global state: these functions are not thread-safe.
 */
#ifndef CTR_EVENT_H
#define CTR_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/ctr_perf.h"

/* True if text starts as a raw code does (r0x); its digits may still be wrong. */
bool ctr_event_is_raw(const char *text);

/* Reads a raw code, r0x and 1 to 16 hexadecimal digits. Returns 0 or -EINVAL. */
int ctr_event_raw_code(const char *text, uint64_t *config);

/* Returns 0, or -EINVAL with the reason if the raw code is malformed or libpfm4 does not know the name. */
int ctr_event_encode(const char *text, struct ctr_event_code *code, char *why, size_t why_bytes);

/* The folder for a libpfm4 PMU ("clx", "amd64_fam19h_zen4"), or NULL if there are no groups for it. */
const char *ctr_uarch_of_pmu(const char *pmu);

/* The folder for an x86 CPU that libpfm4 4.13 does not know by itself though it has the right table, or NULL. */
const char *ctr_uarch_of_cpu(const char *vendor, unsigned family, unsigned model);

/* The folder for the CPU this runs on (a constant string). Returns 0, or -ENOENT with the reason. */
int ctr_uarch_host(const char **uarch, char *why, size_t why_bytes);

#endif
