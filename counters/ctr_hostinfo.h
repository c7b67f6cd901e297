/*
 * Describes the computer of a measurement in lines `key: value`: CPU, microcode, caches, cores, virtualisation, clock
 * frequency, kernel and C library, compiler, memory, and whether hardware counters are available. An unknown value
 * reads `missing (reason)`. Host names and user names are left out.
 */
#ifndef CTR_HOSTINFO_H
#define CTR_HOSTINFO_H

#include <stddef.h>
#include <stdio.h>

/* Returns 0 or -EIO if writing failed. Not thread-safe (see ctr_event.h). */
int ctr_hostinfo_print(FILE *out);

/*
 * Names this computer's CPU in a few words: "Intel(R) Xeon(R) Processor (family 6, model 167)"; "unknown aarch64 CPU".
 */
void ctr_hostinfo_cpu(char *text, size_t bytes);

#endif
