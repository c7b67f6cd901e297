/* Compares what code says it touches with what it touches when it is compiled with hooks (logged_hooks.h). */
#ifndef TESTS_EMISSION_H
#define TESTS_EMISSION_H

#include "sim/base/access.h"
#include "tests/kernels/logged_hooks.h"

/*
 * Records what run(args) does in the buffers, and compares it, access by access, with what emit(args) sends. run calls
 * the instrumented twins.
 */
void check_emission(const char *what, void (*run)(void *args), void (*emit)(void *args, struct sim_sink *sink),
                    void *args, const struct logged_buffer *buffer, size_t n_buffers);

#endif
