/*
 * Makes what PolyDL's net learns from: pairs of variants of the same layer, with the sizes that Algorithm 2 gives each
 * source.
 *
 * The paper takes 70 % of all code versions for training, so that a layer that is judged may have been seen. Here 70 %
 * of the layers are for training, and the others are held out; layers of equal shape are on the same side. Which ones
 * follows from the seed.
 */
#ifndef EXPERIMENTS_EXP_RANK_LEARN_H
#define EXPERIMENTS_EXP_RANK_LEARN_H

#include "experiments/base/exp_error.h"
#include "experiments/polydl/analysis/exp_analysis.h"
#include "experiments/polydl/learn/exp_rank_net.h"

enum { EXP_RANK_EPOCHS = 40 };

/* Fewer layers than these teach nothing that holds for others. */
enum { EXP_RANK_MIN_LAYERS = 10 };

struct exp_rank_learnt {
    struct exp_rank_net net; /* .weight is NULL if nothing was learnt */
    char why_not[160];       /* "" if it was */
    size_t n_pairs, n_held_out_pairs;
    double loss[EXP_RANK_EPOCHS],
        held_out_loss[EXP_RANK_EPOCHS]; /* mean cross entropy; the second is NaN without pairs */
};

/* Says which layers are for training: is_training[n_layers]. */
int exp_rank_split(const struct exp_polydl *p, uint64_t seed, bool *is_training);

/*
 * Trains a net on the times of so many threads. Too few layers are no error: why_not says so. Returns 0, -EINTR, or
 * -ENOMEM, with one line in why.
 */
int exp_rank_learn(struct exp_rank_learnt *learnt, const struct exp_polydl *p, const struct exp_analyses *a,
                   enum exp_polydl_threads threads, const bool *is_training, uint64_t seed, struct exp_why *why);
void exp_rank_learnt_release(struct exp_rank_learnt *learnt); /* { 0 } is fine */

/* Lets the net's variants of a layer play. wins[variants]. Returns 0 or -ENOMEM. */
int exp_rank_play(const struct exp_rank_net *net, const struct exp_analysis *analysis, size_t n,
                  enum exp_polydl_threads threads, unsigned *wins);

#endif
