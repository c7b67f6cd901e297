/* Compares sums of observed accesses with sums of replayed accesses. */
#ifndef TESTS_EXPERIMENTS_OBSERVED_TOTALS_H
#define TESTS_EXPERIMENTS_OBSERVED_TOTALS_H

#include <stdbool.h>

#include "tests/experiments/observed_layer.h"

/*
 * Runs a layer, or half of the rows and filters, and checks accesses within 1 %, load misses of every level within 3 %,
 * and the number of prefetches if the replay knows the prefetches. The result is left in *r.
 */
void observed_check_totals(const struct observed_place *p, struct conv_problem problem, const char *algo, bool is_part,
                           struct watch_result *r);

#endif
