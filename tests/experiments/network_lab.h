/* Networks for tests, planned for the toy machine, and checked. */
#ifndef TESTS_EXPERIMENTS_NETWORK_LAB_H
#define TESTS_EXPERIMENTS_NETWORK_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/network/net.h"

struct network_lab {
    struct exp_setup setup;
    struct exp_why why;
};

/* Sets up. Returns NULL if the lab cannot be set up: the test is skipped or fails. NULL may be closed. */
struct network_lab *lab_open(void);
void lab_close(struct network_lab *l);

/* Plans and loads a network, and fills the inputs. Returns NULL on an error: the test fails. */
struct net *lab_plan(struct network_lab *l, const struct onnx_graph *g, const struct net_options *o);

/* Tells whether [a, a_end) and [b, b_end) meet. */
bool lab_overlap(size_t a, size_t a_end, size_t b, size_t b_end);

/* Checks that tensors needed at a time lie apart. */
void lab_check_places(const struct net *net);

/* Checks a network's places, and each step against plain loops. */
void lab_check(struct network_lab *l, const struct onnx_graph *g, const struct net_options *o);

#endif
