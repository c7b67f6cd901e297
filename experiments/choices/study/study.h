/*
 * The study of the cost models. Sources have times of layers: recorded computers (results/reference/<machine>/times,
 * whose README describes the format), or this computer. Samples of layers have runs: plans, which are replayed.
 * Internal to the folder, and for its tests.
 */
#ifndef EXPERIMENTS_STUDY_STUDY_H
#define EXPERIMENTS_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/stats.h"
#include "experiments/base/store.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/time/ruler.h"
#include "experiments/choices/choice.h"
#include "kernels/csa/csa2.h"
#include "sim/machine/machine.h"

/* ---- source.c: times, costs that are fitted to times, predictions of models ---- */

/* A run of a layer by an algorithm. */
struct exp_study_time {
    double cycles;              /* NaN: not recorded */
    double second_cycles;       /* by the recording's second measure; NaN: not recorded */
    const struct conv_ukr *ukr; /* SConv's; NULL: not SConv, or not in this build's table */
    size_t n_c, k2, k3;         /* of an SConv plan */
};

/* A layer in a state of the caches. */
struct exp_study_point {
    const struct exp_model *model;
    const struct exp_layer *layer;
    enum csa2_state state;
    bool is_training;                          /* models may be fitted to the point */
    double weight;                             /* points of equal shape and state weigh 1 together */
    struct exp_study_time time[EXP_MAX_ALGOS]; /* by number in algos.def */
};

struct exp_study_times {
    const char *path;
    struct exp_study_point *point;
    size_t n;
};

/* Tells whether models may be fitted to layers of a shape: the hash of the shape is even. */
bool exp_study_is_training(const struct conv_problem *p);

/*
 * Reads the rows of a table of times whose layers the models have; path must outlive t. clock_ghz turns nanoseconds
 * into cycles where a row has no counted cycles. Returns 0, or -errno with a line in why.
 */
int exp_study_times_read(struct exp_study_times *t, const char *path, const struct exp_models *models, double clock_ghz,
                         struct exp_why *why);

/* Appends a point of weight 1 without times; the array must have room. */
struct exp_study_point *exp_study_times_add(struct exp_study_times *t, const struct exp_model *model,
                                            const struct exp_layer *layer, enum csa2_state state);

/* Returns the number of an algorithm in algos.def, which must have the algorithm. */
size_t exp_study_algo(const char *name);

/* Return a point's time of Base, and of a schedule of the paper's SConv. */
const struct exp_study_time *exp_study_base_time(const struct exp_study_point *p);
const struct exp_study_time *exp_study_schedule_time(const struct exp_study_point *p, enum csa_schedule schedule);

/* Tell whether both schedules were timed, and whether both measures of the recording agree which schedule is faster. */
bool exp_study_has_schedules(const struct exp_study_point *p);
bool exp_study_decides(const struct exp_study_point *p);

/*
 * Costs are fitted to times: the sum of amounts of work times costs is to come closest to the times by ratio, and no
 * cost is negative. The weight of an outlier, beyond 4 %, falls with the error.
 */

struct exp_study_sample {
    double amount[EXP_COSTS_MOST];
    double cycles; /* > 0 */
    double weight;
};

/* Fits cost[n_terms], n_terms <= EXP_COSTS_MOST. */
void exp_study_fit(const struct exp_study_sample *sample, size_t n, size_t n_terms, double *cost);

/* A model of Base, as csa2 is a model of SConv: few terms, costs fitted to a source's training layers. */
enum exp_study_base_term {
#define BASE_TERM(upper, ...) EXP_STUDY_BASE_##upper,
#include "experiments/choices/study/base_terms.def"
#undef BASE_TERM
    EXP_STUDY_N_BASE_TERMS
};

/* Predictions for a point's schedule. */
struct exp_study_view {
    double csa_cycles;  /* Eq. 6, predicted */
    double csa2_cycles; /* with the committed costs */
    double lines;       /* simulated: lines that loads and stores bring into L1; NaN: not replayed */
    double sim_cycles;  /* Eq. 6 with simulated counts; NaN: not replayed */
};

/* Pointers into a source: it is not moved. */
struct exp_study_source {
    const char *name; /* "zen3", "spr", "here"; with tiles of another size "here 16x16": windows x filters */
    char tile_name[64];
    bool is_other_tile; /* times of another micro-kernel than this computer chooses */
    const char *other;  /* describes the second measure */
    struct sim_machine machine;
    struct csa_caches caches; /* in CSA's view */
    struct csa2_machine model;
    struct exp_study_times times;
    struct exp_study_view (*view)[CSA_N_SCHEDULES]; /* [times.n] */
    double fitted[CSA2_N_TERMS];                    /* csa2's costs, fitted anew to the training points */
    double base_cost[EXP_STUDY_N_BASE_TERMS];
};

