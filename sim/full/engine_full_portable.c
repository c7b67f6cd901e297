/* The full engine in portable C. */
#include "sim/full/engine_full_tmpl.h"

const struct sim_full_variant sim_full_portable = { .name = "portable",
                                                    .isa = CPU_ISA_NONE,
                                                    .accept = accept,
                                                    .records = take_records,
                                                    .flush = flush,
                                                    .follow = follow,
                                                    .touch = touch_lines_behind,
                                                    .touch_far = touch_lines_far,
                                                    .reads_ahead = reads_ahead_of };
