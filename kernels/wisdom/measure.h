/* Choices timed on this computer. */
#ifndef KERNELS_WISDOM_MEASURE_H
#define KERNELS_WISDOM_MEASURE_H

#include "kernels/wisdom/choice.h"

/*
 * Runs the n choices in turns, on tensors of which L2 holds none from one run to the next, as in a network, and puts
 * the fastest into *best: another than the first only if it is faster by more than a fortieth. Takes some 50 runs for
 * each. Returns 0, or -ENOMEM.
 */
int conv_choice_measure(const struct conv_problem *p, const struct csa_caches *caches, const struct conv_choice *choice,
                        size_t n, struct conv_choice *best);

#endif
