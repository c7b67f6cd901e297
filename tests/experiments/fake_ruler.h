/* A ruler that finds every timing disturbed. */
#ifndef TESTS_EXPERIMENTS_FAKE_RULER_H
#define TESTS_EXPERIMENTS_FAKE_RULER_H

#include "experiments/bench/time/ruler.h"

/* An exp_ruler_maker: its ruler has seen quieter times than there are, so that all its readings are off. */
int fake_ruler_disturbed(struct exp_ruler **r, const struct conv_peak *peak);

#endif
