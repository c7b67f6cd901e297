/* What the CPU can execute. */
#ifndef KERNELS_CPU_H
#define KERNELS_CPU_H

#include <stdbool.h>

enum cpu_isa {
    CPU_ISA_NONE,   /* portable C */
    CPU_ISA_AVX2,   /* x86-64 with AVX2 and FMA */
    CPU_ISA_AVX512, /* x86-64 with AVX-512 F, BW, DQ and VL */
    CPU_ISA_MMA,    /* POWER10 matrix-multiply assist */
    CPU_N_ISAS,
};

const char *cpu_isa_name(enum cpu_isa isa);

/* The instruction set as micro-kernels' names end, "avx2" for "f32_16x6__avx2"; false if there is none of that name. */
bool cpu_isa_find(const char *suffix, enum cpu_isa *isa);

/* Whether this CPU, under this operating system, executes the instruction set. */
bool cpu_has(enum cpu_isa isa);

#endif
