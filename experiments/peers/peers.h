/*
 * Base, SConv and peers side by side over a network: every layer has weights and activations of its own, all of them in
 * memory at once, and is run in network order (sweep), so that weights are as cold as in inference; and again and again
 * (hot). A method is an algorithm of bench/algos.def, or a plug-in, which runs in a process of its own.
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
#include "experiments/bench/case.h"
#include "experiments/bench/model.h"
#include "experiments/bench/plugin.h"
#include "experiments/bench/ruler.h"
#include "experiments/bench/variables.h"
#include "kernels/ukr/peak.h"

enum { EXP_MAX_PEERS = EXP_MAX_ALGO_RECORDS };

/* Lists the methods in the order of ALGO=. The first is Base, which all are compared with. */
struct exp_peers_methods {
    size_t n;
    const struct exp_algo *algo[EXP_MAX_PEERS]; /* the group stands for what CSA chose of it */
    unsigned algos;                             /* a bit for each algorithm that they need */
};

/*
 * Reads ALGO=; "" are the default ones. Adds the algorithm base_rows. Returns 0, or -EINVAL with one line in why; as
 * exp_plugins_select.
 */
int exp_peers_methods_read(struct exp_peers_methods *m, const char *list, const struct exp_plugin_options *o,
                           struct exp_why *why);
extern const char exp_peers_default_methods[];

/* Finds a method by its name; m->n if there is none. */
size_t exp_peers_method(const struct exp_peers_methods *m, const char *name);

enum exp_peers_cache { EXP_PEERS_SWEEP, EXP_PEERS_HOT, EXP_N_PEERS_CACHES };

const char *exp_peers_cache_name(enum exp_peers_cache c);

struct exp_peers_samples {
    uint64_t *ns;          /* [n] */
    struct exp_mark *mark; /* [n] what the ruler read beside them */
    size_t n;
    struct exp_times times; /* of them, once they are judged; NaN: none */
};

/* One layer by one method. */
struct exp_peers_cell {
    const struct exp_case *c; /* the plan */
    float *packed;            /* filters; NULL: they are not packed ahead */
    char why_not[160];        /* "" = it runs */
    struct exp_peers_samples in[EXP_N_PEERS_CACHES];
    struct exp_phases phases; /* sums over EXP_PEERS_PHASE_ROUNDS sweeps */
};

struct exp_peers_layer {
    float *in, *filter, *out;
    struct exp_peers_cell of[EXP_MAX_PEERS];
};

/* Says what was found beside the times of a network, and where and when. */
struct exp_peers_found {
    char on[192]; /* host and CPU model */
    int core;
    int64_t at;             /* seconds since 1970 */
    char why_no_parts[160]; /* that Base is not run step by step; "": it is */
    struct exp_disturbance disturbance;
    struct exp_ruler_report ruled[EXP_N_PEERS_CACHES]; /* how many timings were taken again */
    struct exp_bench_result sweeps;                    /* how many there were, and why no more */
    double peak_gflops, read_gbytes; /* the most that was sampled between the sweeps; 0 if there is no peak loop */
};

struct exp_peers {
    const struct exp_setup *setup;
    const struct exp_peers_methods *methods;
    const struct conv_peak *peak; /* NULL: none for this CPU */
    struct exp_experiment experiment;
    size_t n_layers;
    struct exp_peers_layer *layer;
    float *scratch[CONV_N_TENSORS]; /* as large as the largest layer wants it */
    struct conv_blas_parts parts;   /* base, step by step */
    struct exp_ruler *ruler;        /* while it is timed; NULL: none */
    struct exp_peers_found found;
    char why_disturbed[EXP_N_PEERS_CACHES][160]; /* "" = its times are the core's own; else it has no times */
    struct exp_ratio speedup[EXP_N_PEERS_CACHES][EXP_MAX_PEERS]; /* over Base: the sums over the layers */
};

enum {
    EXP_PEERS_MAX_GIB = 8,
    EXP_PEERS_PHASE_ROUNDS = 3, /* phases are sums over so many sweeps */
};

