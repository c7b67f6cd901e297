/* Sampled replays: the user's wish, and the quantities with intervals. bench/replay/sample.h explains samples. */
#ifndef EXPERIMENTS_BENCH_CASE_SAMPLED_H
#define EXPERIMENTS_BENCH_CASE_SAMPLED_H

#include <stdint.h>

#include "experiments/base/error.h"

/* Quantities of which a sampled replay states intervals. */
enum exp_sampled {
    EXP_SAMPLED_CYCLES,
    EXP_SAMPLED_L1_LINES,  /* into the first level */
    EXP_SAMPLED_DEMAND,    /* into the first level, by demand */
    EXP_SAMPLED_L1_MISSES, /* load misses of a level */
    EXP_SAMPLED_L2_LINES,  /* into the second level from outer levels */
    EXP_SAMPLED_L2_MISSES,
    EXP_SAMPLED_L3_MISSES, /* of the last level */
    EXP_SAMPLED_MEMORY_READ,
    EXP_SAMPLED_MEMORY_WRITTEN,
    EXP_SAMPLED_DTLB_MISSES,
    EXP_SAMPLED_L1_BORDER, /* lines that cross the border beyond the first level, both ways */
    EXP_SAMPLED_L2_BORDER,
    EXP_SAMPLED_EQ6, /* cycles of SConv's Eq. 6 with simulated loads */
    EXP_N_SAMPLED,
};

const char *exp_sampled_name(enum exp_sampled q);

enum exp_sampling_mode {
    EXP_SAMPLING_EXACT, /* every access is simulated */
    EXP_SAMPLING_AUTO,  /* sampled where the exact replay takes long */
    EXP_SAMPLING_ALWAYS /* sampled where a sample is smaller than the stream */
};

struct exp_sampling {
    enum exp_sampling_mode mode;
    double
        target; /* wanted half width of the 95 % intervals of cycles and of lines into the first level, over the value */
    uint64_t seed;
    double least_seconds; /* shorter exact replays, on a usual computer, are not sampled */
};

/* Reads SAMPLE=: auto, exact, or a target: 1%, 0.5%. Returns 0, or -EINVAL with a line in why. */
int exp_sampling_read(struct exp_sampling *s, const char *text, struct exp_why *why);

#endif
