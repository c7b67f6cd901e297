/*
 * Tells what the CPU that this program runs on can execute (sim/machine/machine.h has the simulated one), and how much
 * of that is used. The environment variable CONV_CPU masks what is wider than the instruction set it names: with
 * CONV_CPU=avx2 a CPU that has AVX-512 behaves as one that does not; "baseline" leaves portable C.
 */
#ifndef SIM_CPU_H
#define SIM_CPU_H

#include <stdbool.h>
#include <stddef.h>

#define CPU_LIMIT_VARIABLE "CONV_CPU"

enum cpu_isa {
    CPU_ISA_NONE,   /* portable C */
    CPU_ISA_AVX2,   /* x86-64 with AVX2, FMA, BMI, BMI2 and POPCNT */
    CPU_ISA_AVX512, /* x86-64 with AVX-512 F, BW, DQ, VL and CD, BMI and BMI2 */
    CPU_ISA_MMA,    /* POWER10 matrix-multiply assist */
    CPU_N_ISAS,
};

const char *sim_cpu_isa_name(enum cpu_isa isa);

/* The instruction set as micro-kernels' names end, "avx2" for "f32_16x6__avx2"; false if there is none of that name. */
bool sim_cpu_isa_find(const char *suffix, enum cpu_isa *isa);

/* The same the other way round. */
const char *sim_cpu_isa_suffix(enum cpu_isa isa);

/* Tells whether every CPU that has the instruction set has the other one, too. */
bool sim_cpu_isa_includes(enum cpu_isa isa, enum cpu_isa other);

/* Tells whether this CPU, under this operating system, executes the instruction set, and CONV_CPU does not mask it. */
bool sim_cpu_has(enum cpu_isa isa);

/* Tells whether CONV_CPU names a limit. An unknown one masks everything. */
bool sim_cpu_is_limited(void);

/* Returns 0, or -EINVAL with one line in why if CONV_CPU names nothing that this CPU executes. */
int sim_cpu_check_limit(char *why, size_t why_bytes);

#endif
