#include "kernels/ukr/peak.h"

#include <assert.h>

#include "kernels/ukr/registry.h"

#define PEAK(isa_, name_, chains, lanes, adds)                                                                         \
    { .name = name_,                                                                                                   \
      .isa = CONV_ISA_##isa_,                                                                                          \
      .n_chains = (chains),                                                                                            \
      .flop_per_step = 2.0 * (chains) * (adds),                                                                        \
      .fma = CONV_FN_##isa_(conv_peak_fma__##isa_),                                                                    \
      .read = CONV_FN_##isa_(conv_peak_read__##isa_) },
static const struct conv_peak peaks[] = { CONV_PEAKS(PEAK) };

#define LANE_TYPE_bf16 CONV_BF16
#define LANE_TYPE_u8s8 CONV_U8S8
#define LANE_PEAK(type_, isa_, extension_, name_, chains, lanes, adds)                                                 \
    { .type = LANE_TYPE_##type_,                                                                                       \
      .peak = { .name = name_,                                                                                         \
                .isa = CONV_ISA_##isa_,                                                                                \
                .extension = CPU_EXT_##extension_,                                                                     \
                .n_chains = (chains),                                                                                  \
                .flop_per_step = 2.0 * (chains) * (adds),                                                              \
                .fma = CONV_FN_##isa_(conv_peak_fma_##type_##__##isa_) } },
static const struct {
    enum conv_type type;
    struct conv_peak peak;
} lane_peaks[] = { CONV_LANE_PEAKS(LANE_PEAK) };

size_t conv_peak_count(void)
{
    return sizeof peaks / sizeof peaks[0];
}

const struct conv_peak *conv_peak_at(size_t i)
{
    assert(i < conv_peak_count());
    return &peaks[i];
}

bool conv_peak_runs(const struct conv_peak *p)
{
    return p->fma && sim_cpu_has(p->isa) && sim_cpu_extends(p->extension);
}

static const struct conv_peak *first(enum cpu_isa from, enum cpu_isa to)
{
    for (size_t i = 0; i < conv_peak_count(); i++) {
        if (conv_peak_runs(&peaks[i]) && peaks[i].isa >= from && peaks[i].isa <= to)
            return &peaks[i];
    }
    return NULL;
}

const struct conv_peak *conv_peak_best(void)
{
    return first(CPU_ISA_NONE, CPU_N_ISAS);
}

const struct conv_peak *conv_peak_of(enum cpu_isa isa)
{
    const struct conv_peak *peak = first(isa, isa);

    return peak ? peak : conv_peak_best();
}

const struct conv_peak *conv_peak_of_type(enum conv_type type)
{
    const enum conv_type loops = type == CONV_S8S8 ? CONV_U8S8 : type;

    assert(type < CONV_N_TYPES);
    if (type == CONV_F32)
        return conv_peak_best();
    for (size_t i = 0; i < sizeof lane_peaks / sizeof lane_peaks[0]; i++) {
        if (lane_peaks[i].type == loops && conv_peak_runs(&lane_peaks[i].peak))
            return &lane_peaks[i].peak;
    }
    return NULL;
}
