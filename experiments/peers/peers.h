/*
 * Base, SConv and peers side by side over a network, timed as in any experiment (bench/time/measure.h): in the caches
 * that the layer before leaves, and in warm caches. A method is an algorithm of bench/case/algos.def, or a plug-in.
 */
#ifndef EXPERIMENTS_PEERS_PEERS_H
#define EXPERIMENTS_PEERS_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/stats.h"
#include "experiments/base/tasks.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/plugin/plugin.h"
#include "experiments/bench/course/variables.h"
#include "kernels/ukr/peak.h"

enum { EXP_MAX_PEERS = EXP_MAX_ALGOS };

/* The methods in the order of ALGO=. The first is Base, the reference. The struct must stay at its address. */
struct exp_peers_methods {
    size_t n;
    const struct exp_algo *algo[EXP_MAX_PEERS];
    struct exp_algo chosen; /* the group, run as CSA's choice of the members in each layer */
    unsigned algos;         /* a bit for each algorithm of the methods */
};

/* Adds the algorithm base_rows, unless the list has base_rows. */
void exp_peers_add_rows(void);

/*
 * Reads ALGO=; "": the default methods. Adds the algorithm base_rows. Returns 0, or -EINVAL with one line in why; as
 * exp_plugins_select.
 */
int exp_peers_methods_read(struct exp_peers_methods *m, const char *list, const struct exp_plugin_options *o,
                           struct exp_why *why);

/* Finds a method by name; m->n for an unknown name. */
size_t exp_peers_method(const struct exp_peers_methods *m, const char *name);

/* Tells whether a method also runs step by step: Base, or an algorithm of this project. */
bool exp_peers_has_phases(const struct exp_peers_methods *methods, size_t m);

/* The caches at the start of each layer: EXP_NETWORK, EXP_WARM. */
enum exp_peers_cache { EXP_PEERS_NETWORK, EXP_PEERS_WARM, EXP_N_PEERS_CACHES };

const char *exp_peers_cache_name(enum exp_peers_cache c);

/* Facts found beside a network's times: place and date. */
struct exp_peers_found {
    char on[192]; /* host and CPU model */
    int core;
    int64_t at;                                       /* seconds since 1970 */
    double peak_gflops, read_gbytes;                  /* before or after the rounds; 0 without a peak loop */
    struct exp_measure_info info[EXP_N_PEERS_CACHES]; /* all zeros: not timed in this state */
};

enum { EXP_PEERS_WHY_BYTES = 160 };

struct exp_peers {
    const struct exp_setup *setup;
    const struct exp_peers_methods *methods;
    const struct conv_peak *peak; /* NULL: no loop for this CPU */
    size_t n_layers;
    struct exp_experiment experiment; /* the methods are the algorithms; a case is a layer by a method */
    struct exp_measured *measured[EXP_N_PEERS_CACHES]; /* [n_layers * methods->n] */
    char (*why)[EXP_PEERS_WHY_BYTES];                  /* of layers read back without a time */
    struct exp_peers_found found;
};

enum { EXP_PEERS_MAX_GIB = 8 /* of the tensors of a layer, by all methods */ };

struct exp_peers_options {
    struct exp_rounds rounds;
    unsigned n_warm_rounds;   /* 0: no times in warm caches */
    uint64_t ruler_ns;        /* how long a ruler (bench/time/ruler.h) has timings repeated; 0: no ruler */
    uint64_t (*now_ns)(void); /* the clock */
};

/*
 * Plans a network, which must outlive p; p has setup, methods and peak. Returns 0; -EFBIG if a layer needs more than
 * EXP_PEERS_MAX_GIB; -ENOTSUP if OpenBLAS cannot run; as exp_experiment_plan; why gets one line.
 */
int exp_peers_plan(struct exp_peers *p, const struct exp_model *model, struct exp_why *why);
void exp_peers_close(struct exp_peers *p); /* an unplanned network is fine */

/*
 * Checks every method on every layer, then times the method. An error of a plug-in is a reason in the plug-in's
 * columns. Returns as exp_verify_all and exp_measure_all.
 */
int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why);

/* Adds the seconds of measuring a planned network, for exp_progress. */
void exp_peers_announce(const struct exp_peers *p, const struct exp_peers_options *o, double seconds[EXP_N_WORKS]);

/* ---- measured numbers ---- */

/* Return a layer by a method: the case, without times, and the times. */
const struct exp_case *exp_peers_case(const struct exp_peers *p, size_t layer, size_t m);
const struct exp_measured *exp_peers_measured(const struct exp_peers *p, enum exp_peers_cache c, size_t layer,
                                              size_t m);
struct exp_times exp_peers_times(const struct exp_peers *p, enum exp_peers_cache c, size_t layer, size_t m);

/* Returns the method's speed-up over Base, from the sums over the layers with both times. */
struct exp_ratio exp_peers_speedup(const struct exp_peers *p, enum exp_peers_cache c, size_t m);

/* Returns the phases of a method in a network: the sum over the layers. */
struct exp_phases exp_peers_phases(const struct exp_peers *p, size_t m);

/* Returns why the first layer without a time of the method has none; "": all layers have times. */
const char *exp_peers_why_not(const struct exp_peers *p, enum exp_peers_cache c, size_t m);

