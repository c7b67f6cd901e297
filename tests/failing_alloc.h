/*
 * Allocations that fail on demand. Test programs are linked with --wrap for malloc, calloc, realloc, aligned_alloc and
 * posix_memalign, so that every call from the project's own code comes by here; with libxsmm, without malloc and realloc.
 */
#ifndef TESTS_FAILING_ALLOC_H
#define TESTS_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The next n allocations succeed, all later allocations fail, until failing_alloc_stop. For tests with a single thread.
 */
void failing_alloc_after(size_t n);

/* Tells whether malloc and realloc fail, too. Not for use before failing_alloc_stop. */
bool failing_alloc_has_malloc(void);

/* Back to normal. Returns how many allocations were refused. */
size_t failing_alloc_stop(void);

/*
 * Calls f(ctx) in a child process, where all allocations after the next n fail. Returns true if the child ended for
 * want of memory: with a line that says so, and with the exit status for want of memory. Returns false if f returned.
 */
bool failing_alloc_ends(size_t n, void (*f)(void *ctx), void *ctx);

#endif
