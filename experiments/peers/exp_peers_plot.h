/*
 * Gives the figures of a comparison what they know, as variables of their scripts:
 *
 *   peer_names, peer_titles, peer_colours   of all methods, in their order; titles in quotes
 *   sconv_peers, other_peers                names: of the SConvs, and of what else is compared with Base
 *   peak_gflops, read_gbytes                the roof: means over the models
 */
#ifndef EXPERIMENTS_EXP_PEERS_PLOT_H
#define EXPERIMENTS_EXP_PEERS_PLOT_H

#include "experiments/base/exp_plot.h"
#include "experiments/peers/exp_peers_report.h"

enum { EXP_N_PEERS_VARIABLES = 7 };

/* The variables point into text: must stay where it is. */
struct exp_peers_plot {
    char text[EXP_N_PEERS_VARIABLES][EXP_N_PEERS * 64];
    struct exp_plot_variable variable[EXP_N_PEERS_VARIABLES];
};

void exp_peers_plot_init(struct exp_peers_plot *p, const struct exp_peers_report *r);

#endif
