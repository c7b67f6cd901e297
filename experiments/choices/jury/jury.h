/*
 * The jury: shapes without any tuning in view, drawn from tables of convolutions. Each shape is checked, timed beside
 * Base and simulated. Internal to the folder, and for tests.
 */
#ifndef EXPERIMENTS_JURY_JURY_H
#define EXPERIMENTS_JURY_JURY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/base/stats.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/course/question.h"
#include "experiments/bench/model/model.h"
#include "experiments/bench/time/measure.h"
#include "experiments/choices/advice/advice.h"
#include "experiments/choices/targets.h"

/* ---- draw.c: kinds of shapes, and the drawn layers ---- */

enum exp_jury_kind {
#define KIND(id, ...) EXP_JURY_##id,
#include "experiments/choices/jury/kinds.def"
    EXP_JURY_N_KINDS
};

struct exp_jury_kind_words {
    const char *name, *words;
};

extern const struct exp_jury_kind_words exp_jury_kinds[EXP_JURY_N_KINDS];

/* Returns the kind of a shape for tiles of n_win windows by n_f filters. */
enum exp_jury_kind exp_jury_kind_of(const struct conv_problem *p, size_t n_win, size_t n_f);

/*
 * Reads the tables of a list as one model, `ask` as for exp_models_read, and keeps `most` layers (0: all), drawn by a
 * generator from the seed, in the order of the tables. Returns as exp_models_read.
 */
int exp_jury_draw(struct exp_model *m, const char *experiments_dir, const char *tables, unsigned most, unsigned seed,
                  struct exp_why *why);

/* ---- work.c: checks, times and simulations ---- */

enum { EXP_JURY_MOST_CAUSES = 16, EXP_JURY_MOST_ALGOS = 12 };

struct exp_jury_row; /* report.c */

/* A layer by an algorithm. */
struct exp_jury_case {
    const struct exp_algo *algo;
    const char *why_untimed, *why_unsimulated; /* NULL: known */
    double ns;                                 /* exp_times.low_mean */
    double ghz;                                /* the core's clock beside the times; 0: not known */
    struct exp_ratio speedup;                  /* over Base */
    uint64_t n_rounds;
    double cycles; /* simulated */
    double cause[EXP_JURY_MOST_CAUSES];
    double loads, stores, l1_misses, l2_misses, l3_misses, memory_lines, mac_instructions;
    double share; /* of the accesses, the part simulated access by access */
};

struct exp_jury_layer {
    const struct exp_layer *layer;
    enum exp_jury_kind kind;
    size_t first;             /* the first layer of equal shape */
    size_t chosen;            /* the schedule of CSA's choice; the number of algorithms: the schedules do not run */
    const char *why;          /* why the layer is left out; NULL: the layer is judged */
    struct exp_jury_case *by; /* [n_algos] */
};

/* Rows of an earlier run's jury.csv, by name of layer and algorithm. */
struct exp_jury_times {
    struct rec_rows rows; /* of struct exp_jury_row */
    const struct exp_jury_row **sorted;
};

struct exp_jury {
    const struct exp_model *model;
    struct exp_setup *setup;
    unsigned algos; /* bits */
    size_t n_algos;
    enum exp_cache_state cache;
    const char *why_untimed;   /* NULL: layers are timed */
    const char *why_elsewhere; /* why times are not the simulated machine's; NULL: no reason */
    bool is_recorded;          /* times are those of `times`; no layer is timed here */
    struct exp_jury_times times;
    struct exp_measure_options measure;
    double limit_s; /* of timing 100 layers, beyond the least rounds */
    unsigned n_threads;
    struct exp_jury_layer *layer; /* [model->n_layers] */
    size_t *order;                /* [n_judged] judged layers: the smallest first */
    size_t n_judged;
    size_t *shape; /* [n_shapes] the first judged layer of each shape, the largest first */
    size_t n_shapes;
    size_t n_disturbed, n_kept_times; /* layers */
    char disturbed[256];
    struct exp_task *time_task, *replay_task;
    size_t *chunk; /* [n_chunks + 1] first tasks of timing jobs */
    size_t n_chunks;
    char *time_setting, *replay_setting;
    struct exp_progress *progress;
    struct exp_why *why;
};

