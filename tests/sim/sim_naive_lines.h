/* The naive model's levels: places of lines, victims, and classes of misses. */
#ifndef TESTS_SIM_NAIVE_LINES_H
#define TESTS_SIM_NAIVE_LINES_H

#include "tests/sim/sim_naive_model.h"

/* Returns level k's way of a line, or NULL. */
struct naive_way *naive_find(struct sim_naive *s, size_t k, uint64_t line);

/* Tells the policy of level k about a hit on a way. */
void naive_refresh(struct sim_naive *s, size_t k, struct naive_way *w);

/* Removes a line if the level has the line. Returns the line's way; not valid: the line was missing. */
struct naive_way naive_drop(struct sim_naive *s, size_t k, uint64_t line, unsigned phase);

/* Puts a line into a way, clean; the victim leaves the level. */
struct naive_way *naive_put(struct sim_naive *s, size_t k, uint64_t line, const struct naive_request *r);

/* Shows an access to the shadow of level k, if the level classifies, and counts a miss in its class. */
void naive_classify(struct sim_naive *s, size_t k, uint64_t line, bool brings_in, bool takes_out, bool is_miss,
                    const struct naive_request *r);

#endif
