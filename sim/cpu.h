/*
 * Which instructions the CPU of this process executes, and which of them the program may use. (sim/machine/machine.h
 * describes the simulated machine.) The environment variable CONV_CPU masks wider instruction sets: with CONV_CPU=avx2
 * a CPU with AVX-512 behaves like a CPU with AVX2 only; "baseline" leaves portable C.
 */
#ifndef SIM_CPU_H
#define SIM_CPU_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/why.h"

#define CPU_LIMIT_VARIABLE "CONV_CPU"

enum cpu_isa {
    CPU_ISA_NONE,   /* portable C */
    CPU_ISA_AVX2,   /* x86-64 with AVX2, FMA, BMI, BMI2 and POPCNT */
    CPU_ISA_AVX512, /* x86-64 with AVX-512 F, BW, DQ, VL and CD, BMI and BMI2 */
    CPU_ISA_MMA,    /* POWER10 matrix-multiply assist */
    CPU_N_ISAS,
};

/* Instructions that some CPUs of an instruction set have beside the set: sums of products of narrow elements. */
enum cpu_extension {
    CPU_EXT_NONE,
    CPU_EXT_BF16,     /* AVX512_BF16: vdpbf16ps */
    CPU_EXT_VNNI,     /* AVX512_VNNI: vpdpbusd */
    CPU_EXT_AMX_BF16, /* AMX-TILE and AMX-BF16: tdpbf16ps on tiles */
    CPU_EXT_AMX_INT8, /* AMX-TILE and AMX-INT8: tdpbsud on tiles */
    CPU_N_EXTENSIONS,
};

const char *sim_cpu_isa_name(enum cpu_isa isa);

/*
 * Finds an instruction set by the suffix of micro-kernels' names: "avx2" for "f32_16x6__avx2". Returns whether there is
 * one.
 */
bool sim_cpu_isa_find(const char *suffix, enum cpu_isa *isa);

/* Returns the suffix of an instruction set in micro-kernels' names. */
const char *sim_cpu_isa_suffix(enum cpu_isa isa);

/* Tells whether every CPU with `isa` has `other`, too. */
bool sim_cpu_isa_includes(enum cpu_isa isa, enum cpu_isa other);

/*
 * Tells whether this CPU, under this operating system, executes the instruction set, and CONV_CPU does not mask the
 * set.
 */
bool sim_cpu_has(enum cpu_isa isa);

/*
 * As sim_cpu_has, for an extension of AVX-512; every CPU has CPU_EXT_NONE. CONV_CPU masks tiles, which are wider than all
 * sets. Linux gives a process tiles on request only: the question asks for tiles, and the answer is no if Linux refuses.
 * A permission is of the whole process, and lasts.
 */
bool sim_cpu_extends(enum cpu_extension extension);

/* Tells whether CONV_CPU names a limit. An unknown limit masks all sets. */
bool sim_cpu_is_limited(void);

/* Returns 0, or -EINVAL with a line in why if CONV_CPU names no instruction set of this CPU. */
int sim_cpu_check_limit(struct sim_why why);

#endif
