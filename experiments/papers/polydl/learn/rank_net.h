/*
 * PolyDL's neural ranking (its section 4.2.2): which of two variants is faster, from what each of their caches holds.
 *
 * Four layers of 64, 32, 16 and 8 neurons (relu, relu, softsign, relu), and two outputs whose softmax says how likely
 * it is that the first, or the second, variant is the faster one. Trained by Adam on the cross entropy of measured
 * pairs; all that is random comes from a seed, so that equal pairs and seeds make equal weights.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_LEARN_RANK_NET_H
#define EXPERIMENTS_PAPERS_POLYDL_LEARN_RANK_NET_H

#include <stddef.h>
#include <stdint.h>

#include "experiments/base/error.h"

enum {
    EXP_RANK_MAX_STATISTICS = 16, /* of a variant: one for each source */
    EXP_RANK_OUTPUTS = 2,
    EXP_RANK_LAYERS = 5,
};

/* Above this an output says that its variant is faster; if neither does, it is a draw. */
#define EXP_RANK_THRESHOLD 0.6

struct exp_rank_net {
    uint64_t seed;
    size_t n_statistics;               /* of a variant; the net has twice as many inputs */
    size_t n_neurons[EXP_RANK_LAYERS]; /* of each layer, the outputs last */
    size_t n_weights;
    double *weight; /* layer by layer: a row of its inputs' weights for each neuron, then what is added to each */
};

/* The net learns from pairs: the statistics of two variants, and which is faster. */
struct exp_rank_pair {
    double input[2 * EXP_RANK_MAX_STATISTICS];
    unsigned winner; /* 0 or 1 */
};

/* Makes a net with random weights. */
void exp_rank_net_new(struct exp_rank_net *net, size_t n_statistics, uint64_t seed);
void exp_rank_net_release(struct exp_rank_net *net); /* { 0 } is fine */

/* Divides two variants' statistics, none of them negative, by the sum of all; all are 0 if that is. */
void exp_rank_net_input(double *input, const double *a, const double *b, size_t n_statistics);

/* Stores how likely it is that each of the two variants is the faster one. */
void exp_rank_net_output(const struct exp_rank_net *net, const double *input, double output[EXP_RANK_OUTPUTS]);

/* Returns the mean cross entropy of pairs. */
double exp_rank_net_loss(const struct exp_rank_net *net, const struct exp_rank_pair *pair, size_t n);

/* Does the same, and stores what it changes by with each weight: gradient[n_weights]. */
double exp_rank_net_gradient(const struct exp_rank_net *net, const struct exp_rank_pair *const *pair, size_t n,
                             double *gradient);

struct exp_rank_training {
    size_t n_epochs, batch; /* pairs after which the weights move */
    double rate;            /* Adam's */
};

/*
 * Trains with pairs, in another random order in each epoch. told, unless NULL, hears of each epoch's mean loss on the
 * way, and stops the training by a value other than 0. Returns that, 0, or -EINVAL if there are no pairs.
 */
int exp_rank_net_train(struct exp_rank_net *net, const struct exp_rank_pair *pair, size_t n,
                       const struct exp_rank_training *how, int (*told)(void *ctx, size_t epoch, double loss),
                       void *ctx);

/*
 * Lets each of n variants, of n_statistics each, play against every other. wins[n] counts each one's: from that on the
 * variants are ranked.
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
 *     sum 89abcdef01234567  of all before this line: a file that was cut or edited is found out
 */

/*
 * Writes a net; note, a line, says what it was trained on. The file is complete or not there. Returns 0, or -errno
 * with a line in why.
 */
int exp_rank_file_write(const struct exp_rank_net *net, const char *path, const char *note, struct exp_why *why);

#endif
