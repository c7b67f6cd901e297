/*
 * Kernels that report their real accesses. The kernel files are compiled a second time with the compiler's own access
 * instrumentation (gcc -fsanitize=thread), with every defined symbol prefixed with logged_, and linked with hooks of
 * our own instead of the sanitizer's runtime. Each load and store of the compiled code, whatever the width, calls a
 * hook.
 */
#ifndef TESTS_LOGGED_HOOKS_H
#define TESTS_LOGGED_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/trace/trace.h"

enum { LOGGED_MAX_BUFFERS = 5, LOGGED_MAX = 1 << 20 };

/* Accesses outside the buffers (arguments, stack) are not recorded. */
struct logged_buffer {
    uint64_t addr;
    size_t bytes;
};

/* Records from now on; at most LOGGED_MAX accesses. */
void logged_start(const struct logged_buffer *buffer, size_t n_buffers);

/* Stops; *access is valid until the next start. Returns how many there were. */
size_t logged_stop(const struct sim_access **access);

#endif
