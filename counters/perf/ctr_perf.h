/*
 * The kernel's side of counting: a set of events, on the counters together (one perf_event_open group), and the meaning
 * of the kernel's errors. Used by sessions (ctr_session.h) and watchpoints (ctr_watch.h).
 */
#ifndef CTR_PERF_H
#define CTR_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/why.h"

enum { CTR_MAX_SET_EVENTS = 8 };

/* An event for perf_event_open. For breakpoints config1 is the address and config2 the length in bytes. */
struct ctr_event_code {
    uint32_t type; /* PERF_TYPE_... */
    uint32_t bp_type;
    uint64_t config;
    uint64_t config1;
    uint64_t config2;
    bool counts_kernel; /* false: user mode only */
};

struct ctr_counts {
    uint64_t time_enabled_ns;
    uint64_t time_running_ns; /* the part of time_enabled_ns in which the events were on the counters */
    uint64_t value[CTR_MAX_SET_EVENTS];
};

struct ctr_perf_set {
    size_t n_events;
    int fd[CTR_MAX_SET_EVENTS]; /* fd[0] leads the group */
    struct ctr_counts base;     /* at the last start; the kernel's own reset leaves the times alone */
};

/* Adds an event of the calling thread, any core. Returns 0 or -errno of perf_event_open; -E2BIG if the set is full. */
int ctr_perf_add(struct ctr_perf_set *set, const struct ctr_event_code *code);

/* Start counting from zero, and stop. Return 0 or -errno. */
int ctr_perf_start(struct ctr_perf_set *set);
int ctr_perf_stop(struct ctr_perf_set *set);

/* Reads the counts since the last start, also while the set counts. Returns 0 or -errno. */
int ctr_perf_read(const struct ctr_perf_set *set, struct ctr_counts *counts);

void ctr_perf_close(struct ctr_perf_set *set); /* a zeroed or closed set is fine */

/* Writes a sentence for a failed perf_event_open: err is -errno, event the name. Returns err. */
int ctr_perf_explain(int err, const char *event, struct sim_why why);

/* Returns 0 if the CPU's own cycle counter opens here, else -errno with the reason. */
int ctr_perf_probe(struct sim_why why);

#endif
