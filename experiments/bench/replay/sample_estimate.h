/* Estimates of a whole stream from the drawn pieces of a sample. Internal to this room: sample.h explains the words. */
#ifndef EXPERIMENTS_BENCH_REPLAY_SAMPLE_ESTIMATE_H
#define EXPERIMENTS_BENCH_REPLAY_SAMPLE_ESTIMATE_H

#include "experiments/bench/replay/sample.h"
#include "experiments/bench/replay/sample_choice.h"

/* Counts of a phase at a point of the stream. */
struct exp_sample_counts {
    struct sim_cell cell[SIM_USUAL_TAGS];
    struct sim_prefetch_counts prefetcher[SIM_MAX_LEVELS][SIM_N_PREFETCHERS];
};

/* The drawn pieces of a group in a unit, in a view. */
struct exp_sample_sum {
    struct exp_sample_counts counts;
    struct sim_cycles cycles; /* without long steps */
};

/* The drawn pieces of a group in a unit. */
struct exp_sample_cluster {
    uint32_t group, unit;
    double accesses;
    double of[EXP_SAMPLE_VIEWS][EXP_N_SAMPLED];
    struct exp_sample_sum sum[EXP_SAMPLE_VIEWS];
};

/* The work of all steps of a class of long steps. */
struct exp_sample_long {
    struct sim_work work;
    double n_steps;
};

struct exp_sample_drawn {
    const struct exp_pieces *pieces;
    size_t n_views, n_levels;           /* n_levels: of the machine */
    bool is_sconv;                      /* the plan is SConv's */
    double *accesses;                   /* [groups] */
    struct exp_sample_cluster *cluster; /* the clusters of a unit are neighbours */
    size_t n_clusters;
    struct exp_sample_long *longs; /* [classes] */
};

void exp_sample_drawn_init(struct exp_sample_drawn *d, const struct exp_pieces *p, size_t n_views);
void exp_sample_drawn_release(struct exp_sample_drawn *d);

/* Adds a drawn piece of a view: the counts of its phase before and after the piece, and its cycles. */
void exp_sample_drawn_add(struct exp_sample_drawn *d, const struct exp_piece *piece, double accesses, size_t view,
                          const struct sim_machine *m, const struct exp_sample_counts *before,
                          const struct exp_sample_counts *after, const struct sim_cycles *cycles);

/* Adds the work of a step of a class of long steps. */
void exp_sample_drawn_add_long(struct exp_sample_drawn *d, size_t class, const struct sim_work *w);

/*
 * Estimates a view. exact[tag * SIM_MAX_PHASES + phase]: loads, stores and further accesses, of all pieces; counted: lines from and to memory, of all
 * pieces. Sets the view's stats, cycles and pm.
 */
void exp_sample_estimate(const struct exp_sample_drawn *d, size_t view, struct exp_sample_view *to,
                         const struct sim_cell *exact, const struct sim_stats *counted);

/*
 * Sets wanted[stratum], the drawn units of all runs with which all intervals of the view would be as narrow as wanted; raises
 * numbers alone. Returns whether a number grew.
 */
bool exp_sample_want(const struct exp_sample_drawn *d, size_t view, const struct exp_sample_view *of, double target,
                     size_t *wanted);

#endif
