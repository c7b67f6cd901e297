/* The full engine compiled for AVX-512. */
#include "sim/full/engine_full.h"

#ifdef __AVX512F__

#include "sim/full/engine_full_tmpl.h"

const struct sim_full_variant sim_full_avx512 = { .name = "avx512",
                                                  .isa = CPU_ISA_AVX512,
                                                  .accept = accept,
                                                  .records = take_records,
                                                  .flush = flush,
                                                  .follow = follow,
                                                  .touch = touch_lines_behind,
                                                  .touch_far = touch_lines_far,
                                                  .reads_ahead = reads_ahead_of };

#else /* not for other CPU families */

const struct sim_full_variant sim_full_avx512 = { .name = "avx512" };

#endif
