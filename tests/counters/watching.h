/* Watching, although accesses get lost now and then. */
#ifndef TESTS_COUNTERS_WATCHING_H
#define TESTS_COUNTERS_WATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/perf/ctr_watch.h"

/*
 * Watches work(ctx) until the counts n[] agree with `want`, eight times at most: some virtual machines lose one access
 * in thousands (ctr_watch.h). A real error repeats each time. Returns the status of the last reading.
 */
int watch_until(struct ctr_watch *w, void (*work)(void *ctx), void *ctx,
                bool (*agrees)(const void *want, const uint64_t *n), const void *want, uint64_t *n);

#endif
