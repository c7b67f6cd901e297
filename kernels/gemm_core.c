#include "kernels/gemm_core.h"

#include <string.h>

/*
 * OpenBLAS's x86 kernels load the windows twice per step (even and odd lanes duplicated) and the filters in pairs;
 * an edge of fewer windows or filters loads single elements or one vector. Order within a step: windows, filters.
 */
static void openblas_x86_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    size_t panel_f = a->n_f < u->f_panel ? a->n_f : u->f_panel;
    uint32_t win_bytes = (uint32_t)(a->n_win * sizeof(float));
    uint32_t f_bytes = a->n_f > 1 ? u->f_load_bytes : (uint32_t)sizeof(float);
    struct sim_run run[SIM_MAX_BURST_RUNS];
    size_t n = 1;

    run[0] = (struct sim_run){
        .addr = a->in,
        .step_bytes = win_bytes,
        .count = a->n_f > 1 ? u->win_load_times : 1,
        .access_bytes = win_bytes,
        .kind = SIM_LOAD,
        .tag = CONV_PACKED_INPUT,
        .phase = CONV_PHASE_UKR,
    };
    for (size_t f = 0; f < a->n_f; f += panel_f, n++) {
        run[n] = (struct sim_run){
            .addr = a->filter + f * a->k * sizeof(float),
            .stride_bytes = f_bytes,
            .step_bytes = (int64_t)(panel_f * sizeof(float)),
            .count = (uint32_t)(panel_f * sizeof(float) / f_bytes),
            .access_bytes = f_bytes,
            .kind = SIM_LOAD,
            .tag = CONV_PACKED_FILTER,
            .phase = CONV_PHASE_UKR,
        };
    }
    sim_emit(sink, run, n, a->k);
    conv_emit_tile_update(a, u->win_load_bytes, sink);
}

/* The POWER10 kernel's step: vectors of four windows, vectors of four filters. */
static void openblas_mma_emit(const struct conv_ukr *u, const struct conv_ukr_args *a, struct sim_sink *sink)
{
    struct sim_run run[2];
    const uint64_t addr[2] = { a->in, a->filter };
    const size_t width[2] = { a->n_win, a->n_f };
    const uint32_t load_bytes[2] = { u->win_load_bytes, u->f_load_bytes };

    for (int i = 0; i < 2; i++) {
        uint32_t bytes = (uint32_t)(width[i] * sizeof(float));

        run[i] = (struct sim_run){
            .addr = addr[i],
            .stride_bytes = load_bytes[i],
            .step_bytes = bytes,
            .count = bytes < load_bytes[i] ? 1 : bytes / load_bytes[i],
            .access_bytes = bytes < load_bytes[i] ? bytes : load_bytes[i],
            .kind = SIM_LOAD,
            .tag = i ? CONV_PACKED_FILTER : CONV_PACKED_INPUT,
            .phase = CONV_PHASE_UKR,
        };
    }
    sim_emit(sink, run, 2, a->k);
    conv_emit_tile_update(a, u->win_load_bytes, sink);
}

/* Of a core: its name and instruction set; block sizes; copy routines; micro-kernel's tile and window loads. */
#define X86_CORE(core, isa_, p_, q_, r_, row_pass, odd_twice, zero, windows, filters, win_bytes)                       \
    {                                                                                                                  \
        .name = core, .p = p_, .q = q_, .r = r_, .unroll_win = windows, .first_pass_f = 12, .pack_row_pass = row_pass, \
        .pack_win_bytes = 32, .pack_f_bytes = 16, .pack_f_odd_twice = odd_twice, .zero_bytes = zero,                   \
        .ukr = {                                                                                                       \
            .name = "openblas_" core,                                                                                  \
            .isa = isa_,                                                                                               \
            .n_win = windows,                                                                                          \
            .n_f = filters,                                                                                            \
            .win_granule = 1,                                                                                          \
            .f_panel = 4,                                                                                              \
            .splits_edges = true,                                                                                      \
            .emit = openblas_x86_emit,                                                                                 \
            .win_load_bytes = win_bytes,                                                                               \
            .win_load_times = 2,                                                                                       \
            .f_load_bytes = 8,                                                                                         \
        },                                                                                                             \
    }

static const struct conv_gemm_core cores[] = {
    X86_CORE("SkylakeX", CPU_ISA_AVX512, 448, 448, 74432, 0, false, 64, 16, 24, 64),
    X86_CORE("Cooperlake", CPU_ISA_AVX512, 640, 320, 104192, 0, false, 64, 16, 24, 64),
    X86_CORE("Haswell", CPU_ISA_AVX2, 320, 320, 104512, 8, true, 32, 8, 12, 32),
    X86_CORE("Zen", CPU_ISA_AVX2, 320, 320, 104512, 8, false, 32, 8, 12, 32),
    {
        .name = "POWER10",
        .p = 512,
        .q = 512,
        .r = 4096,
        .unroll_win = 16,
        .first_pass_f = 24,
        .pack_row_pass = 8,
        .pack_win_bytes = 16,
        .pack_f_bytes = 16,
        .zero_bytes = 16,
        .ukr = {
            .name = "openblas_POWER10",
            .isa = CPU_ISA_MMA,
            .n_win = 16,
            .n_f = 8,
            .win_granule = 1,
            .f_panel = 8,
            .splits_edges = true,
            .emit = openblas_mma_emit,
            .win_load_bytes = 16,
            .f_load_bytes = 16,
        },
    },
};

const struct conv_gemm_core *conv_gemm_core_find(const char *name)
{
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        if (!strcmp(cores[i].name, name))
            return &cores[i];
    }
    return NULL;
}

const char *conv_gemm_core_for_host(void)
{
    if (cpu_has(CPU_ISA_AVX512))
        return "SkylakeX";
    if (cpu_has(CPU_ISA_AVX2))
        return "Haswell";
    return NULL;
}
