#include "counters/host/ctr_flush.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { LINE_BYTES = 64 }; /* no CPU with a flush instruction has shorter lines; longer lines are flushed twice */

#if defined(__x86_64__)

#include <cpuid.h>

enum { CLFLUSHOPT = 1u << 23 }; /* leaf 7, EBX */

static bool has_clflushopt(void)
{
    unsigned a, b = 0, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & CLFLUSHOPT;
}

const char *ctr_flush_name(void)
{
    return has_clflushopt() ? "clflushopt" : "clflush";
}

/* Flushes line by line. clflush is ordered; clflushopt, the same opcode with a prefix, is not. */
static void flush_lines(const char *line, const char *end)
{
    if (has_clflushopt()) {
        for (; line < end; line += LINE_BYTES)
            __asm__ volatile(".byte 0x66\n\tclflush (%0)" ::"r"(line) : "memory");
    } else {
        for (; line < end; line += LINE_BYTES)
            __asm__ volatile("clflush (%0)" ::"r"(line) : "memory");
    }
    __asm__ volatile("mfence" ::: "memory");
}

#elif defined(__aarch64__)

const char *ctr_flush_name(void)
{
    return "dc civac";
}

static void flush_lines(const char *line, const char *end)
{
    for (; line < end; line += LINE_BYTES)
        __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
    __asm__ volatile("dsb sy" ::: "memory");
}

#elif defined(__powerpc64__)

const char *ctr_flush_name(void)
{
    return "dcbf";
}

static void flush_lines(const char *line, const char *end)
{
    for (; line < end; line += LINE_BYTES)
        __asm__ volatile("dcbf 0, %0" ::"r"(line) : "memory");
    __asm__ volatile("sync" ::: "memory");
}

#else

const char *ctr_flush_name(void)
{
    return NULL;
}

static void flush_lines(const char *line, const char *end)
{
    (void)line;
    (void)end;
}

#endif

void ctr_flush(const void *start, size_t bytes)
{
    const char *first = (const char *)((uintptr_t)start & ~(uintptr_t)(LINE_BYTES - 1));

    assert(start || !bytes);
    flush_lines(first, (const char *)start + bytes);
}
