/*
 * How well replays rank points that were timed: every point's estimate beside its time, and what a search reaches that
 * measures only what the estimates put first.
 */
#ifndef EXPERIMENTS_PAPERS_LIFT_RANK_H
#define EXPERIMENTS_PAPERS_LIFT_RANK_H

#include "experiments/papers/lift/replay.h"
#include "experiments/papers/lift/study.h"

/* A row of replay.csv: a point of points.csv. */
struct lift_replay_row {
    const char *layer;
    uint64_t number;
    double ms, macs;
    uint64_t rank; /* in its layer, by cycles, from 1; those without come last */
    struct lift_replayed r;
};

enum lift_ranking {
    LIFT_BY_CYCLES,   /* of the core, and what lines make it wait */
    LIFT_BY_CORE,     /* of the core alone */
    LIFT_BY_LINES,    /* into the first two levels, by latencies */
    LIFT_BY_ACCESSES, /* loads and stores */
    LIFT_BY_MACS,     /* multiply-adds, those of zeros too */
    LIFT_N_RANKINGS
};

enum { LIFT_FEW = 20 };

/* A row of ranks.csv: what a ranking is worth on a layer. Shares are of the fastest point's speed. */
struct lift_rank_row {
    const char *layer, *ranking;
    bool was_in_view; /* when the numbers of the cost model were chosen (replay.h) */
    size_t n;         /* points that were timed and replayed */
    double spearman;
    double first_share, few_share; /* the point that it puts first; the fastest of the first LIFT_FEW */
    double random_share;           /* what the fastest of LIFT_FEW random points has, on average */
};

struct lift_ranking_work {
    const struct lift_work *study;
    const struct sim_machine *machine;
    unsigned n_threads;
    struct lift_replay_row *row; /* [study->n_points] */
    struct lift_rank_row *rank;  /* [layers * LIFT_N_RANKINGS] */
    size_t n_ranks;
};

extern const struct rec_table lift_replay_table, lift_ranks_table;

/*
 * Replays all points of the study, on so many threads, those that the store does not have; and judges the rankings.
 * Returns 0; -EINTR; -errno with a line in why.
 */
int lift_rank(struct lift_ranking_work *w, struct exp_why *why);

void lift_rank_release(struct lift_ranking_work *w);

/* Estimates the seconds of replaying n points, for one thread of a usual computer. */
double lift_rank_seconds(size_t n_points);

/* Judges costs[n] by times[n], in any order: NaN, where one is not known, leaves a pair out. */
struct lift_rank_row lift_rank_judge(const double *cost, const double *time, size_t n);

/* Says what the rankings are worth, for the verdict. */
int lift_rank_print(const struct lift_ranking_work *w, FILE *out);

#endif
