#include "tests/failing_alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_calloc(size_t n, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);

static struct {
    bool is_on;
    size_t left, n_refused;
} state; /* test program only */

void failing_alloc_after(size_t n)
{
    state.left = n;
    state.n_refused = 0;
    state.is_on = true;
}

size_t failing_alloc_stop(void)
{
    state.is_on = false;
    return state.n_refused;
}

static bool refuses(void)
{
    if (!state.is_on)
        return false;
    if (state.left) {
        state.left--;
        return false;
    }
    state.n_refused++;
    return true;
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    if (!refuses())
        return __real_calloc(n, bytes);
    errno = ENOMEM;
    return NULL;
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    return refuses() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}
