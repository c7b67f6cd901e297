/* A ruler for which every timing is disturbed. */
#ifndef TESTS_EXPERIMENTS_FAKE_RULER_H
#define TESTS_EXPERIMENTS_FAKE_RULER_H

#include "experiments/bench/time/ruler.h"

/* An exp_ruler_maker: the ruler remembers times quieter than any real time, so that all readings are disturbed. */
int fake_ruler_disturbed(struct exp_ruler **r, const struct conv_peak *peak);

#endif
