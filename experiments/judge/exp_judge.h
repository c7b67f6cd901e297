/*
 * Was CSA's choice of schedule the better one? For each layer, both schedules are replayed and held against each other
 * by several yardsticks; what the choice costs over the better schedule is its regret.
 */
#ifndef EXPERIMENTS_EXP_JUDGE_H
#define EXPERIMENTS_EXP_JUDGE_H

#include "experiments/replay/exp_accuracy.h"
#include "experiments/replay/exp_estimate.h"
#include "experiments/judge/exp_judge_measured.h"

/*
 * The first three count lines that cross a border, both ways: fetched, written back. Levels are the machine's first,
 * second and last, as CSA takes them.
 */
enum exp_yardstick {
    EXP_L1_L2_LINES,
    EXP_L2_L3_LINES,
    EXP_L3_MEMORY_LINES,
    EXP_EQ6_CYCLES,       /* SConv Eq. 6, what CSA minimises, with simulated instead of predicted counts */
    EXP_ESTIMATED_CYCLES, /* exp_estimate.h */
    EXP_N_YARDSTICKS,
};

const char *exp_yardstick_name(enum exp_yardstick y); /* in columns' names */
/* For people, with the names of the machine's levels: "lines L2-SLC". */
void exp_yardstick_label(enum exp_yardstick y, const struct sim_machine *m, char *text, size_t bytes);

/* A layer. Values are NaN where they cannot be had. */
struct exp_judgement {
    const struct exp_layer *layer;
    bool is_pointwise;
    enum csa_schedule chosen;
    double predicted_cycles[CSA_N_SCHEDULES]; /* Eq. 6 as CSA has it */
    double value[EXP_N_YARDSTICKS][CSA_N_SCHEDULES];
    struct exp_estimate base, schedule[CSA_N_SCHEDULES];
    double speedup, issue_speedup; /* estimated, base over the chosen schedule: with loads waiting, or not */
    struct exp_judge_time time[CSA_N_SCHEDULES]; /* measured; NaN unless exp_judge_look_up found them */
};

/* Judges one layer of an experiment with base and both schedules, all replayed (base only if it can be). */
void exp_judge(struct exp_judgement *v, const struct exp_experiment *e, size_t layer);

/* Looks up the times of both schedules. */
void exp_judge_look_up(struct exp_judgement *v, const struct exp_experiment *e, size_t layer,
                       const struct exp_judge_measured *m, enum exp_cache_state caches);

/* By a yardstick: whether the choice is not worse than the other; by how much it is worse (0 if it is not). */
bool exp_judgement_is_right(const struct exp_judgement *v, enum exp_yardstick y);
double exp_judgement_regret(const struct exp_judgement *v, enum exp_yardstick y);

/* Sums over layers. */
struct exp_judge_total {
    size_t n_layers, n_chosen[CSA_N_SCHEDULES];
    struct exp_judge_sum {
        size_t n_right, n_equal; /* layers where the choice is not worse; of those, where both are the same */
        double schedule[CSA_N_SCHEDULES], chosen, best;
    } sum[EXP_N_YARDSTICKS];
    struct exp_estimate base, chosen;
    size_t n_won, n_pointwise, n_pointwise_won; /* estimated speed-ups above 1 */
    double max_speedup, max_pointwise_speedup;
};

/* What the clock says of the layers whose schedules were both timed, beside Base; and what was estimated of them. */
struct exp_judge_clock {
    size_t n_timed, n_pays, n_loses; /* CSA's choice: faster or slower than Base, with its whole interval */
    size_t n_right;                  /* the choice is the faster schedule */
    double chosen_ns, best_ns;
    struct exp_ratio speedup; /* of the choices over Base, summed */
    double estimated_speedup, estimated_issue_speedup;
    struct exp_accuracy accuracy, issue_accuracy; /* of the estimates, with loads waiting or not */
};

/* Returns 0 or -ENOMEM. */
int exp_judge_clock_of(struct exp_judge_clock *c, const struct exp_judgement *v, size_t n);

void exp_judge_add(struct exp_judge_total *t, const struct exp_judgement *v);

/* What the choices cost over the better schedules, in percent of those. */
double exp_judge_regret_percent(const struct exp_judge_sum *s);

#endif