/* ---- tables and the closing words (report.c) ---- */

/* Kinds of cores, with targets for each kind. */
enum exp_peers_core {
    EXP_PEERS_CORE_OTHER,
    EXP_PEERS_CORE_AVX2,
    EXP_PEERS_CORE_AVX512_1, /* number of 512-bit multiply-adds started per cycle */
    EXP_PEERS_CORE_AVX512_2,
    EXP_N_PEERS_CORES,
};

/* Returns the kind of core for micro-kernels of an instruction set on this computer; may time the ports. */
enum exp_peers_core exp_peers_core_of(enum cpu_isa isa);

struct exp_peers_report {
    const struct exp_peers_methods *methods;
    enum exp_peers_core core;
    size_t n;
    const struct exp_peers *network; /* [n] */
};

/* Per network (or all, network = r->n) and method; NaN: unknown. Ratios: Base's time over the method's. */
struct exp_peers_total {
    size_t n_layers, n_pointwise;
    struct exp_times times;              /* sums over the layers */
    double network_ratio, geomean_ratio; /* for all networks: geometric means over them */
    double won_percent, pointwise_won_percent, peak_percent;
};

struct exp_peers_total exp_peers_total(const struct exp_peers_report *r, size_t network, enum exp_peers_cache c,
                                       size_t m);

extern const struct rec_table exp_peers_layers_table, exp_peers_samples_table, exp_peers_model_table,
    exp_peers_phases_table, exp_peers_targets_table;

/* Writes all tables into a folder; `what` is the tables' first line. Returns 0 or -errno with one line in why. */
int exp_peers_write(const struct exp_peers_report *r, const struct exp_outdir *dir, const char *what,
                    struct exp_why *why);
void exp_peers_print(const struct exp_peers_report *r, FILE *out);
void exp_peers_print_number(double x, FILE *out); /* in a column; "-": NaN */

/* Describes the rounds of a network: "63 rounds: the ratios no longer changed; quiet: ...". */
void exp_peers_describe_rounds(const struct exp_peers *p, char *text, size_t bytes);

/*
 * Gives the comparison's figures their data, as variables of the scripts:
 *
 *   peer_names, peer_titles, peer_colours   of all methods, in order; titles in quotes
 *   sconv_peers, other_peers                names: of SConvs with phases, and of the remaining methods but Base
 *   peak_gflops, read_gbytes                the roof: means over the networks
 */
void exp_peers_set_variables(const struct exp_peers_report *r, struct exp_variables *v);

/* ---- targets (targets.c) ---- */

/* A target with both SConvs' numbers, beside the paper's numbers for x86 (SConv section 7). */
struct exp_peers_target {
    const char *name, *unit, *core;
    double sconv, tuned;         /* NaN: not available */
    double at_least, aim, paper; /* NaN: no number */
    bool less_is_better;
    bool is_papers; /* a target of SConv as in the paper, not of tuned SConv */
};

enum { EXP_N_PEERS_TARGETS = 12 };

/* Compute the targets from times in a network's caches; the paper's numbers hold for the paper's seven models. */
void exp_peers_targets(const struct exp_peers_report *r, struct exp_peers_target target[EXP_N_PEERS_TARGETS]);
void exp_peers_targets_print(const struct exp_peers_report *r, FILE *out);

/* Says in a sentence the findings of a folder of results. */
void exp_peers_say_found(const char *folder, char *text, size_t bytes);

/* ---- tasks (tasks.c) ---- */

/*
 * The networks to time, as tasks of the results store. A network is one task: the methods take turns on one core. The
 * task's texts are the layers, the way of timing (the setting), the program, and the run: networks finished by an
 * earlier, interrupted run of this number are not timed again; networks of a finished run are timed again.
 */

/* Puts all results of exp_peers_measure, with the reasons of methods that did not run. Errors are the result's own. */
void exp_peers_keep(struct exp_result *to, const struct exp_peers *p);

/* Reads a result back into a planned network. Returns 0, or -EINVAL for a result of another network. */
int exp_peers_recall(const struct exp_result *from, struct exp_peers *p);

struct exp_peers_tasks {
    const struct exp_models *models;
    const struct exp_peers_options *times;
    struct exp_peers of; /* setup, methods, peak of all networks; found: on, core */
    struct exp_progress *progress;
    char *setting, *program;
    struct exp_task *task;          /* [models->n] */
    struct exp_result *kept;        /* [models->n] */
    bool *is_new;                   /* [models->n] timed by this process */
    double (*seconds)[EXP_N_WORKS]; /* [models->n] announced */
    struct exp_peers *network;      /* [models->n] planned; read back */
};

/*
 * Lists the tasks; models, times and `of` are set, and setting describes the timing. Returns 0; as exp_peers_plan;
 * -errno of reading this program; with one line in why. Must be released in any case.
 */
int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why);
void exp_peers_tasks_release(struct exp_peers_tasks *t);

/* Returns the tasks for exp_tasks_run, on one thread; t stays at its address. */
struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t);

/*
 * Reads all networks back; returns 0 or -errno with one line in why. Then prints a line for each network timed by
 * another process: an earlier run, or a cluster's job.
 */
int exp_peers_tasks_recall(struct exp_peers_tasks *t, struct exp_why *why);
void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out);

#endif