/* The recorded computers, by number; NULL past the last. */
const char *exp_study_recorded(size_t i);

/* Reads a recorded source. Returns 0, or -errno with a line in why. */
int exp_study_source_read(struct exp_study_source *s, const char *name, const struct exp_models *models,
                          struct exp_why *why);

/* Fills the views of the points, and fits costs; machine and model are set. */
void exp_study_source_finish(struct exp_study_source *s);
void exp_study_source_release(struct exp_study_source *s);

/* Counts csa2's work of a point's schedule on a machine: both schedules must have been timed. */
struct csa2_work exp_study_csa2_work(const struct csa2_machine *m, const struct exp_study_point *p,
                                     enum csa_schedule schedule);

/* Returns the schedule of a point that csa2 chooses. */
enum csa_schedule exp_study_csa2_choice(const struct exp_study_source *s, size_t point);

/* Counts Base's work on a point, for a micro-kernel of m's speed; the sum by s->base_cost is the predicted cycles. */
struct exp_study_sample exp_study_base_work(const struct exp_study_source *s, const struct csa2_machine *m,
                                            const struct exp_study_point *p);

/* Returns the floats of a machine's vectors. */
double exp_study_lanes(const struct exp_study_source *s);

/* ---- choices.c: choices by rules, judged by the clock ---- */

enum exp_study_rule {
#define RULE(upper, ...) EXP_STUDY_##upper,
#include "experiments/choices/study/rules.def"
#undef RULE
    EXP_STUDY_N_RULES
};

/* A name in columns, and a title. */
struct exp_study_names {
    const char *name, *title;
};

extern const struct exp_study_names exp_study_rules[EXP_STUDY_N_RULES];

/* Parts of the points. */
enum exp_study_part { EXP_STUDY_ALL, EXP_STUDY_TRAINING, EXP_STUDY_HELD_OUT, EXP_STUDY_N_PARTS };

extern const char *const exp_study_part_names[EXP_STUDY_N_PARTS], *const exp_study_state_names[CSA2_N_STATES];

/* Tells whether a point, which is for training or not, belongs to a part. */
static inline bool exp_study_is_in(bool is_training, enum exp_study_part part)
{
    return part == EXP_STUDY_ALL || is_training == (part == EXP_STUDY_TRAINING);
}

struct exp_study_tally {
    const char *machine, *caches, *part, *rule; /* names */
    struct exp_choice_sum all, decided;         /* timed layers; decided: the recording's two measures agree */
    double right_percent, regret_percent;
    struct value decided_right_percent;
};

/* Sums up the choices of a rule. */
struct exp_study_tally exp_study_tally_of(const struct exp_study_source *s, enum exp_study_rule rule,
                                          enum csa2_state state, enum exp_study_part part);

/*
 * Fits csa2's tie (csa2_costs.def) to the training layers: of 0, 1, ... 20 percent, the percentage whose choices cost
 * least time, the largest of equals. NaN: no layer is for training.
 */
double exp_study_tie_of(const struct exp_study_source *s, enum csa2_state state);

/* csa2's cycles over the measured cycles, both schedules; and the rank correlation of log(IS / WS). */
struct exp_study_accuracy {
    struct exp_spread spread;
    double rank;
};

struct exp_study_accuracy exp_study_accuracy_of(const struct exp_study_source *s, enum csa2_state state,
                                                enum exp_study_part part);

/*
 * Returns times of layers, both schedules, over the median of the layers of equal shape, for shapes of 3 layers or
 * more.
 */
struct exp_spread exp_study_repeats_of(const struct exp_study_source *s, enum csa2_state state);

/* The choice of SConv, scheduled by csa2, or Base: sums over layers where both were timed. */
enum { EXP_STUDY_BASE, EXP_STUDY_SCONV, EXP_STUDY_N_SIDES };

struct exp_study_hybrid {
    const char *machine, *caches, *part;       /* names */
    struct exp_choice_sum sum;                 /* by predicted cycles */
    struct exp_choice_sum by_shape, by_second; /* by the median layer of equal shape; by the second measure */
    struct exp_spread base_spread;             /* Base's predicted cycles over the measured cycles */
    const struct exp_layer *worst; /* a layer of the shape whose choices cost most; NULL: none costs anything */
    size_t n_worst;                /* layers of the worst shape */
    double worst_share;            /* the worst shape's share of the cost of wrong choices */
};

