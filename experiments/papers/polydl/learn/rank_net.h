/*
 * PolyDL's neural ranking (section 4.2.2): which of two variants is faster, from the bytes that each variant's caches
 * hold.
 *
 * Four layers of 64, 32, 16 and 8 neurons (relu, relu, softsign, relu), and two outputs with softmax: the probabilities
 * that the first, or the second, variant is faster. Trained by Adam on the cross entropy of measured pairs; all random
 * numbers come from a seed, so equal pairs and seeds make equal weights.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_LEARN_RANK_NET_H
#define EXPERIMENTS_PAPERS_POLYDL_LEARN_RANK_NET_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"

enum {
    EXP_RANK_MAX_STATISTICS = 16, /* of a variant: a number for each source */
    EXP_RANK_OUTPUTS = 2,
    EXP_RANK_LAYERS = 5,
};

/* An output above the threshold says that its variant is faster; if neither output is above, there is a draw. */
#define EXP_RANK_THRESHOLD 0.6

struct exp_rank_net {
    uint64_t seed;
    size_t n_statistics;               /* of a variant; the net has twice as many inputs */
    size_t n_neurons[EXP_RANK_LAYERS]; /* of each layer, the outputs last */
    size_t n_weights;
    double *weight; /* layer by layer: for each neuron a row of weights of the inputs, then the biases */
};

/* The net learns from pairs: the statistics of two variants, and the faster variant. */
struct exp_rank_pair {
    double input[2 * EXP_RANK_MAX_STATISTICS];
    unsigned winner; /* 0 or 1 */
};

/* Makes a net with random weights. */
void exp_rank_net_new(struct exp_rank_net *net, size_t n_statistics, uint64_t seed);
void exp_rank_net_release(struct exp_rank_net *net); /* { 0 } is fine */

/* Divides two variants' statistics, none of them negative, by the sum of all; all are 0 if the sum is. */
void exp_rank_net_input(double *input, const double *a, const double *b, size_t n_statistics);

/* Stores the probability of each variant to be faster. */
void exp_rank_net_output(const struct exp_rank_net *net, const double *input, double output[EXP_RANK_OUTPUTS]);

/* Returns the mean cross entropy of pairs. */
double exp_rank_net_loss(const struct exp_rank_net *net, const struct exp_rank_pair *pair, size_t n);

/* Does the same, and stores the derivatives by the weights: gradient[n_weights]. */
double exp_rank_net_gradient(const struct exp_rank_net *net, const struct exp_rank_pair *const *pair, size_t n,
                             double *gradient);

struct exp_rank_training {
    size_t n_epochs, batch; /* pairs after which the weights move */
    double rate;            /* Adam's */
};

/*
 * Trains with pairs, in another random order in each epoch. told, unless NULL, hears of each epoch's mean loss, and
 * stops the training by a value other than 0. Returns told's value, 0, or -EINVAL if there are no pairs.
 */
int exp_rank_net_train(struct exp_rank_net *net, const struct exp_rank_pair *pair, size_t n,
                       const struct exp_rank_training *how, int (*told)(void *ctx, size_t epoch, double loss),
                       void *ctx);

/*
 * Lets each of n variants, of n_statistics each, play against every other variant. wins[n] counts the wins of each
 * variant, which rank the variants.
 */
void exp_rank_net_tournament(const struct exp_rank_net *net, const double *statistics, size_t n, unsigned *wins);

/*
 * ---- a trained net in a file, to the last bit of its weights ----
 *
 *     # comments
 *     format polydl-rank-net 1
 *     statistics 4
 *     layers 64 32 16 8 2
 *     seed 1
 *     weights 3442
 *     0x1.8p-3              one on each line
 *     sum 89abcdef01234567  of all text before: a cut or edited file is found out
 */

/*
 * Writes a net; note, a line, names the training. The file is complete or not there. Returns 0, or -errno with a line
 * in why.
 */
int exp_rank_file_write(const struct exp_rank_net *net, const char *path, const char *note, struct exp_why *why);

#endif
