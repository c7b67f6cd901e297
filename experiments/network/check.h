/*
 * Checks a network that runs, step by step: whether each step finds its inputs as they were made, however memory is
 * reused, and whether what it makes is what plain loops make of these inputs, node by node.
 *
 * Sums are compared within what float arithmetic may err: of a convolution and of a matrix product, so many half-ulps of
 * the sum of the absolute products as there are terms, what is fused behind included; of other operators, as many of the
 * largest value of the output.
 */
#ifndef EXPERIMENTS_NETWORK_CHECK_H
#define EXPERIMENTS_NETWORK_CHECK_H

#include "experiments/network/net.h"

struct net_checked {
    size_t n_steps, n_elements;
    double worst; /* error over bound: at most 1 */
    size_t worst_step;
};

/*
 * Runs the network once, with inputs as they are, and checks it. Returns 0; -EILSEQ with one line in why that names node,
 * element and values; or as net_run. Slow: plain loops.
 */
int net_check(const struct net *net, struct net_checked *checked, struct exp_why *why);

#endif