struct exp_study_hybrid exp_study_hybrid_of(const struct exp_study_source *s, enum csa2_state state,
                                            enum exp_study_part part);

/* ---- runs.c: runs of SConv: the tilings of all methods and of an exhaustive search, each once ---- */

enum exp_study_method {
#define METHOD(upper, ...) EXP_STUDY_##upper,
#include "experiments/choices/study/methods.def"
#undef METHOD
    EXP_STUDY_CSA2S, /* beside the methods: the tiling of the fewest cycles by csa2 */
    EXP_STUDY_N_METHODS
};

extern const struct exp_study_names exp_study_methods[EXP_STUDY_N_METHODS];

/* Accesses that are left out of a replay's counts, because CSA's equations do not know them. */
enum exp_study_without {
    EXP_STUDY_WITHOUT_NOTHING,
    EXP_STUDY_WITHOUT_PACKING, /* reads of packing */
    EXP_STUDY_WITHOUT_OUTPUT,  /* reads of outputs, to add to outputs */
    EXP_STUDY_WITHOUT_BOTH,
    EXP_STUDY_N_WITHOUT,
};

/* A replay's counts, caches alone, cold. */
struct exp_study_counts {
    double served[EXP_STUDY_N_WITHOUT][3]; /* loads served by L2, L3, memory */
    double lines_in;                       /* lines that loads and stores brought into L1 */
};

struct exp_study_run {
    const struct exp_layer *layer;
    struct csa_tiling tiling;
    const struct conv_ukr *ukr;
    double csa2_cycles;             /* predicted, cold */
    double csa_cycles;              /* Eq. 6 with the lines that CSA predicts for this tiling */
    struct exp_study_counts counts; /* if replayed */
    double sim_cycles;              /* Eq. 6 with simulated counts; NaN: not replayed */
    double ns, median_ns;           /* timed: fastest run; median. NaN: not timed */
};

struct exp_study_runs_layer {
    const struct exp_model *model;
    const struct exp_layer *layer;
    bool is_training;
    size_t n_same;                     /* layers of this shape in all models */
    size_t first, n;                   /* runs */
    size_t of_method[EXP_STUDY_CSA2S]; /* the run that each method plans */
};

/* Runs may point to the square micro-kernel: the struct is not moved. */
struct exp_study_runs {
    struct exp_study_runs_layer *layer;
    size_t n_layers;
    struct exp_study_run *run;
    size_t n;
    struct conv_ukr square; /* without a name where there is no square micro-kernel */
    char square_name[64];
};

/* The runs of a layer. */
enum exp_study_scope {
    EXP_STUDY_SCHEDULES,   /* CSA's plans of both schedules */
    EXP_STUDY_SEARCH,      /* plans of all methods, and an exhaustive search */
    EXP_STUDY_SEARCH_UKRS, /* and CSA's plans for all micro-kernels of the instruction set and a square micro-kernel */
};

struct exp_study_sampling {
    size_t n;         /* different shapes, spread evenly over the models' shapes by multiply-adds; 0: all */
    double most_macs; /* larger shapes are left out */
    enum exp_study_scope scope;
};

/* Samples layers and plans their runs for a machine. */
void exp_study_runs_make(struct exp_study_runs *r, const struct exp_models *models,
                         const struct exp_study_sampling *sampling, const struct sim_machine *m,
                         const struct conv_ukr *ukr);
void exp_study_runs_release(struct exp_study_runs *r);

/* Returns a cost of a run: the double at this offset. */
double exp_study_run_cost(const struct exp_study_run *run, size_t member);

/* Returns the run of a layer of the lowest cost, without runs of cost NaN; SIZE_MAX if no run has a cost. */
size_t exp_study_runs_best(const struct exp_study_runs *r, size_t layer, size_t member);

/* Returns the run of a layer with CSA's plan of a schedule for the sample's own micro-kernel. */
const struct exp_study_run *exp_study_runs_own(const struct exp_study_runs *r, const struct exp_study_runs_layer *l,
                                               enum csa_schedule schedule);

/* Returns the layer of a shape; NULL if no layer has the shape. */
struct exp_study_runs_layer *exp_study_runs_find(const struct exp_study_runs *r, const struct conv_problem *p);

