#include "counters/host/ctr_timer.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { N_BATCHES = 15, N_CALLS = 512 };

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t ctr_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t ctr_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t ctr_reading_ns(uint64_t (*now_ns)(void))
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < N_CALLS; i++) {
        const uint64_t before = now_ns(), took = now_ns() - before;

        least = took < least ? took : least;
    }
    return least;
}

/* Reads the clock N_CALLS times; returns the time per reading and lowers *step_ns to the smallest step seen. */
static double run_batch(uint64_t *step_ns)
{
    uint64_t first = ctr_now_ns(), previous = first;

    for (int i = 0; i < N_CALLS; i++) {
        uint64_t now = ctr_now_ns();

        if (now != previous && now - previous < *step_ns)
            *step_ns = now - previous;
        previous = now;
    }
    return (double)(previous - first) / N_CALLS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int ctr_timer_measure(struct ctr_timer *t)
{
    double per_call[N_BATCHES];
    uint64_t step_ns = UINT64_MAX;
    struct timespec resolution;

    if (clock_getres(CLOCK_MONOTONIC, &resolution))
        return -errno;
    for (int i = 0; i < N_BATCHES; i++)
        per_call[i] = run_batch(&step_ns);
    qsort(per_call, N_BATCHES, sizeof per_call[0], by_value);
    *t = (struct ctr_timer){
        .kernel_resolution_ns = (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec,
        .step_ns = step_ns == UINT64_MAX ? 0 : step_ns,
        .overhead_ns = per_call[0],
        .typical_overhead_ns = per_call[N_BATCHES / 2],
    };
    return 0;
}
