/* Compares the accesses that code emits with the accesses of the code compiled with hooks (logged_hooks.h). */
#ifndef TESTS_EMISSION_H
#define TESTS_EMISSION_H

#include "sim/base/access.h"
#include "tests/kernels/logged_hooks.h"

/*
 * Records the accesses of run(args) to the buffers, and compares each access with the access of emit(args). run calls
 * the instrumented twins.
 */
void check_emission(const char *what, void (*run)(void *args), void (*emit)(void *args, struct sim_sink *sink),
                    void *args, const struct logged_buffer *buffer, size_t n_buffers);

#endif
