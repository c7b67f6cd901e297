/*
 * Writes what a comparison with peers leaves: layers.csv (one row per layer, method and cache state), samples.csv,
 * phases.csv (where Base's and SConv's time goes, per model), model.csv (per model and method, and all models
 * together), and for the figures speedups.csv and speedups_pointwise.csv (each method's speed-ups sorted on their own);
 * figures; the closing table.
 */
#ifndef EXPERIMENTS_EXP_PEERS_REPORT_H
#define EXPERIMENTS_EXP_PEERS_REPORT_H

#include "experiments/base/exp_csv.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_outdir.h"
#include "experiments/base/exp_plot.h"
#include "experiments/peers/exp_peers.h"
#include "experiments/record/record.h"

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

/* Kinds of cores, which have targets of their own (exp_peers_targets.h). */
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

/* Adds a measured model. Returns 0, -ENOMEM, or what writing the files failed with. */
int exp_peers_report_add(struct exp_peers_report *r, const struct exp_peers *p, struct exp_why *why);

/* Writes the files about all models and closes them. Returns 0 or -errno with one line in why. */
int exp_peers_report_finish(struct exp_peers_report *r, const char *what, struct exp_why *why);

void exp_peers_report_print(const struct exp_peers_report *r, FILE *out);
void exp_peers_report_release(struct exp_peers_report *r);

/* Prints what the columns of the files mean, in Markdown. */
void exp_peers_report_document(FILE *out);

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

enum { EXP_N_PEERS_VARIABLES = 7 };

/*
 * Gives the figures of a comparison what they know, as variables of their scripts:
 *
 *   peer_names, peer_titles, peer_colours   of all methods, in their order; titles in quotes
 *   sconv_peers, other_peers                names: of the SConvs, and of what else is compared with Base
 *   peak_gflops, read_gbytes                the roof: means over the models
 *
 * The variables point into text: must stay where it is.
 */
struct exp_peers_plot {
    char text[EXP_N_PEERS_VARIABLES][EXP_N_PEERS * 64];
    struct exp_plot_variable variable[EXP_N_PEERS_VARIABLES];
};

void exp_peers_plot_init(struct exp_peers_plot *p, const struct exp_peers_report *r);

/* ---- the files, and what their modules share ---- */

extern const struct rec_table exp_peers_layers_table, exp_peers_samples_table, exp_peers_model_table,
    exp_peers_phases_table, exp_peers_speedups_table, exp_peers_pointwise_table;

/* Writes the rows of one layer, method and state of the caches to layers.csv and samples.csv, which are open. */
void exp_peers_put_layer(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                         const struct exp_peers_row *row, enum exp_peers_cache c, enum exp_peer m);
void exp_peers_put_samples(struct exp_peers_report *r, const struct exp_peers *p, const struct exp_peers_layer *l,
                           enum exp_peers_cache c, enum exp_peer m);

/* Write a whole file about all models. Return 0 or -errno with one line in why. */
int exp_peers_write_totals(struct exp_peers_report *r, const char *what, struct exp_why *why);
int exp_peers_write_phases(struct exp_peers_report *r, const char *what, struct exp_why *why);
int exp_peers_write_curves(struct exp_peers_report *r, bool only_pointwise, const char *what, struct exp_why *why);

/* Describes the sweeps of a model: "63 sweeps: the ratios stand; quiet: ...". */
void exp_peers_describe_sweeps(const struct exp_peers_model *m, char *text, size_t bytes);

/* Makes a layer's row. Times of a model that was disturbed are no times. */
struct exp_peers_row exp_peers_make_row(const struct exp_peers_layer *l, size_t model,
                                        const struct exp_peers_model *of);

/* Decides by the ruler whether a model's times are the core's own: fills ruled and why_disturbed. */
void exp_peers_model_judge(struct exp_peers_model *model, const struct exp_peers *p);

double exp_peers_percent(uint64_t part, uint64_t whole);

/*
 * Returns how long Base's calls took in as many sweeps as phases were summed over, in ns. The time of Base's steps is
 * compared with that. These are medians, as phases have no rounds to choose from.
 */
double exp_peers_base_calls_ns(const struct exp_peers_report *r, size_t model);

#endif