/*
 * Returns the run of a layer with CSA's plan of a schedule for any micro-kernel; NULL if no run has the micro-kernel.
 */
const struct exp_study_run *exp_study_runs_planned(const struct exp_study_runs *r, size_t layer,
                                                   const struct conv_ukr *ukr, enum csa_schedule schedule);

/* Returns the run of a layer that a method plans, or csa2 chooses. */
size_t exp_study_runs_of(const struct exp_study_runs *r, size_t layer, size_t method);

/* Replays cases, cold, under a progress of their own. Returns as exp_replay_all. */
int exp_study_replay(struct exp_experiment *e, unsigned n_threads, struct exp_why *why);

/*
 * Replays all runs through a machine's caches alone: counts, sim_cycles. setup must be of the machine and plain.
 * Returns 0, or -errno with a line in why.
 */
int exp_study_runs_replay(struct exp_study_runs *r, const struct exp_setup *setup, unsigned n_threads,
                          struct exp_why *why);

/* ---- timing.c: the runs of a sample, timed on this computer ---- */

/* Everything that the times of all layers depend on, and the store that keeps times. */
struct exp_study_keeping {
    struct exp_store *store; /* NULL: nothing is kept */
    const char *commit;      /* COMMIT: times of another commit are not taken */
    const struct sim_machine *machine;
    struct exp_rounds rounds;   /* of a layer */
    uint64_t ruler_ns;          /* how long, for all layers, a ruler has timings taken again; 0: no ruler */
    exp_ruler_maker *new_ruler; /* NULL: exp_ruler_new */
};

struct exp_study_timed {
    size_t n_kept;                 /* layers whose times an earlier run has kept */
    struct exp_ruler_report ruled; /* timings that were taken again */
};

/*
 * Times all runs that this computer can execute, with cold caches: the runs of a layer take turns, round by round, each
 * on tensors of its own; a time is the fastest round, by the thread's own clock, and a second time the median round.
 * Layers share the rounds' time limit evenly. The store keeps the times of each layer that was not disturbed: an
 * interruption costs the layer that is being timed. Pins the calling thread. Returns 0, or -errno with a line in why:
 * -EINTR, an error of the store, -EAGAIN if too much was disturbed (bench/time/ruler.h).
 */
int exp_study_time_runs(struct exp_study_runs *r, const struct exp_setup *setup,
                        const struct exp_study_keeping *keeping, struct exp_study_timed *timed, struct exp_why *why);

/* ---- tilings.c: CSA's equations and tilings, held against the replay and the clock ---- */

/* CSA's plans of both schedules on a machine; without layers: not replayed. */
struct exp_study_terms {
    const char *name;
    struct csa_caches caches;
    struct exp_study_runs runs; /* EXP_STUDY_SCHEDULES */
};

/* An equation over the layers. */
struct exp_study_agreement {
    const char *machine, *schedule, *equation, *differs; /* names; differs: effects left out, or changed caches */
    size_t n;                                            /* layers */
    double predicted, simulated;                         /* sums */
    struct exp_spread spread;                            /* predicted / simulated, where simulated is not 0 */
    double rank;                                         /* correlation over the layers */
    size_t n_neither, n_one;                             /* layers where both numbers are 0; where one number is */
};

enum exp_study_equation {
#define EQUATION(upper, ...) EXP_STUDY_##upper,
#include "experiments/choices/study/equations.def"
#undef EQUATION
    EXP_STUDY_N_EQUATIONS
};

extern const struct exp_study_names exp_study_equations[EXP_STUDY_N_EQUATIONS];

/* Compares an equation with the replay over all layers, in a schedule. */
struct exp_study_agreement exp_study_agreement_of(const struct exp_study_terms *t, enum exp_study_equation equation,
                                                  enum csa_schedule schedule, enum exp_study_without without);

/* Gives a source's cold points the counts of a replay on the source's machine. */
void exp_study_terms_tell(const struct exp_study_terms *t, struct exp_study_source *s);

/*
 * Returns the cycles of Eq. 6 with counts through caches of left_out.def over the cycles with the caches as they are;
 * NaN if not replayed. t[EXP_STUDY_N_LEFT_OUT] are of one machine.
 */
double exp_study_left_out_cycles(const struct exp_study_terms *t, size_t left_out, enum csa_schedule schedule);

