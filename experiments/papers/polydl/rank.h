/*
 * The rankings: each ranking's cost of a variant; and the judgement by time: how fast is each ranking's first variant
 * of every layer? Of variants with equal costs, the first generated variant goes first.
 *
 * CSA and csa2 are not among the rankings. They cost a tiling of SConv's own nest, whose operands are packed; a variant
 * of PolyDL's has blocked tensors, no packing, and an order without a term in CSA and csa2. experiments/study has their
 * ranking.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_RANK_H
#define EXPERIMENTS_PAPERS_POLYDL_RANK_H

#include "experiments/base/error.h"
#include "experiments/papers/polydl/analysis/analysis.h"
#include "experiments/papers/polydl/learn/rank_net.h"
#include "experiments/papers/polydl/polydl.h"

#define EXP_EACH_RANKING(X)                                                                                            \
    X(EXP_RANKING_POLYDL, "polydl", "PolyDL", "Eq. 1 of PolyDL's working sets")                                        \
    X(EXP_RANKING_DNN, "polydl_dnn", "PolyDL-DNN", "wins in the tournament of PolyDL's net that learnt from times")    \
    X(EXP_RANKING_HAYSTACK, "haystack", "HayStack", "exact misses of fully associative caches times latencies")        \
    X(EXP_RANKING_ALONE, "caches_alone", "exact simulation: caches", "cycles by exact simulation of the caches alone") \
    X(EXP_RANKING_WHOLE, "as_machine", "exact simulation: machine", "the same with prefetchers and TLBs")              \
    X(EXP_RANKING_TRAFFIC, "traffic", "exact simulation: traffic",                                                     \
      "lines that move in the caches alone by bandwidths")                                                             \
    X(EXP_RANKING_DEFAULT, "default_order", "Microkernel", "Figure 8's order or the first variant of a GEMM")          \
    X(EXP_RANKING_CLOCK, "clock", "the clock itself", "times of half of the rounds which the other half judges")

#define EXP_RANKING_NUMBER(number, name, title, meaning) number,
enum exp_ranking { EXP_EACH_RANKING(EXP_RANKING_NUMBER) EXP_N_RANKINGS };
#undef EXP_RANKING_NUMBER

extern const struct exp_ranking_words {
    const char *name;    /* in columns */
    const char *title;   /* in figures */
    const char *meaning; /* a line */
} exp_rankings[EXP_N_RANKINGS];

/*
 * ---- learning ----
 *
 * PolyDL's net learns from pairs of variants of the same layer, with Algorithm 2's sizes of each source.
 *
 * The paper takes 70 % of all code versions for training, so that the net may have seen a judged layer. Here 70 % of
 * the layers are for training, and the rest are held out; layers of equal shape are on the same side. The choice
 * follows from the seed.
 */

enum { EXP_RANK_EPOCHS = 40 };

/* Fewer layers teach nothing general. */
enum { EXP_RANK_MIN_LAYERS = 10 };

struct exp_rank_learnt {
    struct exp_rank_net net; /* .weight is NULL if nothing was learnt */
    char why[160];           /* why nothing was learnt; "" */
    size_t n_pairs;
    double loss[EXP_RANK_EPOCHS], held_out_loss[EXP_RANK_EPOCHS]; /* mean cross entropy; NaN without pairs */
};

/* ---- judging ---- */

/* The worth of a ranking on a layer. */
struct exp_rank_verdict {
    size_t n;                 /* ranked and timed variants; 0: there is no verdict */
    size_t picked;            /* the ranking's first variant */
    double time_ns;           /* of the picked variant */
    double share;             /* of the best variant's speed in the picked variant: 1 is the best */
    double top_share;         /* the share of the best among the first 5 % (at least one) */
    double spearman, kendall; /* between costs and times; NaN for fewer than three variants, or where all are equal */
    double seconds;           /* CPU time for a variant, mean; NaN if nobody looked */
};

