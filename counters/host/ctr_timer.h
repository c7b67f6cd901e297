/*
 * A monotonic clock, and the time of reading it.
 *
 * The clock is CLOCK_MONOTONIC: never set back, but NTP may slew the clock's rate by up to 0.05 %, far below the
 * changes of a shared machine's clock frequency.
 */
#ifndef CTR_TIMER_H
#define CTR_TIMER_H

#include <stdint.h>

uint64_t ctr_now_ns(void); /* since an arbitrary start; only differences mean anything */

/*
 * Returns the calling thread's own time on a CPU, by CLOCK_THREAD_CPUTIME_ID: the time stands still while the thread
 * waits for a CPU.
 */
uint64_t ctr_thread_ns(void);

/* Returns the least time between two readings of a clock. Every time by the clock contains a reading. */
uint64_t ctr_reading_ns(uint64_t (*now_ns)(void));

struct ctr_timer {
    uint64_t kernel_resolution_ns; /* by clock_getres */
    uint64_t step_ns;              /* the smallest step seen between two readings; 0: no step was seen */
    double overhead_ns;            /* time per reading: the fastest batch, free of interruptions */
    double typical_overhead_ns;    /* median over the batches */
};

/*
 * Measures the clock for well under a millisecond (up to some milliseconds if reading is a system call). 0 or -errno.
 */
int ctr_timer_measure(struct ctr_timer *t);

#endif
