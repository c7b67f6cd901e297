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

/* The rest of the lines of a call, list by list. */
struct ukr_asks {
    size_t n_steps, each; /* further asking steps, lines of a step */
    const struct conv_ahead *list, *end;
    uint64_t at;
    size_t n; /* lines of the list */
};

static inline struct ukr_asks ukr_no_asks(void)
{
    return (struct ukr_asks){ .n_steps = 0 };
}

static inline struct ukr_asks ukr_asks_of(const struct conv_ukr_args *a)
{
    const struct conv_ahead_lists *ahead = a->ahead;

    if (!ahead || !ahead->n_steps)
        return ukr_no_asks();
    return (struct ukr_asks){
        .n_steps = ahead->n_steps,
        .each = ahead->each,
        .list = ahead->list,
        .end = ahead->list + ahead->n,
        .at = ahead->list[0].addr,
        .n = ahead->list[0].n,
    };
}

/* Asks for the next lines, list by list. */
static inline __attribute__((always_inline)) void ukr_ask_lines(struct ukr_asks *q, size_t lines)
{
    while (lines) {
        const uint64_t apart = (uint64_t)q->list->step_bytes;
        size_t n = lines < q->n ? lines : q->n;
        uint64_t at = q->at;

        lines -= n;
        q->n -= n;
#pragma GCC unroll 1
        for (; n; n--, at += apart)
            PREFETCH(conv_in_ptr(at));
        q->at = at;
        if (q->n)
            return;
        if (++q->list == q->end)
            return;
        q->at = q->list->addr;
        q->n = q->list->n;
    }
}

/* Asks for the lines of a step. Most steps have none. */
static inline __attribute__((always_inline)) void ukr_ask(struct ukr_asks *q)
{
    if (__builtin_expect(!q->n_steps, true))
        return;
    q->n_steps--;
    ukr_ask_lines(q, q->each);
}

/* Asks for the lines of n steps together. */
static inline __attribute__((always_inline)) void ukr_ask_block(struct ukr_asks *q, size_t n)
{
    if (__builtin_expect(!q->n_steps, true))
        return;
    q->n_steps -= n < q->n_steps ? n : q->n_steps;
    ukr_ask_lines(q, q->each * n);
}

#endif
