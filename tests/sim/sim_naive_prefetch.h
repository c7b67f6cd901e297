/* The naive model's prefetchers: watched entries and wishes. Wishes wait in the model's queue. */
#ifndef TESTS_SIM_NAIVE_PREFETCH_H
#define TESTS_SIM_NAIVE_PREFETCH_H

#include "tests/sim/sim_naive_model.h"

/* Returns a prefetcher with the usual value of sim/prefetch/prefetch.h in place of every 0. */
struct sim_prefetch naive_prefetch_in_full(struct sim_prefetch p);

/* Shows a request for a line to the prefetchers of level k; found: the line's way, NULL after a miss. */
void naive_watch(struct sim_naive *s, size_t k, uint64_t line, const struct naive_way *found,
                 const struct naive_request *r);

#endif
