/*
 * Base, SConv and peers side by side over a network: every layer has weights and activations of its own, all of them in
 * memory at once, and is run in network order (sweep), so that weights are as cold as in inference; and again and again
 * (hot).
 */
#ifndef EXPERIMENTS_EXP_PEERS_H
#define EXPERIMENTS_EXP_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/exp_bench.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_progress.h"
#include "experiments/base/exp_stats.h"
#include "experiments/measure/exp_dnnl.h"
#include "experiments/measure/exp_ruler.h"
#include "experiments/peers/exp_peers_methods.h"
#include "experiments/setup/exp_case.h"
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
    uint64_t ruler_ns;        /* how long a ruler (exp_ruler.h) has timings taken again; 0: there is none */
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

#endif