struct exp_peers_options {
    struct exp_rounds rounds; /* sweeps */
    unsigned n_hot_reps;      /* 0: no hot times */
    uint64_t ruler_ns;        /* how long a ruler (bench/ruler.h) has timings taken again; 0: there is none */
    uint64_t (*now_ns)(void); /* the clock */
};

/* Says whether a network can be opened, as far as that is known without allocating: as exp_peers_open. */
int exp_peers_check(const struct exp_peers *of, const struct exp_model *model, struct exp_why *why);

/* Plans alone: for what was timed elsewhere. Everything as exp_peers_open, but for what allocating returns. */
int exp_peers_plan(struct exp_peers *p, const struct exp_model *model, struct exp_why *why);

/*
 * Plans and allocates. model must outlive p; setup, methods and peak are already set in p. Returns 0; -EFBIG if the
 * network needs more than EXP_PEERS_MAX_GIB; -ENOMEM; -ENOTSUP if OpenBLAS cannot run; why gets one line.
 */
int exp_peers_open(struct exp_peers *p, const struct exp_model *model, struct exp_why *why);
void exp_peers_close(struct exp_peers *p); /* a half-opened one is fine */

/*
 * Checks every method on every layer: Base against the plain loops (each distinct shape once), the others against Base.
 * Then times sweeps, hot runs and phases. What a plug-in does wrong is its own layer's or its own columns' reason.
 * Returns 0; -EILSEQ for a wrong result; -EINTR; -ENOMEM; -EIO; why gets one line.
 */
int exp_peers_verify(struct exp_peers *p, struct exp_progress *progress, struct exp_why *why);
int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why);

/* Estimates how long timing so many multiply-adds takes on a usual computer: announced as EXP_WORK_ROUNDS. */
double exp_peers_seconds(double macs, const struct exp_peers_methods *methods, const struct exp_peers_options *o);

/* Decides by the ruler whether the times are the core's own, and makes times and speed-ups of the samples. */
void exp_peers_judge(struct exp_peers *p);

const struct conv_problem *exp_peers_problem(const struct exp_peers_layer *l);
double exp_peers_macs(const struct exp_peers *p); /* of the network */

/* Returns a layer's own tensors and the scratch that all layers share. */
struct conv_binding exp_peers_bind(const struct exp_peers *p, const struct exp_peers_layer *l, size_t m);

/* Runs a method that runs here (why_not) and is no plug-in. Returns 0 or -errno. */
int exp_peers_run(const struct exp_peers *p, const struct exp_peers_layer *l, size_t m);

/* Tells whether a method is run step by step, too: Base, or one of ours. */
bool exp_peers_has_phases(const struct exp_peers_methods *methods, size_t m);

/* Returns why a method does not run in the first layer that lacks it; "": it runs in all. */
const char *exp_peers_why_not(const struct exp_peers *p, size_t m);

/* ---- tables and the closing words (report.c) ---- */

/* Kinds of cores, which have targets of their own. */
enum exp_peers_core {
    EXP_PEERS_CORE_OTHER,
    EXP_PEERS_CORE_AVX2,
    EXP_PEERS_CORE_AVX512_1, /* multiply-adds on 512 bits that it starts in a cycle */
    EXP_PEERS_CORE_AVX512_2,
    EXP_N_PEERS_CORES,
};

/* Returns what kind of core runs micro-kernels of that instruction set here; times its ports if that does not say. */
enum exp_peers_core exp_peers_core_of(enum cpu_isa isa);

struct exp_peers_report {
    const struct exp_peers_methods *methods;
    enum exp_peers_core core;
    size_t n;
    const struct exp_peers *network; /* [n], judged; without tensors */
};

/* Per network (or all, network = r->n) and method; NaN where there is nothing. Ratios are Base's time over the
 * method's. */
struct exp_peers_total {
    size_t n_layers, n_pointwise;
    struct exp_times times;              /* sums over the layers */
    double network_ratio, geomean_ratio; /* for all networks: geometric means over them */
    double won_percent, pointwise_won_percent, peak_percent;
};

struct exp_peers_total exp_peers_total(const struct exp_peers_report *r, size_t network, enum exp_peers_cache c,
                                       size_t m);

