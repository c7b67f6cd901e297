#include "experiments/bench/case/sampled.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_SEED = 1 };

static const double usual_target = 0.01, least_target = 0.0001, greatest_target = 0.5;

const char *exp_sampled_name(enum exp_sampled q)
{
    static const char *const names[EXP_N_SAMPLED] = {
        [EXP_SAMPLED_CYCLES] = "cycles",
        [EXP_SAMPLED_L1_LINES] = "lines into L1",
        [EXP_SAMPLED_DEMAND] = "lines into L1 by demand",
        [EXP_SAMPLED_L1_MISSES] = "L1 load misses",
        [EXP_SAMPLED_L2_LINES] = "lines into L2",
        [EXP_SAMPLED_L2_MISSES] = "L2 load misses",
        [EXP_SAMPLED_L3_MISSES] = "load misses of the last level",
        [EXP_SAMPLED_MEMORY_READ] = "lines from memory",
        [EXP_SAMPLED_MEMORY_WRITTEN] = "lines to memory",
        [EXP_SAMPLED_DTLB_MISSES] = "L1 DTLB misses",
        [EXP_SAMPLED_L1_BORDER] = "lines between L1 and L2",
        [EXP_SAMPLED_L2_BORDER] = "lines between L2 and L3",
        [EXP_SAMPLED_EQ6] = "cycles of Eq. 6",
    };

    assert(q < EXP_N_SAMPLED);
    return names[q];
}

int exp_sampling_read(struct exp_sampling *s, const char *text, struct exp_why *why)
{
    char *end;

    assert(s && text);
    *s = (struct exp_sampling){
        .mode = EXP_SAMPLING_EXACT, .target = usual_target, .seed = USUAL_SEED, .least_seconds = 0.3
    };
    if (!strcmp(text, "exact"))
        return 0;
    s->mode = EXP_SAMPLING_AUTO;
    if (!strcmp(text, "auto"))
        return 0;
    s->mode = EXP_SAMPLING_ALWAYS;
    s->target = strtod(text, &end) / 100;
    if (end != text && !strcmp(end, "%") && s->target >= least_target && s->target <= greatest_target)
        return 0;
    return exp_fail(why, -EINVAL,
                    "SAMPLE=%s: use auto, exact, or a half width of intervals from 0.01%% to 50%%, such as 1%%", text);
}
