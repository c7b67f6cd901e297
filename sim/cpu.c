#define _DEFAULT_SOURCE /* syscall */
#include "sim/cpu.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__powerpc64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static const struct {
    const char *name;
    const char *suffix; /* of micro-kernels */
    const char *limit;  /* value of CONV_CPU */
} isas[CPU_N_ISAS] = {
    [CPU_ISA_NONE] = { "portable C", "ref", "baseline" },
    [CPU_ISA_AVX2] = { "AVX2+FMA", "avx2", "avx2" },
    [CPU_ISA_AVX512] = { "AVX-512", "avx512", "avx512" },
    [CPU_ISA_MMA] = { "POWER10 MMA", "mma", "mma" },
};

const char *sim_cpu_isa_name(enum cpu_isa isa)
{
    assert(isa < CPU_N_ISAS);
    return isas[isa].name;
}

const char *sim_cpu_isa_suffix(enum cpu_isa isa)
{
    assert(isa < CPU_N_ISAS);
    return isas[isa].suffix;
}

bool sim_cpu_isa_find(const char *suffix, enum cpu_isa *isa)
{
    assert(suffix && isa);
    for (unsigned i = 0; i < CPU_N_ISAS; i++) {
        if (!strcmp(suffix, isas[i].suffix)) {
            *isa = (enum cpu_isa)i;
            return true;
        }
    }
    return false;
}

bool sim_cpu_isa_includes(enum cpu_isa isa, enum cpu_isa other)
{
    return isa == other || other == CPU_ISA_NONE || (isa == CPU_ISA_AVX512 && other == CPU_ISA_AVX2);
}

#if defined(__x86_64__)
static bool executes(enum cpu_isa isa)
{
    __builtin_cpu_init(); /* also checks if the operating system saves the registers */
    switch (isa) {
    case CPU_ISA_NONE:
        return true;
    case CPU_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    case CPU_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    default:
        return false;
    }
}

/* Asks Linux for the tiles' state, component 18 of XSAVE: Documentation/arch/x86/xstate.rst. */
static bool may_use_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

    return !sim_cpu_is_limited() && __builtin_cpu_supports("amx-tile") &&
           !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}

static bool extends(enum cpu_extension extension)
{
    __builtin_cpu_init();
    switch (extension) {
    case CPU_EXT_BF16:
        return __builtin_cpu_supports("avx512bf16");
    case CPU_EXT_VNNI:
        return __builtin_cpu_supports("avx512vnni");
    case CPU_EXT_AMX_BF16:
        return __builtin_cpu_supports("amx-bf16") && may_use_tiles();
    case CPU_EXT_AMX_INT8:
        return __builtin_cpu_supports("amx-int8") && may_use_tiles();
    default:
        return false;
    }
}
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
static bool executes(enum cpu_isa isa)
{
    /* The kernel's bits: an operating system that does not save the accumulators clears the bit. */
    const unsigned long needed = PPC_FEATURE2_ARCH_3_1 | PPC_FEATURE2_MMA;

    return isa == CPU_ISA_NONE || (isa == CPU_ISA_MMA && (getauxval(AT_HWCAP2) & needed) == needed);
}
#else
static bool executes(enum cpu_isa isa)
{
    return isa == CPU_ISA_NONE;
}
#endif

#if !defined(__x86_64__)
static bool extends(enum cpu_extension extension)
{
    (void)extension;
    return false;
}
#endif

/* NULL: everything may be used. */
static const char *limit_text(void)
{
    const char *text = getenv(CPU_LIMIT_VARIABLE);

    return text && *text ? text : NULL;
}

/* Returns the widest instruction set that text allows; CPU_N_ISAS if text is no limit of this CPU. */
static enum cpu_isa limit_of(const char *text)
{
    unsigned isa = 0;

    while (isa < CPU_N_ISAS && (strcmp(text, isas[isa].limit) || !executes((enum cpu_isa)isa)))
        isa++;
    return (enum cpu_isa)isa;
}

bool sim_cpu_is_limited(void)
{
    return limit_text() != NULL;
}

bool sim_cpu_has(enum cpu_isa isa)
{
    const char *text = limit_text();
    enum cpu_isa limit = text ? limit_of(text) : CPU_N_ISAS;

    if (text && limit == CPU_N_ISAS)
        limit = CPU_ISA_NONE;
    return isa <= limit && executes(isa);
}

bool sim_cpu_extends(enum cpu_extension extension)
{
    assert(extension < CPU_N_EXTENSIONS);
    return extension == CPU_EXT_NONE || (sim_cpu_has(CPU_ISA_AVX512) && extends(extension));
}

int sim_cpu_check_limit(struct sim_why why)
{
    const char *text = limit_text();
    char known[64] = "";

    if (!text || limit_of(text) != CPU_N_ISAS)
        return 0;
    for (unsigned i = 0; i < CPU_N_ISAS; i++) {
        size_t used = strlen(known);

        if (executes((enum cpu_isa)i))
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", isas[i].limit);
    }
    return sim_fail(why, -EINVAL, "%s=%s: this CPU can behave as: %s", CPU_LIMIT_VARIABLE, text, known);
}
