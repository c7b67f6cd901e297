#include "kernels/ukr/peak.h"

#include "kernels/ukr/peak_table.h"
#include "kernels/ukr/ukr_table.h"

/* From wide to narrow vectors. */
static const struct conv_peak peaks[] = {
    { .name = "AVX-512 FMA",
      .isa = CPU_ISA_AVX512,
      .flop_per_step = 2.0 * CONV_PEAK_CHAINS__AVX512 * CONV_PEAK_LANES__AVX512,
      .fma = CONV_X86_FN(conv_peak_fma__avx512),
      .read = CONV_X86_FN(conv_peak_read__avx512) },
    { .name = "AVX2 FMA",
      .isa = CPU_ISA_AVX2,
      .flop_per_step = 2.0 * CONV_PEAK_CHAINS__AVX2 * CONV_PEAK_LANES__AVX2,
      .fma = CONV_X86_FN(conv_peak_fma__avx2),
      .read = CONV_X86_FN(conv_peak_read__avx2) },
    { .name = "MMA outer products",
      .isa = CPU_ISA_MMA,
      .flop_per_step = 2.0 * CONV_PEAK_CHAINS__MMA * CONV_PEAK_LANES__MMA * CONV_PEAK_LANES__MMA,
      .fma = CONV_MMA_FN(conv_peak_fma__mma),
      .read = CONV_MMA_FN(conv_peak_read__mma) },
};

/* The first of `from` to `to` that runs here. */
static const struct conv_peak *first(enum cpu_isa from, enum cpu_isa to)
{
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        if (peaks[i].fma && sim_cpu_has(peaks[i].isa) && peaks[i].isa >= from && peaks[i].isa <= to)
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