struct exp_rank_layer {
    bool is_training;                                                     /* the net has seen the layer */
    double best_ns[EXP_N_POLYDL_THREADS], worst_ns[EXP_N_POLYDL_THREADS]; /* of the variants; NaN without times */
    struct exp_rank_verdict verdict[EXP_N_POLYDL_THREADS][EXP_N_RANKINGS];
};

struct exp_rank {
    const struct exp_polydl *polydl;
    struct exp_analyses analyses;
    struct exp_rank_learnt learnt[EXP_N_POLYDL_THREADS];
    struct exp_rank_layer *layer; /* [polydl->n_layers] */
};

/*
 * Analyses all variants on n_jobs threads, trains the nets, and judges. p must outlive r; progress may be NULL. Returns
 * 0; -EINTR or another -errno, with a line in why.
 */
int exp_rank_make(struct exp_rank *r, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                  struct exp_why *why);
void exp_rank_release(struct exp_rank *r); /* { 0 } is fine */

/* Judges a ranking of a layer: costs[n] beside times[n] of all variants; NaN: not known. */
struct exp_rank_verdict exp_rank_judge(const double *costs, const double *times, size_t n);

/* ---- the worth of each ranking over many layers ---- */

/* Chooses layers: convolutions, seen by the net or not; GEMMs. */
#define EXP_EACH_RANK_PART(X)                                                                                          \
    X(EXP_RANK_ALL, "convolutions", "all convolutions")                                                                \
    X(EXP_RANK_HELD_OUT, "held_out", "convolutions that the net was not trained on")                                   \
    X(EXP_RANK_SEEN, "training", "convolutions that the net was trained on")                                           \
    X(EXP_RANK_GEMMS, "gemms", "matrix multiplications")

#define EXP_RANK_PART_NUMBER(number, name, meaning) number,
enum exp_rank_part { EXP_EACH_RANK_PART(EXP_RANK_PART_NUMBER) EXP_N_RANK_PARTS };
#undef EXP_RANK_PART_NUMBER

extern const struct exp_rank_part_words {
    const char *name, *meaning;
} exp_rank_parts[EXP_N_RANK_PARTS];

/*
 * Returns the part for comparisons of rankings: the convolutions that the net has not seen, or all convolutions if
 * there is no net. On training layers the net knows the times.
 */
enum exp_rank_part exp_rank_fair_part(const struct exp_rank *r, enum exp_polydl_threads threads);

/* Returns a layer's place in the model, from 1. */
size_t exp_rank_place(const struct exp_polydl *p, size_t layer);

/* The target: a pick at 95 % of the best variant's speed, or above. */
#define EXP_RANK_NEAR_BEST 0.95

struct exp_rank_total {
    size_t n;      /* layers with a verdict; 0: all else is NaN */
    size_t n_seen; /* layers among them that trained the net */
    double mean_share, geomean_share, worst_share;
    double near_best_percent; /* layers whose pick reaches EXP_RANK_NEAR_BEST */
    size_t n_can_fail;        /* layers where a pick can miss the target */
    double can_fail_percent;  /* of layers where a pick can miss, the share of hits; NaN if there are no such layers */
    double geomean_top_share;
    double mean_spearman, mean_kendall; /* of the layers with a correlation */
    double mean_seconds;                /* for a variant: mean of the layers' */
    double most_seconds;
};

/* Sums a ranking up. model, unless NULL, takes the layers of that model alone. */
struct exp_rank_total exp_rank_total_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                        enum exp_ranking ranking, enum exp_rank_part part, const char *model);

/* The lead of a ranking's picks over another ranking's picks, layer by layer. */
struct exp_rank_lead {
    size_t n;           /* layers on which both have a verdict */
    double mean, error; /* of the differences of their shares: mean and standard error; NaN for fewer than two layers */
    bool is_clear;      /* there are EXP_RANK_LEAST_LAYERS, and the mean is above twice the error */
};

enum { EXP_RANK_LEAST_LAYERS = 5 };

struct exp_rank_lead exp_rank_lead_of(const struct exp_rank *r, enum exp_polydl_threads threads,
                                      enum exp_ranking ranking, enum exp_ranking over, enum exp_rank_part part);

#endif