/* Returns where a method's time goes in a network: the sum over its layers. */
struct exp_phases exp_peers_phases(const struct exp_peers *p, size_t m);

extern const struct rec_table exp_peers_layers_table, exp_peers_samples_table, exp_peers_model_table,
    exp_peers_phases_table, exp_peers_targets_table;

/* Writes all tables into a folder; what is their first line. Returns 0 or -errno with one line in why. */
int exp_peers_write(const struct exp_peers_report *r, const struct exp_outdir *dir, const char *what,
                    struct exp_why *why);
void exp_peers_print(const struct exp_peers_report *r, FILE *out);
void exp_peers_print_number(double x, FILE *out); /* in a column; "-": NaN */

/* Describes the sweeps of a network: "63 sweeps: the ratios stand; quiet: ...". */
void exp_peers_describe_sweeps(const struct exp_peers *p, char *text, size_t bytes);

/*
 * Gives the figures of a comparison what they know, as variables of their scripts:
 *
 *   peer_names, peer_titles, peer_colours   of all methods, in their order; titles in quotes
 *   sconv_peers, other_peers                names: of the SConvs that have phases, and of what else is compared with Base
 *   peak_gflops, read_gbytes                the roof: means over the networks
 */
void exp_peers_set_variables(const struct exp_peers_report *r, struct exp_variables *v);

/* ---- what was to be reached (targets.c) ---- */

/* What both SConvs reached of what was aimed at, beside the paper's numbers for x86 (SConv section 7). */
struct exp_peers_target {
    const char *name, *unit, *core;
    double sconv, tuned;         /* NaN: not available */
    double at_least, aim, paper; /* NaN: no such number */
    bool less_is_better;
    bool is_papers; /* a target of SConv as in the paper, not of tuned SConv */
};

enum { EXP_N_PEERS_TARGETS = 12 };

/* Needs the sweep's times; the paper's numbers hold for its seven models. */
void exp_peers_targets(const struct exp_peers_report *r, struct exp_peers_target target[EXP_N_PEERS_TARGETS]);
void exp_peers_targets_print(const struct exp_peers_report *r, FILE *out);

/* Says in a sentence what a folder of such results found. */
void exp_peers_say_found(const char *folder, char *text, size_t bytes);

/* ---- tasks (tasks.c) ---- */

/*
 * The networks that peers times, as tasks of the results store. A network is one task: its methods take turns on one
 * core. It is decided by its layers, by how it is timed (the setting), by the program, and by the run: networks that an
 * earlier run of the same name got to before it was ended are not timed again, those of a finished run are.
 */

/* Puts all that exp_peers_measure found, and why methods did not run. Errors are the result's own. */
void exp_peers_keep(struct exp_result *to, const struct exp_peers *p);

/* Reads it back into a network that is planned; of one without layers, only what was found beside the times. */
int exp_peers_recall(const struct exp_result *from, struct exp_peers *p); /* 0, or -EINVAL if it is of another one */

struct exp_peers_tasks {
    const struct exp_models *models;
    const struct exp_peers_options *times;
    struct exp_peers of; /* setup, methods, peak of all networks; found: on, core */
    struct exp_progress *progress;
    char *setting, *program;
    struct exp_task *task;     /* [models->n] */
    struct exp_result *kept;   /* [models->n] */
    bool *is_new;              /* [models->n] timed by this process */
    struct exp_peers *network; /* [models->n] read back */
};

/*
 * Lists the tasks; models, times and of are set, and setting says how is timed. Returns 0; as exp_peers_open for what
 * cannot be timed; -errno of reading this program; with one line in why. To be released in any case.
 */
int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why);
void exp_peers_tasks_release(struct exp_peers_tasks *t);

/* The same for exp_tasks_run, on one thread; t stays where it is. */
struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t);

/* Reads all networks back, and judges them. Returns 0 or -errno with one line in why. */
int exp_peers_tasks_recall(struct exp_peers_tasks *t, struct exp_why *why);

/* Prints a line for each network that another process has timed: an earlier run, or a cluster's job. */
void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out);

#endif
