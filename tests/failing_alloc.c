#include "tests/failing_alloc.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/base/program.h"
#include "tests/suites.h"

void *__real_malloc(size_t bytes) __attribute__((weak));
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes) __attribute__((weak));
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
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

bool failing_alloc_has_malloc(void)
{
    void *volatile memory; /* the compiler leaves the call */

    failing_alloc_after(0);
    memory = malloc(1);
    free(memory);
    return failing_alloc_stop() > 0;
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

static void *nothing(void)
{
    errno = ENOMEM;
    return NULL;
}

void *__wrap_malloc(size_t bytes)
{
    return refuses() ? nothing() : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return refuses() ? nothing() : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return refuses() ? nothing() : __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuses() ? nothing() : __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    return refuses() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}

enum { RETURNED = 77 };

bool failing_alloc_ends(size_t n, void (*f)(void *ctx), void *ctx)
{
    char said[256] = "";
    int ends[2], status;
    ssize_t length;
    pid_t pid;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid = fork();
    if (!pid) {
        dup2(ends[1], STDERR_FILENO);
        exp_program_named("suite");
        failing_alloc_after(n);
        f(ctx);
        _exit(RETURNED);
    }
    close(ends[1]);
    length = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == RETURNED && !length)
        return false;
    test_check(WIFEXITED(status) && WEXITSTATUS(status) == EXP_EXIT_BAD_INPUT && strstr(said, "suite: out of memory\n"),
               "status %d, '%s'", status, said);
    return true;
}
