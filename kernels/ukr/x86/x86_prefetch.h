/* Prefetches for later calls (struct conv_ahead), into L2: lines would not stay in L1. Internal to kernels/ukr. */
#ifndef KERNELS_UKR_X86_PREFETCH_H
#define KERNELS_UKR_X86_PREFETCH_H

#include "kernels/ukr/ukr.h"
#include "kernels/ukr/x86/x86_mask.h"

/* Only the tests' copy of the kernels logs prefetches: ThreadSanitizer has hooks for loads and stores alone. */
#if defined(LOGGED_PREFETCHES)
void logged_prefetch(const void *p);
#define PREFETCH(p) logged_prefetch(p)
#else
#define PREFETCH(p) _mm_prefetch((const char *)(p), _MM_HINT_T1)
#endif

/* n_steps: ukr_prefetch_steps(a), kept in a register. */
static inline size_t ukr_prefetch_steps(const struct conv_ukr_args *a)
{
    return a->ahead ? a->ahead->n_steps : 0;
}

static inline __attribute__((always_inline)) void ukr_prefetch(const struct conv_ukr_args *a, size_t n_steps, size_t t)
{
    if (__builtin_expect(t >= n_steps, true))
        return;
#pragma GCC unroll 8
    for (size_t l = 0; l < CONV_N_AHEAD; l++) {
        const struct conv_ahead *list = &a->ahead->list[l];

        if (l == a->ahead->n)
            return;
        if (t < list->n)
            PREFETCH(conv_in_ptr(list->addr + t * (uint64_t)list->step_bytes));
    }
}

/* As ukr_prefetch, for n steps from t on. */
static inline __attribute__((always_inline)) void ukr_prefetch_block(const struct conv_ukr_args *a, size_t n_steps,
                                                                     size_t t, const size_t n)
{
#pragma GCC unroll 4
    for (size_t s = 0; s < n; s++)
        ukr_prefetch(a, n_steps, t + s);
}

#endif
