/*
 * The frame of the loops of instructions: each turn is eight copies of an instruction, then the turn's end with a
 * branch. The memory's address is in %1. Internal to the loops.
 */
#ifndef CTR_LOOP_ASM_H
#define CTR_LOOP_ASM_H

#include "counters/perf/ctr_loop.h"

#define CTR_EIGHT(x) x x x x x x x x

#if defined(__x86_64__)

#define CTR_LOOP(linkage, name, instruction, ...)                                                                      \
    linkage void name(const struct ctr_ground *g)                                                                      \
    {                                                                                                                  \
        size_t n = g->n_turns;                                                                                         \
                                                                                                                       \
        __asm__ volatile("1:\n\t" CTR_EIGHT(instruction "\n\t") "dec %0\n\tjnz 1b"                                     \
                         : "+r"(n)                                                                                     \
                         : "r"(g->memory)                                                                              \
                         : "cc", "memory", __VA_ARGS__);                                                               \
    }

/* Runs on CPUs with AVX and FMA only. */
void ctr_run_broadcasts__avx2(const struct ctr_ground *g);
void ctr_run_fmas__avx2(const struct ctr_ground *g);

#elif defined(__powerpc64__)

#define CTR_LOOP(linkage, name, instruction, ...)                                                                      \
    linkage void name(const struct ctr_ground *g)                                                                      \
    {                                                                                                                  \
        __asm__ volatile("mtctr %0\n1:\n\t" CTR_EIGHT(instruction "\n\t") "bdnz 1b" ::"r"(g->n_turns), "b"(g->memory)  \
                         : "ctr", "memory", __VA_ARGS__);                                                              \
    }

#elif defined(__aarch64__)

#define CTR_LOOP(linkage, name, instruction, ...)                                                                      \
    linkage void name(const struct ctr_ground *g)                                                                      \
    {                                                                                                                  \
        size_t n = g->n_turns;                                                                                         \
                                                                                                                       \
        __asm__ volatile("1:\n\t" CTR_EIGHT(instruction "\n\t") "subs %0, %0, #1\n\tb.ne 1b"                           \
                         : "+r"(n)                                                                                     \
                         : "r"(g->memory)                                                                              \
                         : "cc", "memory", __VA_ARGS__);                                                               \
    }

#endif /* all further families have no loops, and so no proven counters */

#endif
