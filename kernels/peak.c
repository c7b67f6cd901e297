#include "kernels/peak.h"

#include "kernels/ukr/peak_table.h"

const struct conv_peak *conv_peak_best(void)
{
    const struct conv_peak *const peaks[] = { &conv_peak_avx512, &conv_peak_avx2, &conv_peak_mma };

    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        if (peaks[i]->fma && cpu_has(peaks[i]->isa))
            return peaks[i];
    }
    return NULL;
}
