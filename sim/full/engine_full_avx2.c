/* The full engine compiled for AVX2. */
#include "sim/full/engine_full.h"

#ifdef __AVX2__

#include "sim/full/engine_full_tmpl.h"

const struct sim_full_variant sim_full_avx2 = { .name = "avx2",
                                                .isa = CPU_ISA_AVX2,
                                                .accept = accept,
                                                .records = take_records,
                                                .flush = flush,
                                                .follow = follow,
                                                .touch = touch_lines_behind,
                                                .touch_far = touch_lines_far,
                                                .reads_ahead = reads_ahead_of };

#else /* not for other CPU families */

const struct sim_full_variant sim_full_avx2 = { .name = "avx2" };

#endif
