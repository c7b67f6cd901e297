#include <errno.h>
#include <stdlib.h>

#include "counters/perf/ctr_loop.h"
#include "counters/perf/ctr_perf.h"
#include "counters/perf/ctr_source.h"

static void close_set(void *set)
{
    if (set)
        ctr_perf_close(set);
    free(set);
}

static int open_set(void *context, const struct ctr_event_code *code, size_t n, void **set, size_t *refused)
{
    struct ctr_perf_set *s = calloc(1, sizeof *s);
    int err = s ? 0 : -ENOMEM;

    (void)context;
    *refused = 0;
    for (size_t i = 0; i < n && !err; i++) {
        err = ctr_perf_add(s, &code[i]);
        *refused = i;
    }
    if (err) {
        close_set(s);
        s = NULL;
    }
    *set = s;
    return err;
}

static int start(void *set)
{
    return ctr_perf_start(set);
}

static int stop(void *set)
{
    return ctr_perf_stop(set);
}

static int read_set(void *set, struct ctr_counts *counts)
{
    return ctr_perf_read(set, counts);
}

static void run(void *context, const struct ctr_loop *loop, struct ctr_ground *ground)
{
    (void)context;
    loop->run(ground);
}

const struct ctr_source ctr_source_perf = {
    .name = "perf_event",
    .open = open_set,
    .close = close_set,
    .start = start,
    .stop = stop,
    .read = read_set,
    .run = run,
};
