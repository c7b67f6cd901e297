/*
 * Vector loads and stores of up to 16 bytes for the POWER10 kernels, partial vectors included, an instruction each
 * (lxv, lxvl, stxv, stxvl), executed in the order of the source: the order of emit. The compiler's access
 * instrumentation (-fsanitize=thread) sees whole vectors; partial loads and stores report themselves to its hooks.
 * Internal to kernels/ukr.
 */
#ifndef KERNELS_UKR_PPC_LOAD_H
#define KERNELS_UKR_PPC_LOAD_H

#include <altivec.h>
#include <stddef.h>

/* <altivec.h> takes these words from C. */
#undef vector
#undef pixel
#undef bool
#define bool _Bool

typedef __vector float ppc_vector;

enum { PPC_LANES = 4, PPC_BYTES = 16 };

#if defined(__SANITIZE_THREAD__)
void __tsan_read_range(void *p, unsigned long bytes);
void __tsan_write_range(void *p, unsigned long bytes);
#define LOG_READ(p, bytes) __tsan_read_range((void *)(p), (bytes))
#define LOG_WRITE(p, bytes) __tsan_write_range((void *)(p), (bytes))
#else
#define LOG_READ(p, bytes) ((void)0)
#define LOG_WRITE(p, bytes) ((void)0)
#endif

/* Keeps a vector in its register and the memory accesses before and after it in their order. */
#define IN_ORDER(vector) __asm__ volatile("" : "+wa"(vector) : : "memory")

static inline ppc_vector ppc_load(const float *p)
{
    ppc_vector v = vec_xl(0, p);

    IN_ORDER(v);
    return v;
}

/* The first bytes, 1 .. 15, the rest zero. */
static inline ppc_vector ppc_load_part(const float *p, size_t bytes)
{
    ppc_vector v = vec_xl_len((float *)(size_t)p, bytes);

    LOG_READ(p, bytes);
    IN_ORDER(v);
    return v;
}

static inline void ppc_store(float *p, ppc_vector v)
{
    vec_xst(v, 0, p);
    IN_ORDER(v);
}

static inline void ppc_store_part(float *p, ppc_vector v, size_t bytes)
{
    LOG_WRITE(p, bytes);
    vec_xst_len(v, p, bytes);
    IN_ORDER(v);
}

#endif
