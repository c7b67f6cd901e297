/*
 * Masked vector accesses for the kernels. Compiled with -fsanitize=thread, they report themselves to the hooks that the
 * compiler calls for every plain access, so tests see all accesses. Internal to kernels/ukr.
 *
 * IN_REGISTER keeps a loaded vector in a register: without IN_REGISTER, the compiler may fold a load into several
 * instructions as a memory operand, and load twice where the source loads once. IN_ORDER keeps the memory accesses
 * before and after it in their order.
 */
#ifndef KERNELS_UKR_X86_MASK_H
#define KERNELS_UKR_X86_MASK_H

#include <immintrin.h>
#include <stddef.h>

#define IN_REGISTER(vector) __asm__("" : "+v"(vector))
#define IN_ORDER() __asm__ volatile("" : : : "memory")

#if defined(__SANITIZE_THREAD__)
void __tsan_read_range(void *p, unsigned long bytes);
void __tsan_write_range(void *p, unsigned long bytes);
#define LOG_READ(p, bytes) __tsan_read_range((void *)(p), (bytes))
#define LOG_WRITE(p, bytes) __tsan_write_range((void *)(p), (bytes))
#else
#define LOG_READ(p, bytes) ((void)0)
#define LOG_WRITE(p, bytes) ((void)0)
#endif

#endif
