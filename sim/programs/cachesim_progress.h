/*
 * How long a trace will take: measured over its first second and said once, on standard error, if that is more than a
 * minute. What a pass asks for is known from the file: the accesses that a binary trace announces at its end (a few
 * bytes may be thousands of millions), the bytes of the others. A pipe says nothing, so that nothing is said of it.
 */
#ifndef SIM_CACHESIM_PROGRESS_H
#define SIM_CACHESIM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sim/trace/trace.h"

struct cachesim_progress {
    const char *trace;
    double per_pass; /* accesses or bytes; 0: unknown, or said already */
    bool is_in_bytes;
    uint64_t passes;
    uint64_t pass; /* which */
    uint64_t done; /* of this pass */
    struct timespec start;
};

void cachesim_progress_start(struct cachesim_progress *p, const char *trace, enum sim_trace_format format,
                             uint64_t passes);
void cachesim_progress_pass(struct cachesim_progress *p, uint64_t pass);
void cachesim_progress_add(struct cachesim_progress *p, uint64_t accesses);
void cachesim_progress_read(struct cachesim_progress *p, uint64_t bytes);

#endif
