/*
 * Gathers what disturbed a measurement, as the system tells it: time that the hypervisor took (steal), time in which
 * the measuring thread was ready and did not run, involuntary context switches, moves to another core, the core's FMA
 * peak before and after, and how far medians lie above the fastest rounds.
 *
 *     exp_disturbance_begin(&d, "/proc", peak);     on the thread that measures
 *     ...
 *     exp_disturbance_end(&d, "/proc", peak);
 *     d.median_percent = ...
 */
#ifndef EXPERIMENTS_EXP_DISTURBANCE_H
#define EXPERIMENTS_EXP_DISTURBANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/ukr/peak.h"

/* NaN: the system does not tell, or nobody asked. */
struct exp_disturbance {
    double steal_percent;           /* of the time of all CPUs (/proc/stat) */
    double waited_percent;          /* of the time, ready but not running (/proc/thread-self/schedstat) */
    double switches;                /* involuntary ones (getrusage) */
    double migrations;              /* (/proc/thread-self/sched) */
    double peak_before, peak_after; /* GFLOP/s of the thread's own time */
    double median_percent;          /* that medians are above the fastest; the measurement's to fill in */
    struct exp_disturbance_start {  /* readings at the beginning */
        double steal, cpu_time, waited, switches, migrations;
        uint64_t wall_ns;
    } start;
};

/* Starts to watch. proc is where the system's tables are; peak may be NULL. */
void exp_disturbance_begin(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak);
void exp_disturbance_end(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak);

/* Says all that is known in one line, beginning with "disturbed" or "quiet". */
void exp_disturbance_describe(const struct exp_disturbance *d, char *text, size_t bytes);

/* Tells whether any of it is beyond what a quiet machine shows. */
bool exp_disturbance_is_large(const struct exp_disturbance *d);

#endif
