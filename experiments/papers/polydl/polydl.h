/*
 * Layers and their variants, once generated, timed and simulated: rankings are made from these structs, and judged by
 * them.
 *
 * A layer's variants are timed in turns, in the same rounds, so that times compare; on a single thread with a single
 * image, and on two with an image each (PolyDL: 28 images on 28 cores). A replay simulates a single thread's work on a
 * single image, with cold caches.
 */
#ifndef EXPERIMENTS_PAPERS_POLYDL_POLYDL_H
#define EXPERIMENTS_PAPERS_POLYDL_POLYDL_H

#include <stdbool.h>

#include "experiments/base/error.h"
#include "experiments/base/record.h"
#include "experiments/papers/polydl/variants.h"
#include "experiments/bench/model/model.h"
#include "sim/base/stats.h"
#include "sim/machine/machine.h"

/* The simulated parts of the machine: caches alone, or with prefetchers and TLBs, as the file says. */
enum exp_polydl_replay { EXP_POLYDL_ALONE, EXP_POLYDL_WHOLE, EXP_N_POLYDL_REPLAYS };

/* Says how many threads run a variant. */
enum exp_polydl_threads { EXP_POLYDL_ONE, EXP_POLYDL_TWO, EXP_N_POLYDL_THREADS };

/* Returns the number of threads. */
static inline unsigned exp_polydl_n_threads(enum exp_polydl_threads threads)
{
    return threads == EXP_POLYDL_ONE ? 1 : 2;
}

/* Times of some rounds. */
struct exp_polydl_time {
    size_t n_rounds; /* 0: not timed */
    double fastest_ns, median_ns;
    double half_ns[2]; /* the fastest of every second round, from the first and the second round on; 0: not known */
};

struct exp_polydl_simulated {
    bool is_known;
    double share;          /* of the layer's calls: of large layers the first calls are simulated, and counts scaled */
    struct sim_cell total; /* of all tensors */
    double cycles;         /* issue and waiting for loads, as exp_estimate_phases; NaN if the machine does not say */
    double traffic_cycles; /* issue, and every line that moves between levels, either way, by the bandwidth of the outer
                              level (exp_sources_of); NaN likewise */
    double seconds;        /* of the simulation, on a single thread; 0: not known */
};

struct exp_polydl_variant {
    const struct exp_variant *variant;
    struct exp_polydl_time time[EXP_N_POLYDL_THREADS];
    struct exp_polydl_simulated simulated[EXP_N_POLYDL_REPLAYS];
};

/* A layer's variants are compared with these baselines; all run on a single thread and a single image. */
#define EXP_EACH_POLYDL_BASELINE(X)                                                                                    \
    X(EXP_POLYDL_LOOPS, "loops", "the loops of Figure 8 or 16 as the compiler makes them")                             \
    X(EXP_POLYDL_MICRO, "microkernel", "Figure 8's order around the micro-kernel; of a GEMM: tiles of 16")             \
    X(EXP_POLYDL_XSMM, "libxsmm", "the same with LIBXSMM's micro-kernel")                                              \
    X(EXP_POLYDL_ONEDNN, "onednn", "oneDNN, its own layouts")                                                          \
    X(EXP_POLYDL_SCONV, "sconv_tuned", "SConv in the tilings of this project")                                         \
    X(EXP_POLYDL_BASE, "base", "im2col and OpenBLAS; of a GEMM: OpenBLAS")

#define EXP_POLYDL_BASELINE_NUMBER(number, name, meaning) number,
enum exp_polydl_baseline { EXP_EACH_POLYDL_BASELINE(EXP_POLYDL_BASELINE_NUMBER) EXP_N_POLYDL_BASELINES };
#undef EXP_POLYDL_BASELINE_NUMBER

extern const char *const exp_polydl_baseline_names[EXP_N_POLYDL_BASELINES];

struct exp_polydl_layer {
    const char *model, *name;
    struct exp_variant_source source; /* with a single image */
    const struct conv_problem *shape; /* the convolution; a GEMM has K channels, N filters and M windows, 1x1 */
    double flops;                     /* two per multiply-add, of a single image */
    char why[160];                    /* why there are no variants; "": there are */
    struct exp_variants variants;
    struct exp_polydl_variant *of; /* [variants.n] times and counts of each variant */
    struct exp_polydl_time baseline[EXP_N_POLYDL_BASELINES];
};

/* Returns the operations of all threads: each thread has an image of its own, but threads share the work of a GEMM. */
static inline double exp_polydl_flops(const struct exp_polydl_layer *l, enum exp_polydl_threads threads)
{
    return l->source.problem ? l->flops * exp_polydl_n_threads(threads) : l->flops;
}

struct exp_polydl {
    const struct sim_machine *machine;
    struct exp_polydl_layer *layer; /* model by model */
    size_t n_layers;
};

size_t exp_polydl_n_variants(const struct exp_polydl *p); /* of all layers */

/* ---- layers and variants, before times and counts ---- */

/*
 * Reads the models of a comma-separated list: models of PolyDL's evaluation, "all" for the ten models, "gemm" for
 * PolyDL's Table 1, or names for exp_model_find. Keeps the layers that match patterns. Returns as exp_models_read.
 */
int exp_polydl_models(struct exp_models *m, const char *list, const char *patterns, struct exp_why *why);

/*
 * Generates the variants of all layers (exp_variants_make). A layer without variants has the reason. Models and machine
 * must outlive p. Returns 0, or -EINVAL with a line in why for impossible variants, or if no layer has any.
 */
int exp_polydl_plan(struct exp_polydl *p, const struct exp_models *m, const struct sim_machine *machine,
                    const char *variants, struct exp_why *why);
void exp_polydl_release(struct exp_polydl *p); /* half-planned is fine */

#endif
