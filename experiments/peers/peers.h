/*
 * Base, SConv and peers side by side over a network: every layer has weights and activations of its own, all of them in
 * memory at once, and is run in network order (sweep), so that weights are as cold as in inference; and again and again
 * (hot).
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
#include "experiments/bench/dnnl.h"
#include "experiments/bench/model.h"
#include "experiments/bench/ruler.h"
#include "experiments/bench/variables.h"
#include "experiments/peers/methods.h"
#include "kernels/ukr/peak.h"

/* The times of one layer by one method. */
struct exp_peer_times {
    uint64_t *sample_ns;   /* [n] */
    struct exp_mark *mark; /* [n] what the ruler read beside them */
    size_t n;
};

/* One of the SConvs, generated or not: EXP_PEER_SCONV and on. */
struct exp_peers_sconv {
    const struct exp_case *c; /* the plan */
    float *packed;            /* filters */
    struct exp_phases phases;
};

struct exp_peers_layer {
    const struct exp_case *base; /* the plan */
    struct exp_phases base_phases;
    struct exp_peers_sconv sconv[EXP_N_PEERS_PLANNED];
    float *in, *filter, *out;
    struct exp_dnnl_conv *conv[EXP_N_PEERS_ONEDNN]; /* by enum exp_dnnl_layout */
    char why_not[EXP_N_PEERS][96];                  /* "" = it runs */
    struct exp_peer_times times[EXP_N_PEERS_CACHES][EXP_N_PEERS];
};

struct exp_peers {
    const struct exp_setup *setup;
    const struct exp_dnnl *dnnl; /* NULL: why_no_dnnl says why */
    const char *why_no_dnnl;
    const struct conv_peak *peak; /* NULL: none for this CPU */
    struct exp_experiment experiment;
    size_t n_layers;
    struct exp_peers_layer *layer;
    float *scratch[CONV_N_TENSORS]; /* as large as the largest layer wants it */
    size_t tensor_bytes;            /* estimate of all memory in use */
    struct conv_blas_parts parts;   /* base, step by step; */
    char why_no_parts[96];          /* "" = they are there */
    struct exp_disturbance disturbance;
    struct exp_ruler *ruler;                           /* while it is timed; NULL: none */
    struct exp_ruler_report ruled[EXP_N_PEERS_CACHES]; /* how many timings were taken again */
    struct exp_bench_result sweeps;                    /* how many there were, and why no more */
    double peak_gflops, read_gbytes; /* the most that was sampled between the sweeps; 0 if there is no peak loop */
};

enum {
    EXP_PEERS_MAX_GIB = 4,
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
 * Plans and allocates. model must outlive p; setup, dnnl, peak and why_no_dnnl are already set in p. Returns 0; -EFBIG
 * if the network needs more than EXP_PEERS_MAX_GIB; -ENOMEM; -ENOTSUP if OpenBLAS or the micro-kernel cannot run; why
 * gets one line.
 */
int exp_peers_open(struct exp_peers *p, const struct exp_model *model, struct exp_why *why);
void exp_peers_close(struct exp_peers *p); /* a half-opened one is fine */

/*
 * Checks every method on every layer: Base against the plain loops (each distinct shape once), the others against Base.
 * Then times sweeps, hot runs and phases. Returns 0; -EILSEQ for a wrong result; -EINTR; -ENOMEM; -EIO; why gets one
 * line.
 */
int exp_peers_verify(struct exp_peers *p, struct exp_progress *progress, struct exp_why *why);
int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why);

/*
 * Estimates what a network of so many multiply-adds takes on a usual computer, by kind of work: announced to
 * exp_progress.
 */
double exp_peers_seconds(enum exp_work work, double macs, const struct exp_peers_options *o);

/* Returns the times of a layer by a method; all NaN if that did not run. */
struct exp_times exp_peers_times(const struct exp_peers_layer *l, enum exp_peers_cache c, enum exp_peer m);

/* Compares a method with Base: the sums over the layers that both ran. */
struct exp_ratio exp_peers_speedup(const struct exp_peers *p, enum exp_peers_cache c, enum exp_peer m);

/* ---- one layer by one method ---- */

/* Returns zeros on pages of their own, to be freed. */
float *exp_peers_allocate(size_t bytes);

const struct conv_problem *exp_peers_problem(const struct exp_peers_layer *l);
const size_t *exp_peers_bytes(const struct exp_peers_layer *l); /* of its tensors, by enum conv_tensor */

