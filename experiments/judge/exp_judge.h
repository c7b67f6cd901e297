/*
 * Was CSA's choice of schedule the best one? For each layer, all variants are replayed and compared by several
 * yardsticks. What the choice costs over the best variant is its regret.
 */
#ifndef EXPERIMENTS_EXP_JUDGE_H
#define EXPERIMENTS_EXP_JUDGE_H

#include "experiments/judge/exp_judge_measured.h"
#include "experiments/judge/exp_judge_variants.h"
#include "experiments/judge/exp_judge_yardsticks.h"
#include "experiments/replay/exp_estimate.h"

/* A layer. Values are NaN where they cannot be had. */
struct exp_judgement {
    const struct exp_layer *layer;
    bool is_pointwise;
    size_t chosen;                           /* by CSA: a variant's number */
    double predicted_cycles[EXP_N_VARIANTS]; /* as the variant's model has them */
    double value[EXP_N_YARDSTICKS][EXP_N_VARIANTS];
    struct exp_estimate base, variant[EXP_N_VARIANTS];
    double speedup, issue_speedup;              /* estimated, base over the choice: with loads waiting, or not */
    struct exp_judge_time time[EXP_N_VARIANTS]; /* measured; NaN unless exp_judge_look_up found them */
};

/*
 * Judges one layer of an experiment that was made with exp_variants_select. All variants have been replayed, Base if
 * it can be.
 */
void exp_judge(struct exp_judgement *v, const struct exp_experiment *e, size_t layer);

/* Looks up the times of all variants. */
void exp_judge_look_up(struct exp_judgement *v, const struct exp_experiment *e, size_t layer,
                       const struct rec_rows *layers, enum exp_cache_state caches);

/* Finds the best variant by a yardstick; the first of equal ones. */
size_t exp_judgement_best(const struct exp_judgement *v, enum exp_yardstick y);

/* Tells whether all variants are the same by a yardstick. */
bool exp_judgement_is_tie(const struct exp_judgement *v, enum exp_yardstick y);

/* Tells by a yardstick whether no variant is better than the choice, and by how much it is worse than the best. */
bool exp_judgement_is_right(const struct exp_judgement *v, enum exp_yardstick y);
double exp_judgement_regret(const struct exp_judgement *v, enum exp_yardstick y);

/* Sums over layers. */
struct exp_judge_total {
    size_t n_layers, n_chosen[EXP_N_VARIANTS];
    struct exp_judge_sum {
        size_t n_right, n_equal; /* layers where no variant is better; of those, where all are the same */
        double variant[EXP_N_VARIANTS], chosen, best;
    } sum[EXP_N_YARDSTICKS];
    struct exp_estimate base, chosen;
    size_t n_won, n_pointwise, n_pointwise_won; /* estimated speed-ups above 1 */
    double max_speedup, max_pointwise_speedup;
};

/*
 * Holds what the clock says of the layers whose variants were all timed, beside Base, and what was estimated of them.
 */
struct exp_judge_clock {
    size_t n_timed, n_pays, n_loses; /* CSA's choice: faster or slower than Base, with its whole interval */
    size_t n_right;                  /* no variant is faster than the choice */
    double chosen_ns, best_ns;
    struct exp_ratio speedup; /* of the choices over Base, summed */
    double estimated_speedup, estimated_issue_speedup;
    struct exp_accuracy accuracy, issue_accuracy; /* of the estimates, with loads waiting or not */
};

/* Returns 0 or -ENOMEM. */
int exp_judge_clock_of(struct exp_judge_clock *c, const struct exp_judgement *v, size_t n);

void exp_judge_add(struct exp_judge_total *t, const struct exp_judgement *v);

/* Returns what the choices cost over the best variants, in percent of those. */
double exp_judge_regret_percent(const struct exp_judge_sum *s);

#endif