/* The runs of a sample on a machine. */
struct exp_study_tilings {
    const char *name; /* of the machine, or "here" */
    bool is_timed;
    const char *measure; /* "clock" or "replay" */
    size_t cost;         /* of runs, by the measure: the double at this offset */
    struct sim_machine machine;
    struct csa2_machine model;
    struct exp_setup setup; /* the machine's kernels and caches alone; all methods plan for setup.ukr */
    struct exp_study_runs runs;
};

/* Fits csa2's costs to the timed runs of the training layers, all tilings and micro-kernels; predicts all runs. */
void exp_study_tilings_fit(struct exp_study_tilings *t);

/*
 * Makes a source of CSA's timed plans, as if somebody had recorded the times, with the counts of the replay: of plans
 * for setup.ukr (other NULL), or for another micro-kernel. The source may have no points.
 */
void exp_study_tilings_source(const struct exp_study_tilings *t, const struct conv_ukr *other,
                              struct exp_study_source *s);

/* The speed of a method's tilings over the speed of the best tilings found, over the layers of a part. */
struct exp_study_speed {
    const char *machine, *measure, *part, *method; /* names */
    size_t n;
    double percent, p10_percent; /* geometric mean; nine layers of ten exceed p10_percent */
};

/* Beside the methods: the tilings of the best median rounds, which is the limit of the clock. */
enum { EXP_STUDY_BY_MEDIAN = EXP_STUDY_N_METHODS };

struct exp_study_speed exp_study_speed_of(const struct exp_study_tilings *t, size_t method, enum exp_study_part part);

/* Returns the median of the layers' rank correlations, over a layer's tilings, with a cost of runs (by offset). */
double exp_study_rank(const struct exp_study_tilings *t, size_t predicted, enum exp_study_part part);

/* Returns csa2's predicted / measured over all timed runs. */
struct exp_spread exp_study_tilings_spread(const struct exp_study_tilings *t, enum exp_study_part part);

/* ---- work.c: recorded times are read, plans replayed, a sample timed, and the models fitted ---- */

/* A machine whose caches differ from the caches of a file. */
struct exp_study_variant {
    const char *name, *title;
    size_t level;      /* 0: L1, 1: L2, 2: L3; SIM_MAX_LEVELS: all */
    double sets, ways; /* factors; 0: 1 */
    uint32_t
        least_ways;     /* pairs of sets become one set until ways suffice: with hundreds, sets are rarely full first */
    const char *policy; /* NULL: the file's */
    bool adds_prefetchers;  /* a stride prefetcher in L1, a stream prefetcher in L2 */
    bool keeps_prefetchers; /* the file's; machines without prefetchers have no such variant */
    bool passes_stores;     /* on a miss: only loads bring lines */
};

enum {
#define VARIANT(...) +1
    EXP_STUDY_N_VARIANTS = 0
#include "experiments/choices/study/variants.def"
    ,
    EXP_STUDY_N_LEFT_OUT = 0
#include "experiments/choices/study/left_out.def"
#undef VARIANT
#define RATE(...) +1
    ,
    EXP_STUDY_N_RATES = 0
#include "experiments/choices/study/rates.def"
#undef RATE
};

extern const struct exp_study_variant exp_study_variants[EXP_STUDY_N_VARIANTS]; /* CSA plans for each */
extern const struct exp_study_variant exp_study_left_out[EXP_STUDY_N_LEFT_OUT]; /* plans stay, caches differ */

struct exp_study_rate {
    const char *what;
    struct sim_issue issue; /* the three keys that decide the speed; the rest is the machine's */
    const char *ukr, *core;
    enum conv_type type;
};

extern const struct exp_study_rate exp_study_rates[EXP_STUDY_N_RATES];

/* Returns the multiply-adds per cycle. */
double exp_study_macs(const struct exp_study_rate *r);

/* Cycles of both algorithms. */
struct exp_study_both {
    double base, sconv;
    double base_packing, sconv_packing; /* parts of base and sconv: im2col and packing */
    double base_packing_percent, sconv_packing_percent, speedup;
};

/* Predicts the cycles of all layers of a source, cold, at a speed, SConv as csa2 schedules it. */
struct exp_study_both exp_study_rate_of(const struct exp_study_source *s, double macs_per_cycle);

/* The cost of misses: nothing, or their latency. */
enum exp_study_misses { EXP_STUDY_HIT, EXP_STUDY_WAIT, EXP_STUDY_N_MISSES };

/*
 * Cycles of a sample at one speed, SConv as CSA schedules it. A micro-kernel takes the cycles of its multiply-adds, and
 * waits for no load port; im2col and packing take the cycles of their loads or stores, the slower of the two.
 */