/* Returns the layer's own tensors and the scratch that all layers share. */
struct conv_binding exp_peers_bind(const struct exp_peers *p, const struct exp_peers_layer *l,
                                   const float *packed_filter);

/* Runs a method that runs here (why_not). Returns 0 or -errno. */
int exp_peers_run(const struct exp_peers *p, const struct exp_peers_layer *l, enum exp_peer m);

/* ---- tables and the closing words ---- */

/*
 * Writes what a comparison with peers leaves: layers.csv (one row per layer, method and cache state), samples.csv,
 * phases.csv (where Base's and SConv's time goes, per model), model.csv (per model and method, and all models
 * together), and for the figures speedups.csv and speedups_pointwise.csv (each method's speed-ups sorted on their own);
 * figures; the closing table.
 */

/* One layer, when its tensors are gone. */
struct exp_peers_row {
    size_t model;
    bool is_pointwise;
    double flop, intensity;                                  /* flop per byte of input, filter and output, each once */
    struct exp_times times[EXP_N_PEERS_CACHES][EXP_N_PEERS]; /* NaN: not measured */
};

struct exp_peers_model {
    char name[64];
    double peak_gflops, read_gbytes;
    size_t n_rounds[EXP_N_PEERS_CACHES];
    enum exp_end end; /* of the sweeps */
    struct exp_disturbance disturbance;
    struct exp_ruler_report ruled[EXP_N_PEERS_CACHES];
    char why_disturbed[EXP_N_PEERS_CACHES][160]; /* "" = its times are the core's own; else it has no times */
    struct exp_ratio speedup[EXP_N_PEERS_CACHES][EXP_N_PEERS];
    char why_not[EXP_N_PEERS][96]; /* of the first layer that lacks the method; "" = all have it */
    struct exp_phases base, sconv[EXP_N_PEERS_SCONVS];
    char why_no_base_phases[96]; /* "" = they are there */
};

/* Kinds of cores, which have targets of their own. */
enum exp_peers_core {
    EXP_PEERS_CORE_OTHER,
    EXP_PEERS_CORE_AVX2,
    EXP_PEERS_CORE_AVX512_1, /* multiply-adds on 512 bits that it starts in a cycle */
    EXP_PEERS_CORE_AVX512_2,
    EXP_N_PEERS_CORES,
};

struct exp_peers_report {
    enum exp_peers_core core; /* set by the caller after opening */
    const struct exp_outdir *dir;
    struct exp_csv *layers, *samples;
    size_t n_rows, n_models;
    struct exp_peers_row *row;
    struct exp_peers_model *model;
};

/* Opens the files; what is one "# what:" line for each. Returns 0 or -errno with one line in why. */
int exp_peers_report_open(struct exp_peers_report *r, const struct exp_outdir *dir, const char *what,
                          struct exp_why *why);

/* Adds a measured model. Returns 0, or what writing the files failed with. */
int exp_peers_report_add(struct exp_peers_report *r, const struct exp_peers *p, struct exp_why *why);

/* Writes the files about all models and closes them. Returns 0 or -errno with one line in why. */
int exp_peers_report_finish(struct exp_peers_report *r, const char *what, struct exp_why *why);

void exp_peers_report_print(const struct exp_peers_report *r, FILE *out);
void exp_peers_report_release(struct exp_peers_report *r);

/* Per model (or all, model = n_models) and method; NaN where there is nothing. Ratios are Base's time over the
 * method's. */
struct exp_peers_total {
    size_t n_layers, n_pointwise;
    struct exp_times times;              /* sums over the layers */
    double network_ratio, geomean_ratio; /* for all models: geometric means over the models */
    double won_percent, pointwise_won_percent, peak_percent;
};

struct exp_peers_total exp_peers_total(const struct exp_peers_report *r, size_t model, enum exp_peers_cache c,
                                       enum exp_peer m);

/* ---- figures ---- */

/*
 * Gives the figures of a comparison what they know, as variables of their scripts:
 *
 *   peer_names, peer_titles, peer_colours   of all methods, in their order; titles in quotes
 *   sconv_peers, other_peers                names: of the SConvs, and of what else is compared with Base
 *   peak_gflops, read_gbytes                the roof: means over the models
 */
void exp_peers_set_variables(const struct exp_peers_report *r, struct exp_variables *v);

/* ---- the files, and what their modules share ---- */

extern const struct rec_table exp_peers_layers_table, exp_peers_samples_table, exp_peers_model_table,
    exp_peers_phases_table, exp_peers_speedups_table, exp_peers_pointwise_table;

