/* The naive model's reads and writes of lines, through all levels to memory. */
#ifndef TESTS_SIM_NAIVE_REQUESTS_H
#define TESTS_SIM_NAIVE_REQUESTS_H

#include "tests/sim/sim_naive_model.h"

/* Reads a line of level k. Returns the line itself if the line left an exclusive level, else an invalid way. */
struct naive_way naive_read_line(struct sim_naive *s, size_t k, uint64_t line, struct naive_request *r);

/* Brings a missing line into level k; wish: of a prefetcher, or NULL. */
void naive_read_into(struct sim_naive *s, size_t k, uint64_t line, struct naive_request *r,
                     const struct naive_wish *wish);

/* Writes a part of a line of level k. */
void naive_write_part(struct sim_naive *s, size_t k, struct naive_data d, struct naive_request *r);

/* Writes bytes to level k, or to memory behind the last level. */
void naive_write_data(struct sim_naive *s, size_t k, struct naive_data d, unsigned tag, unsigned phase);

#endif
