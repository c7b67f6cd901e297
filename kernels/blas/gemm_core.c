#include "kernels/blas/gemm_core.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/blas/core_loads.h"

/* A core: name, instruction set; block sizes; width of cleared pieces; micro-kernel's tile and emission. */
#define X86_CORE(core, isa_, p_, q_, r_, zero, small, windows, filters, copies_, fmas, emit_)                          \
    {                                                                                                                  \
        .name = core, .p = p_, .q = q_, .r = r_, .unroll_win = windows, .first_pass_f = 12, .copies = copies_,         \
        .zero_bytes = zero, .has_small = small,                                                                        \
        .ukr = {                                                                                                       \
            .name = "openblas_" core,                                                                                  \
            .isa = isa_,                                                                                               \
            .n_win = windows,                                                                                          \
            .n_f = filters,                                                                                            \
            .win_granule = 1,                                                                                          \
            .f_panel = 4,                                                                                              \
            .splits_edges = true,                                                                                      \
            .takes_columns = true,                                                                                     \
            .step_fmas = fmas,                                                                                         \
            .emit = emit_,                                                                                             \
        },                                                                                                             \
    }

#define AVX512_CORE(core, p, q, r)                                                                                     \
    X86_CORE(core, CPU_ISA_AVX512, p, q, r, 64, true, 16, 24, &conv_copies_skylakex, conv_core_avx512_fmas,            \
             conv_core_avx512_emit)
#define AVX2_CORE(core, copies)                                                                                        \
    X86_CORE(core, CPU_ISA_AVX2, 320, 320, 104512, 32, false, 8, 12, copies, conv_core_avx2_fmas, conv_core_avx2_emit)

static const struct conv_gemm_core cores[] = {
    AVX512_CORE("SkylakeX", 448, 448, 74432),
    AVX512_CORE("Cooperlake", 640, 320, 104192),
    AVX2_CORE("Haswell", &conv_copies_haswell),
    AVX2_CORE("Zen", &conv_copies_zen),
    {
        .name = "POWER10",
        .p = 512,
        .q = 512,
        .r = 4096,
        .unroll_win = 16,
        .first_pass_f = 24,
        .copies = &conv_copies_power10,
        .zero_bytes = 4,
        .ukr = {
            .name = "openblas_POWER10",
            .isa = CPU_ISA_MMA,
            .n_win = 16,
            .n_f = 8,
            .win_granule = 1,
            .f_panel = 8,
            .splits_edges = true,
            .takes_columns = true,
            .emit = conv_core_mma_emit,
        },
    },
};

size_t conv_gemm_core_count(void)
{
    return sizeof cores / sizeof cores[0];
}

const struct conv_gemm_core *conv_gemm_core_at(size_t i)
{
    assert(i < conv_gemm_core_count());
    return &cores[i];
}

const struct conv_gemm_core *conv_gemm_core_find(const char *name)
{
    assert(name);
    for (size_t i = 0; i < conv_gemm_core_count(); i++) {
        if (!strcmp(cores[i].name, name))
            return &cores[i];
    }
    return NULL;
}

/* Names the core that runs on every CPU of the family that OpenBLAS's builds are for. */
#if defined(__x86_64__)
#define LEAST_CORE "Nehalem"
#elif defined(__powerpc64__)
#define LEAST_CORE "POWER8"
#else
#define LEAST_CORE NULL
#endif

const char *conv_gemm_core_for_host(void)
{
    if (sim_cpu_has(CPU_ISA_AVX512))
        return "SkylakeX";
    if (sim_cpu_has(CPU_ISA_AVX2))
        return "Haswell";
    return sim_cpu_is_limited() && !sim_cpu_has(CPU_ISA_MMA) ? LEAST_CORE : NULL;
}
