/* Targets of the simulation on recorded counts, and results. Internal to the folder. */
#ifndef EXPERIMENTS_VALIDATE_VALIDATE_H
#define EXPERIMENTS_VALIDATE_VALIDATE_H

#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/screen.h"
#include "experiments/bench/case/cycles.h"
#include "experiments/choices/choice.h"
#include "experiments/show/agreement.h"

/*
 * Print the table, both simulations beside each other, and write targets.csv. The worst algorithm judges the error of a
 * sum: in a sum over algorithms, too many misses of an algorithm would hide missing misses. Writing returns 0, or
 * -errno with a line in why.
 */
void exp_validate_targets_print(const struct exp_agreement_report *r, FILE *out);
int exp_validate_targets_write(const struct exp_agreement_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* The simulated machine and state of the caches. */
struct exp_validate_machine {
    const struct exp_setup *setup;
    enum exp_cache_state cache;
    bool is_by_clock; /* beside times instead of counted cycles */
    double cost_percent;
    size_t n_cost; /* replays behind the cost; 0: not known */
};

/*
 * Returns the CPU time of replays with the core's clock, in % of the CPU time without the clock, summed over all
 * algorithms of the smallest layer; *n is the number of algorithms. NaN: no algorithm, or no memory.
 */
double exp_validate_cost_percent(const struct exp_experiment *e, size_t *n);

/* Cycles over all points. */
struct exp_validate_cycles {
    size_t n;                             /* rows with simulated and counted cycles */
    double median, p90;                   /* absolute errors in percent; NaN: no rows */
    double constant, fit, equals;         /* medians of baselines (choices/targets.h); NaN: unknown */
    struct exp_choice_sum side, schedule; /* between Base and SConv, and between schedules, by simulated cycles */
    size_t n_right_csa, n_right_csa2;     /* schedules */
};

struct exp_validate_cycles exp_validate_cycles_of(const struct exp_agreement_report *r,
                                                  const struct exp_validate_machine *of);

/*
 * Print and write the targets of simulated cycles, of the machine as it is, row by row: cycles.csv. Schedules that
 * simulated cycles choose stand beside the choices of CSA and csa2.
 */
void exp_validate_cycles_print(const struct exp_agreement_report *r, const struct exp_validate_machine *of, FILE *out);
int exp_validate_cycles_write(const struct exp_agreement_report *r, const struct exp_validate_machine *of,
                              const struct exp_validate_cycles *c, const struct exp_outdir *dir, struct exp_why *why);

/* ---- sampled.c ---- */

/* An exact count beside its estimate. The texts belong to the experiment and to programs. */
struct exp_validate_sampled_row {
    const char *machine, *model, *layer, *algo, *view, *quantity;
    size_t q; /* enum exp_sampled */
    bool is_machine;
    double exact, sampled, pm, share_percent;
};

struct exp_validate_samples {
    struct exp_validate_sampled_row *row; /* [n], owned */
    size_t n;
    size_t n_streams, n_sampled;
    char **text; /* [n_texts], owned: names in the rows */
    size_t n_texts;
    const char *machine; /* of the rows that are added next */
};

/* Keeps a text as long as the samples. */
const char *exp_validate_keep(struct exp_validate_samples *s, char *text);

void exp_validate_samples_release(struct exp_validate_samples *s);

/*
 * Replays an experiment with exact counts again, sampled as its setup says, and adds the rows; the exact counts stay.
 * Returns as exp_replay_all.
 */
int exp_validate_sample(struct exp_validate_samples *s, struct exp_experiment *e, enum exp_cache_state cache,
                        unsigned n_threads, struct exp_progress *progress, struct exp_why *why);

/* Write sampled.csv, print the tables (of all, and of each machine in a list), and note the cycles on the screen. */
int exp_validate_sampled_write(const struct exp_validate_samples *s, const struct exp_outdir *dir, struct exp_why *why);
void exp_validate_sampled_print(const struct exp_validate_samples *s, const char *machines, FILE *out);
void exp_validate_sampled_note(const struct exp_validate_samples *s, struct exp_screen *screen);

extern const struct rec_table exp_validate_sampled_table;

/* ---- random.c: random layers on machines with levels of random size, by a seed ---- */

struct exp_validate_random {
    size_t n; /* layers */
    uint64_t seed;
    const struct exp_sampling *sampling;
    const char *store, *results; /* exact replays are kept in the store */
    unsigned n_threads;
    struct exp_progress *progress;
};

/* Replays all exactly and sampled, and adds the rows. Returns as exp_replay_all. */
int exp_validate_random_try(struct exp_validate_samples *s, const struct exp_validate_random *how, struct exp_why *why);
double exp_validate_random_seconds(size_t n, unsigned n_threads);

/* ---- machines.c: all long layers of models, each shape once, on machines ---- */

struct exp_validate_machines {
    const char *list; /* names, comma-separated */
    const struct exp_models *models;
    unsigned algos;
    const struct exp_sampling *sampling;
    const char *store, *results; /* exact replays are kept in the store */
    unsigned n_threads;
    struct exp_progress *progress;
};

/* Replays all exactly and sampled, and adds the rows. Returns as exp_replay_as_asked. */
int exp_validate_machines_try(struct exp_validate_samples *s, const struct exp_validate_machines *how,
                              struct exp_why *why);
double exp_validate_machines_seconds(const struct exp_validate_machines *how);

/* ---- gains.c ---- */

/* The points whose ratios of cycles become rows of gains.csv (experiments/choices/advice/gain.h). */
struct exp_validate_gains {
    const struct exp_points *points;
    const char *machine;
};

int exp_validate_gains_write(const struct exp_validate_gains *g, const char *what, const struct exp_outdir *dir,
                             struct exp_why *why);

/*
 * Prints how often the first advice (experiments/choices/advice) in place of SConv as CSA chooses would have been right,
 * among the recorded algorithms, beside constant rules. The known errors of a layer are those of the other models.
 */
void exp_validate_advice_print(const struct exp_points *points, const struct exp_setup *setup, FILE *out);

/* Returns the cycles of a point; NaN: not comparable, or NULL. */
struct exp_cycles_pair exp_validate_cycles_of_point(const struct exp_point *p);

/* ---- screen.c ---- */

/* Returns the number of targets of counts that a simulation reaches, and in *n all targets that were compared. */
size_t exp_validate_count_reached(const struct exp_agreement_report *r, enum exp_view v, size_t *n);

/* Returns the answer in a sentence, from malloc. */
char *exp_validate_headline(const struct exp_validate_cycles *c, const struct exp_setup *setup);

/* Fills the screen: the headline, the reasons, and a table of quantities. */
void exp_validate_fill_screen(const struct exp_agreement_report *r, const struct exp_validate_cycles *c,
                              const struct exp_setup *setup, struct exp_screen *s);

extern const struct rec_table exp_validate_targets_table, exp_validate_cycles_table;

/* Says in a sentence how many targets the results in a folder reached. */
void exp_validate_found(const char *folder, char *text, size_t bytes);

#endif
