/* The frame of the loops of ctr_stream.h: eight instructions in each turn, as wide as the name says. */
#ifndef CTR_STREAM_ASM_H
#define CTR_STREAM_ASM_H

#include "counters/perf/ctr_stream.h"

#if defined(__x86_64__)

/* instruction(offset) is the text of an instruction; last ends the loop. */
#define CTR_STREAM(linkage, name, width, instruction, last)                                                            \
    linkage void name(void *memory, size_t bytes)                                                                      \
    {                                                                                                                  \
        char *at = memory, *end = at + bytes;                                                                          \
                                                                                                                       \
        __asm__ volatile("1:\n\t" instruction("0*" #width) instruction("1*" #width) instruction("2*" #width)           \
                             instruction("3*" #width) instruction("4*" #width) instruction("5*" #width)                \
                                 instruction("6*" #width) instruction("7*" #width) "addq $8*" #width                   \
                                                                                   ", %0\n\tcmpq %1, %0\n\tjb 1b" last \
                         : "+r"(at)                                                                                    \
                         : "r"(end)                                                                                    \
                         : "cc", "memory", "rax", "xmm0");                                                             \
    }

/* Only for CPUs with the instructions. */
void ctr_read_32__avx2(void *memory, size_t bytes);
void ctr_write_32__avx2(void *memory, size_t bytes);
void ctr_read_64__avx512(void *memory, size_t bytes);
void ctr_write_64__avx512(void *memory, size_t bytes);

#endif

#endif