/* Plans all layers; leaves out layers beyond this computer's memory. Returns 0 or -errno with a line in j->why. */
int exp_jury_plan(struct exp_jury *j);
void exp_jury_release(struct exp_jury *j);

/* Announces the seconds of all work. */
void exp_jury_announce(const struct exp_jury *j, double seconds[EXP_N_WORKS]);

/* Checks and times the layers of a share, with results from the store. Returns 0 or -errno with a line in j->why. */
int exp_jury_time(struct exp_jury *j, const struct exp_crew *crew);

/* Returns the simulations as tasks, a task for each shape. */
struct exp_tasks exp_jury_replays(struct exp_jury *j);

/* ---- recorded.c: times of an earlier run ---- */

/*
 * Reads jury.csv of any version; the model's layers of equal name must have equal sizes. Returns 0 or -errno with a line
 * in why; t must be released in both cases.
 */
int exp_jury_read_times(struct exp_jury_times *t, const char *path, const struct exp_model *m, struct exp_why *why);
void exp_jury_release_times(struct exp_jury_times *t);

/* Gives all judged layers the times of j->times. A layer or algorithm without a row stays untimed. */
void exp_jury_take_times(struct exp_jury *j);

/* ---- report.c: tables ---- */

/* A row of jury.csv. */
struct exp_jury_row {
    const char *layer, *kind, *algo;
    uint64_t index, line, batch, c, h, w, k, r, s, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_bottom,
        pad_left, pad_right, groups, p, q, is_chosen;
    double macs;
    struct value time_ns, speedup, low, high, rounds, ghz, cycles_taken, simulated_cycles, simulated_speedup,
        error_percent, loads, stores, l1_misses, l2_misses, l3_misses, memory_lines, mac_instructions, simulated_share;
};

/* A row of losses.csv: an algorithm slower than Base. */
struct exp_jury_loss {
    const char *layer, *kind, *algo, *by, *cause, *says;
    double speedup;
    uint64_t is_chosen;
    struct value low, simulated_speedup, cause_percent, instructions_ratio, misses_ratio;
};

/* A row of kinds.csv: an algorithm over the shapes of a kind; "all": all kinds. */
struct exp_jury_sum {
    const char *kind, *words, *algo, *cause;
    uint64_t n, n_faster, n_lost, n_explained;
    struct value faster_percent, geomean, p10, median, p90, simulated_geomean;
};

struct exp_jury_report {
    const struct exp_jury *jury;
    bool is_timed; /* speed-ups are measured, not simulated */
    struct exp_jury_row *row;
    size_t n_rows;
    struct exp_jury_loss *loss;
    size_t n_losses, n_explained;
    struct exp_jury_sum *sum;
    size_t n_sums;
    size_t n_schedules, n_csa_right, n_ws_faster; /* shapes: IS and WS differ; CSA chose the faster; WS is the faster */
    struct exp_target_result target[EXP_N_TARGETS];
    size_t n_untimed, n_unsimulated; /* rows */
};

/* A speed-up below this share of Base's speed is a loss. */
#define EXP_JURY_LOSS 0.95

/* Two schedules of speeds above this ratio differ. */
#define EXP_JURY_DIFFER 1.03

void exp_jury_report_make(struct exp_jury_report *r, const struct exp_jury *j);
void exp_jury_report_release(struct exp_jury_report *r);
int exp_jury_report_write(const struct exp_jury_report *r, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why);

/* Returns the sum of an algorithm over a kind; NULL: none. */
const struct exp_jury_sum *exp_jury_sum_of(const struct exp_jury_report *r, const char *kind, const char *algo);

extern const struct rec_table exp_jury_table, exp_jury_losses_table, exp_jury_kinds_table;

/* ---- screen.c ---- */

void exp_jury_print(const struct exp_jury_report *r, FILE *out);
void exp_jury_fill_screen(const struct exp_jury_report *r, struct exp_screen *s);

#endif
