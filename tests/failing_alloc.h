/*
 * Allocations that fail when told to. The test program is linked with --wrap for calloc and posix_memalign, so
 * that every call from the project's own code comes by here.
 */
#ifndef TESTS_FAILING_ALLOC_H
#define TESTS_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* The next n allocations succeed, all after them fail, until failing_alloc_stop. For tests of one thread. */
void failing_alloc_after(size_t n);

/* Back to normal. Returns how many allocations were refused. */
size_t failing_alloc_stop(void);

/*
 * Calls f(ctx) in a child process, where all allocations after the next n fail. Returns whether the child ended for
 * want of memory: with one line that says so, and the exit status for it. Otherwise f returned, and the child ended.
 */
bool failing_alloc_ends(size_t n, void (*f)(void *ctx), void *ctx);

#endif
