#include "counters/perf/ctr_stream.h"

#include <stdint.h>

#include "counters/perf/ctr_stream_asm.h"

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)

#define LOAD_8(at) "movq " at "(%0), %%rax\n\t"
#define STORE_8(at) "movq %%rax, " at "(%0)\n\t"
#define LOAD_16(at) "movups " at "(%0), %%xmm0\n\t"
#define STORE_16(at) "movups %%xmm0, " at "(%0)\n\t"

CTR_STREAM(static, read_8, 8, LOAD_8, "")
CTR_STREAM(static, write_8, 8, STORE_8, "")
CTR_STREAM(static, read_16, 16, LOAD_16, "")
CTR_STREAM(static, write_16, 16, STORE_16, "")

static bool has_avx(void)
{
    return __builtin_cpu_supports("avx");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

#elif defined(__aarch64__)

static void read_16(void *memory, size_t bytes)
{
    const char *at = memory, *end = at + bytes;

    __asm__ volatile("1:\n\tldp q0, q1, [%0]\n\tldp q0, q1, [%0, #32]\n\tldp q0, q1, [%0, #64]\n\t"
                     "ldp q0, q1, [%0, #96]\n\tadd %0, %0, #128\n\tcmp %0, %1\n\tb.lo 1b"
                     : "+r"(at)
                     : "r"(end)
                     : "cc", "memory", "v0", "v1");
}

static void write_16(void *memory, size_t bytes)
{
    char *at = memory, *end = at + bytes;

    __asm__ volatile("1:\n\tstp q0, q1, [%0]\n\tstp q0, q1, [%0, #32]\n\tstp q0, q1, [%0, #64]\n\t"
                     "stp q0, q1, [%0, #96]\n\tadd %0, %0, #128\n\tcmp %0, %1\n\tb.lo 1b"
                     : "+r"(at)
                     : "r"(end)
                     : "cc", "memory", "v0", "v1");
}

#endif

#if !defined(__x86_64__)

/* Plain C, in which the compiler keeps every access: for families without a loop above, and for the narrowest width. */
static void read_8(void *memory, size_t bytes)
{
    const volatile uint64_t *at = memory;

    for (size_t i = 0; i < bytes / sizeof *at; i += 8) {
        (void)at[i], (void)at[i + 1], (void)at[i + 2], (void)at[i + 3];
        (void)at[i + 4], (void)at[i + 5], (void)at[i + 6], (void)at[i + 7];
    }
}

static void write_8(void *memory, size_t bytes)
{
    volatile uint64_t *at = memory;

    for (size_t i = 0; i < bytes / sizeof *at; i += 8) {
        at[i] = at[i + 1] = at[i + 2] = at[i + 3] = 0;
        at[i + 4] = at[i + 5] = at[i + 6] = at[i + 7] = 0;
    }
}

#endif

const struct ctr_stream ctr_streams[] = {
    { "read 8 B", 8, false, always, read_8 },
#if defined(__x86_64__) || defined(__aarch64__)
    { "read 16 B", 16, false, always, read_16 },
#endif
#if defined(__x86_64__)
    { "read 32 B", 32, false, has_avx, ctr_read_32__avx2 },
    { "read 64 B", 64, false, has_avx512, ctr_read_64__avx512 },
#endif
    { "write 8 B", 8, true, always, write_8 },
#if defined(__x86_64__) || defined(__aarch64__)
    { "write 16 B", 16, true, always, write_16 },
#endif
#if defined(__x86_64__)
    { "write 32 B", 32, true, has_avx, ctr_write_32__avx2 },
    { "write 64 B", 64, true, has_avx512, ctr_write_64__avx512 },
#endif
    { .name = NULL },
};
