#include "kernels/peak.h"

#include "kernels/ukr/peak_table.h"

/* The first of `from` to `to` that runs here. */
static const struct conv_peak *first(enum cpu_isa from, enum cpu_isa to)
{
    static const struct conv_peak *const peaks[] = { &conv_peak_avx512, &conv_peak_avx2, &conv_peak_mma };

    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        if (peaks[i]->fma && cpu_has(peaks[i]->isa) && peaks[i]->isa >= from && peaks[i]->isa <= to)
            return peaks[i];
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
