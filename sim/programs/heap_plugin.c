/*
 * A library that `cachesim --heap` loads into the traced program before other libraries. The library reports the
 * program's allocations:
 *
 *     LD_PRELOAD=heap.so CACHESIM_HEAP=FILE CACHESIM_HEAP_PROGRAM=PROGRAM PROGRAM
 *
 * Each allocation appends a record to FILE (cachesim_heap.h), and then reads the first byte of a page at a fixed
 * address. When the reader of the trace sees the access, the reader takes the next record. An access to the page's
 * second byte begins the library's own accesses, which count nowhere; the access to the first byte ends them. When the
 * library is loaded, it maps the page and reads the third byte: a trace without this access shows that the library was
 * not loaded.
 *
 * A statically linked program, and memory that a program maps itself, have no names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/programs/cachesim_heap.h"

#define EXPORT __attribute__((visibility("default")))

/* The allocators of the C library, under the names that the C library has for replacements like this. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

EXPORT void *malloc(size_t bytes);
EXPORT void *calloc(size_t n, size_t bytes);
EXPORT void *realloc(void *at, size_t bytes);
EXPORT void *memalign(size_t alignment, size_t bytes);
EXPORT void *aligned_alloc(size_t alignment, size_t bytes);
EXPORT int posix_memalign(void **at, size_t alignment, size_t bytes);
EXPORT void *heap_new(size_t bytes) __asm__("_Znwm");       /* operator new of C++ */
EXPORT void *heap_new_array(size_t bytes) __asm__("_Znam"); /* operator new[] */

/* The process to report; 0: not known yet; -1: nobody listens. Allocators have no further argument. */
static pid_t heard;

/* Tells whether this is the traced program: Valgrind itself is none, nor are the program's children. */
static bool is_traced(void)
{
    const char *program = getenv(CACHESIM_HEAP_PROGRAM);
    char own[4096];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);

    return program && n > 0 && (size_t)n == strlen(program) && !memcmp(own, program, (size_t)n);
}

static void touch(size_t byte)
{
    (void)*(const volatile char *)(uintptr_t)(CACHESIM_HEAP_PAGE + byte);
}

static bool listens(void)
{
    void *page = (void *)(uintptr_t)CACHESIM_HEAP_PAGE;

    if (!heard && environ) {
        heard = -1;
        if (getenv(CACHESIM_HEAP_VARIABLE) && is_traced() &&
            mmap(page, CACHESIM_HEAP_PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
                page) {
            heard = getpid();
            touch(CACHESIM_HEAP_HERE);
        }
    }
    return heard > 0 && heard == getpid();
}

/* Reports that the library is loaded, even if the program allocates nothing. */
__attribute__((constructor)) static void arrive(void)
{
    listens();
}

static void append(const struct cachesim_heap_record *r)
{
    const int file = open(getenv(CACHESIM_HEAP_VARIABLE), O_WRONLY | O_APPEND | O_CLOEXEC);

    if (file < 0 || write(file, r, sizeof *r) != sizeof *r)
        heard = -1;
    if (file >= 0)
        close(file);
}

/* Tells of an allocation: by whom, how much. */
static void tell(const void *at, size_t bytes, const void *caller)
{
    const struct cachesim_heap_record r = { (uintptr_t)at, bytes, (uintptr_t)caller - 1 };
    const int error = errno;

    if (!at || !listens()) {
        errno = error;
        return;
    }
    touch(CACHESIM_HEAP_QUIET);
    append(&r);
    touch(CACHESIM_HEAP_READY);
    errno = error;
}

void *malloc(size_t bytes)
{
    void *at = __libc_malloc(bytes);

    tell(at, bytes, __builtin_return_address(0));
    return at;
}

void *calloc(size_t n, size_t bytes)
{
    void *at = __libc_calloc(n, bytes);

    tell(at, n * bytes, __builtin_return_address(0));
    return at;
}

void *realloc(void *old, size_t bytes)
{
    void *at = __libc_realloc(old, bytes);

    tell(at, bytes, __builtin_return_address(0));
    return at;
}

void *memalign(size_t alignment, size_t bytes)
{
    void *at = __libc_memalign(alignment, bytes);

    tell(at, bytes, __builtin_return_address(0));
    return at;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *at = __libc_memalign(alignment, bytes);

    tell(at, bytes, __builtin_return_address(0));
    return at;
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    const bool is_fit = alignment && !(alignment % sizeof *to) && !(alignment & (alignment - 1));
    void *at = is_fit ? __libc_memalign(alignment, bytes) : NULL;

    if (!at)
        return is_fit ? ENOMEM : EINVAL;
    tell(at, bytes, __builtin_return_address(0));
    *to = at;
    return 0;
}

void *heap_new(size_t bytes)
{
    void *at = __libc_malloc(bytes ? bytes : 1);

    if (!at)
        abort(); /* it cannot throw */
    tell(at, bytes, __builtin_return_address(0));
    return at;
}

void *heap_new_array(size_t bytes)
{
    void *at = __libc_malloc(bytes ? bytes : 1);

    if (!at)
        abort();
    tell(at, bytes, __builtin_return_address(0));
    return at;
}