/* Writes a whole file about all models. Returns 0 or -errno with one line in why. */
int exp_peers_write_totals(struct exp_peers_report *r, const char *what, struct exp_why *why);

/* Describes the sweeps of a model: "63 sweeps: the ratios stand; quiet: ...". */
void exp_peers_describe_sweeps(const struct exp_peers_model *m, char *text, size_t bytes);

/* Makes a layer's row. Times of a model that was disturbed are no times. */
struct exp_peers_row exp_peers_make_row(const struct exp_peers_layer *l, size_t model,
                                        const struct exp_peers_model *of);

/* Decides by the ruler whether a model's times are the core's own: fills ruled and why_disturbed. */
void exp_peers_model_judge(struct exp_peers_model *model, const struct exp_peers *p);

/*
 * Prints what both SConvs reached of what was aimed at, beside the paper's numbers for x86 (SConv section 7): a table
 * of a few lines over all models of a comparison.
 */

struct exp_peers_target {
    const char *name, *unit, *core;
    double sconv, tuned;         /* NaN: not available */
    double at_least, aim, paper; /* NaN: no such number */
    bool less_is_better;
    bool is_papers; /* a target of SConv as in the paper, not of tuned SConv */
};

enum { EXP_N_PEERS_TARGETS = 12 };

/* Returns what kind of core runs micro-kernels of that instruction set here; times its ports if that does not say. */
enum exp_peers_core exp_peers_core_of(enum cpu_isa isa);

/* Needs the sweep's times; the paper's numbers hold for its seven models. */
void exp_peers_targets(const struct exp_peers_report *r, struct exp_peers_target target[EXP_N_PEERS_TARGETS]);

void exp_peers_targets_print(const struct exp_peers_report *r, FILE *out);

/* Writes targets.csv into the report's folder. Returns 0 or -errno with one line in why. */
int exp_peers_targets_write(const struct exp_peers_report *r, const char *what, struct exp_why *why);

extern const struct rec_table exp_peers_targets_table;

/* Says in a sentence what a folder of such results found. */
void exp_peers_found(const char *folder, char *text, size_t bytes);

/* ---- tasks ---- */

/*
 * The networks that peers times, as tasks of the results store. A network is one task: its methods take turns in one
 * process, on one core. It is decided by its layers, by how it is timed (the setting), by the program, and by the run:
 * networks that an earlier run of the same name got to before it was ended are not timed again, those of a finished run
 * are.
 */

/* Says where and when a network was timed. */
struct exp_peers_origin {
    char on[192];      /* host and CPU model */
    uint64_t core, at; /* seconds since 1970 */
};

/* Puts all that exp_peers_measure found, and why methods did not run. Errors are the result's own. */
void exp_peers_keep(struct exp_result *to, const struct exp_peers *p, const struct exp_peers_origin *o);

/* Reads it back into a network that is planned. Returns 0, or -EINVAL if it is of another one. */
int exp_peers_recall(const struct exp_result *from, struct exp_peers *p, struct exp_peers_origin *o);

struct exp_peers_tasks {
    const struct exp_models *models;
    const struct exp_peers_options *times;
    struct exp_peers of; /* setup, dnnl, why_no_dnnl and peak of all networks */
    struct exp_peers_origin here;
    struct exp_progress *progress;
    char *setting, *program;
    struct exp_task *task;   /* [models->n] */
    struct exp_result *kept; /* [models->n] */
    bool *is_new;            /* [models->n] timed by this process */
};

/*
 * Lists the tasks; the first five members are set, and setting says how is timed. Returns 0; as exp_peers_open for what
 * cannot be timed; -errno of reading this program; with one line in why. To be released in any case.
 */
int exp_peers_tasks_list(struct exp_peers_tasks *t, const char *setting, struct exp_why *why);
void exp_peers_tasks_release(struct exp_peers_tasks *t);

/* The same for exp_tasks_run, on one thread; t stays where it is. */
struct exp_tasks exp_peers_tasks(struct exp_peers_tasks *t);

/* Reports all networks, in the order of the models. Returns 0 or -errno with one line in why. */
int exp_peers_tasks_report(const struct exp_peers_tasks *t, struct exp_peers_report *r, struct exp_why *why);

/* Prints a line for each network that another process has timed: an earlier run, or a cluster's job. */
void exp_peers_tasks_say_kept(const struct exp_peers_tasks *t, FILE *out);

#endif
