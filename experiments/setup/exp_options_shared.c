#include "experiments/setup/exp_options_shared.h"

#include "counters/host/ctr_timer.h"

static const uint64_t second_ns = 1000000000;

uint64_t (*exp_clock_of(unsigned clock))(void)
{
    return clock == EXP_CLOCK_CPU ? ctr_thread_ns : ctr_now_ns;
}

const char *exp_clock_name(unsigned clock)
{
    return clock == EXP_CLOCK_CPU ? "CLOCK_THREAD_CPUTIME_ID" : "CLOCK_MONOTONIC";
}

uint64_t exp_ruler_limit_ns(unsigned ruler, unsigned limit)
{
    return ruler ? limit * second_ns : 0;
}

struct exp_rounds exp_rounds_of(unsigned reps, size_t least, size_t most, unsigned limit)
{
    return reps ? (struct exp_rounds){ reps, reps, 0 } : (struct exp_rounds){ least, most, limit * second_ns };
}