struct exp_study_micro {
    size_t n; /* layers */
    struct exp_study_both cycles[EXP_STUDY_N_MISSES];
};

/*
 * A measured micro-kernel (measured.def): the geometric mean of the networks' gains, and packing's part of the time of
 * all networks; cycles are NaN.
 */
struct exp_study_measured {
    struct exp_study_rate rate;
    size_t n_layers;
    struct exp_study_both both;
};

/* Finds measured micro-kernel i. Returns false behind the last. */
bool exp_study_measured(size_t i, struct exp_study_measured *m);

enum { EXP_STUDY_MAX_SOURCES = 16, EXP_STUDY_MAX_TILINGS = 3, EXP_STUDY_N_PLANNED = 4 };

/* The machine whose caches are varied. */
extern const char exp_study_varied[];

struct exp_study_options {
    const char *model, *layers, *input, *results, *commit;
    unsigned batch, links, sample, timing, limit, ruler, jobs, more;
};

/* Starts as { 0 } but for the first two. Pointers into the struct: it is not moved. */
struct exp_study_work {
    const struct exp_study_options *options;
    const struct exp_models *models;
    struct exp_study_source source[EXP_STUDY_MAX_SOURCES];
    size_t n_sources;
    struct exp_study_tilings tilings[EXP_STUDY_MAX_TILINGS];
    size_t n_tilings;
    struct exp_study_terms terms[EXP_STUDY_N_PLANNED];
    size_t n_terms;
    struct exp_study_terms left_out[EXP_STUDY_N_PLANNED][EXP_STUDY_N_LEFT_OUT]; /* of a sample */
    struct exp_study_micro micro[EXP_STUDY_N_RATES];
    struct exp_choice_sum sensitivity[EXP_STUDY_N_VARIANTS]; /* CSA's schedules by Eq. 6 with simulated counts */
};

/* Does the whole study. Returns 0, or -errno with a line in why. */
int exp_study_work(struct exp_study_work *w, struct exp_why *why);
void exp_study_work_release(struct exp_study_work *w);

/* ---- tables.c, answer.c, page.c ---- */

/* A row of costs.csv: the cost of a term of csa2. */
struct exp_study_cost {
    const char *machine;
    struct csa2_term_record term;
    double cycles, fitted;
};

extern const struct rec_table exp_study_choices_table, exp_study_predictions_table, exp_study_costs_table,
    exp_study_terms_table, exp_study_ablation_table, exp_study_tilings_table, exp_study_methods_table,
    exp_study_sensitivity_table, exp_study_hybrid_table, exp_study_rates_table, exp_study_micro_table;

/* Writes all tables. Returns 0, or -errno with a line in why. */
int exp_study_tables_write(const struct exp_study_work *w, const struct exp_outdir *dir, const char *what,
                           struct exp_why *why);

/* ---- answer.c, screen.c: the answer ---- */

struct exp_study_range {
    double low, high; /* low > high: empty */
};

/* A gain below this share of the time does not count. */
#define EXP_STUDY_GAIN_PERCENT 0.1

/* Schedules over the recordings: a computer and a state of the caches each. */
struct exp_study_schedules {
    size_t n, n_better;                     /* recordings; where CSA is right more often than both constants */
    struct exp_study_range csa, ws, second; /* percent of right choices: CSA, always WS, the second measure */
    size_t n_held_out, n_faster, n_slower;  /* csa2 beside always WS, on layers outside the fit */
};

struct exp_study_schedules exp_study_schedules_of(const struct exp_study_work *w);

/* Returns the answer in a sentence, from malloc. */
char *exp_study_headline(const struct exp_study_work *w);

/* Returns predicted lines over replayed lines, and rank correlations, over all machines and schedules. */
struct exp_study_range exp_study_lines_of(const struct exp_study_work *w, enum exp_study_equation equation,
                                          struct exp_study_range *rank);

/* Fills the screen: the headline, the reasons, and a table of recordings. */
void exp_study_fill_screen(const struct exp_study_work *w, struct exp_screen *s);

/* Print the answer, question by question, and whether the targets are reached. */
void exp_study_answer_print(const struct exp_study_work *w, FILE *out);
void exp_study_targets_print(const struct exp_study_work *w, FILE *out);

/* Prints the page in Markdown; what is a line of provenance. */
void exp_study_page_print(const struct exp_study_work *w, const char *what, FILE *out);

#endif
