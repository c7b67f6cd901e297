#include "kernels/cpu.h"

#include <string.h>

#if defined(__powerpc64__)
#include <sys/auxv.h>
#endif

const char *cpu_isa_name(enum cpu_isa isa)
{
    static const char *const names[CPU_N_ISAS] = { "portable C", "AVX2+FMA", "AVX-512", "POWER10 MMA" };

    return names[isa];
}

bool cpu_isa_find(const char *suffix, enum cpu_isa *isa)
{
    static const char *const suffixes[CPU_N_ISAS] = { "ref", "avx2", "avx512", "mma" };

    for (unsigned i = 0; i < CPU_N_ISAS; i++) {
        if (!strcmp(suffix, suffixes[i])) {
            *isa = (enum cpu_isa)i;
            return true;
        }
    }
    return false;
}

#if defined(__x86_64__)
bool cpu_has(enum cpu_isa isa)
{
    __builtin_cpu_init(); /* also checks that the operating system saves the registers */
    switch (isa) {
    case CPU_ISA_NONE:
        return true;
    case CPU_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case CPU_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    default:
        return false;
    }
}
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
bool cpu_has(enum cpu_isa isa)
{
    /* The kernel tells; an operating system that does not save the accumulators clears the bit. */
    const unsigned long needed = PPC_FEATURE2_ARCH_3_1 | PPC_FEATURE2_MMA;

    return isa == CPU_ISA_NONE || (isa == CPU_ISA_MMA && (getauxval(AT_HWCAP2) & needed) == needed);
}
#else
bool cpu_has(enum cpu_isa isa)
{
    return isa == CPU_ISA_NONE;
}
#endif
