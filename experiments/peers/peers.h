/*
 * Base, SConv and the libraries of kernels/plugin side by side, over whole networks: experiments (bench/case/case.h)
 * whose cases are timed in two states of the caches, and are not replayed. A method is an algorithm of
 * bench/case/algos.def or a plug-in; with both schedules of SConv, the group is the method: CSA's choice in each layer.
 */
#ifndef EXPERIMENTS_PEERS_PEERS_H
#define EXPERIMENTS_PEERS_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/base/record.h"
#include "experiments/base/screen.h"
#include "experiments/bench/case/case.h"
#include "experiments/bench/time/measure.h"
#include "experiments/bench/measure/measure.h"

/* The caches at the start of each layer: EXP_NETWORK, EXP_WARM. */
enum exp_peers_cache { EXP_PEERS_NETWORK, EXP_PEERS_WARM, EXP_N_PEERS_CACHES };

enum { EXP_PEERS_MAX_GIB = 8 /* of the tensors of a layer, by all methods */, EXP_PEERS_N_PARTS = 4 };

/* A layer by a method in one state of the caches: a row of layers.csv. */
struct exp_peers_row {
    const char *model, *method, *cache, *layer;
    size_t layer_index;
    bool is_pointwise;
    double flop_per_byte;
    struct value of[N_MEASURES], peak_percent;
    char plan[EXP_PLAN_TEXT_BYTES];
    struct exp_measured times; /* the row owns the samples and marks */
};

/* A network by a method in one state of the caches: a row of model.csv; of methods with phases, of phases.csv, too. */
struct exp_peers_total {
    const char *model, *method, *cache, *end, *why_no_rounds;
    const char *why_not_all; /* the first reason why a layer has no times; NULL */
    bool has_phases;
    size_t number, n_layers, n_pointwise, n_rounds;
    struct value of[N_MEASURES]; /* over the layers with times of the method and of Base */
    struct value layers_speedup, won_percent, pointwise_won_percent, peak_percent, peak_gflops, read_gbytes,
        part_percent[EXP_PEERS_N_PARTS], steps_to_call;
};

struct exp_peers {
    const struct exp_setup *setup;
    const struct exp_models *models;
    unsigned algos; /* a bit for each algorithm and plug-in (exp_algo_bit) */
    size_t n_methods, n_networks, n_rows, n_totals;
    const struct exp_algo *method[EXP_MAX_ALGO_RECORDS]; /* Base is the first */
    double (*seconds)[EXP_N_PEERS_CACHES];               /* [models->n] announced, of rounds */
    struct exp_measure_info (*info)[EXP_N_PEERS_CACHES]; /* [models->n] filled for n_networks; zero: not timed */
    struct exp_peers_row *row;                           /* by network, state of the caches, layer and method */
    struct exp_peers_total *total; /* by network, state of the caches and method; at last of all networks together */
};

struct exp_peers_options {
    struct exp_measure_options times; /* in a network's caches */
    size_t n_warm_rounds;             /* 0: no times in warm caches */
};

/* Finds the methods of `algos` and prepares for models. Returns 0, or -EINVAL with one line in why: Base is missing. */
int exp_peers_init(struct exp_peers *p, const struct exp_setup *setup, const struct exp_models *models, unsigned algos,
                   struct exp_why *why);
void exp_peers_release(struct exp_peers *p);

/*
 * Checks a network before any work, and adds the seconds of measuring the network. Returns 0; -EFBIG if a layer needs
 * more than EXP_PEERS_MAX_GIB; -ENOTSUP if OpenBLAS cannot run; as exp_experiment_plan; with one line in why.
 */
int exp_peers_announce(struct exp_peers *p, size_t network, const struct exp_peers_options *o,
                       double seconds[EXP_N_WORKS], struct exp_why *why);

/*
 * Checks every method on every layer of the next network, then times the methods, and appends rows and totals. An error
 * of a plug-in is a reason in the plug-in's columns. Returns as exp_verify_all and exp_measure_all.
 */
int exp_peers_measure(struct exp_peers *p, const struct exp_peers_options *o, struct exp_progress *progress,
                      struct exp_why *why);

/* ---- rows, totals, tables and closing words (report.c) ---- */

/* Appends the rows of the next network in one state of the caches. The rows take over the samples of the cases. */
void exp_peers_add_rows(struct exp_peers *p, struct exp_experiment *e, enum exp_peers_cache c);

/*
 * Appends the totals of the next network, whose rows begin at `first`; or of all networks, if none is left. Peak and
 * bandwidth were sampled beside the rounds; 0: there is no loop for this CPU.
 */
void exp_peers_sum_up(struct exp_peers *p, size_t first, double peak_gflops, double read_gbytes);

/* Returns the total of a network, or of all networks (network = n_networks). */
const struct exp_peers_total *exp_peers_total(const struct exp_peers *p, size_t network, enum exp_peers_cache c,
                                              size_t method);

extern const struct rec_table exp_peers_layers_table, exp_peers_samples_table, exp_peers_model_table,
    exp_peers_phases_table;

/* Writes all tables into a folder; `what` is the tables' first line. Returns 0 or -errno with one line in why. */
int exp_peers_write(const struct exp_peers *p, const struct exp_outdir *dir, const char *what, struct exp_why *why);
void exp_peers_print(const struct exp_peers *p, FILE *out);

/* Fills the screen except title and last lines. */
void exp_peers_screen(const struct exp_peers *p, struct exp_screen *s);

/* Says the speed-ups of all methods in a sentence: verdict.txt. Returns 0. */
int exp_peers_answer(const struct exp_peers *p, FILE *out);

#endif
