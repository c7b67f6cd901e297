/* Compares observed accesses with replayed accesses, one by one. */
#ifndef TESTS_EXPERIMENTS_OBSERVED_STREAM_H
#define TESTS_EXPERIMENTS_OBSERVED_STREAM_H

#include <stdbool.h>

#include "tests/experiments/observed_layer.h"

/* Runs a layer, or half of the rows and filters, and checks that the observed stream equals the replay's stream. */
void observed_check_stream(const struct observed_place *p, struct conv_problem problem, const char *algo,
                           bool packs_filters, bool is_part);

#endif
