/* The setup of an experiment: the machine, and the kernels chosen for the machine. All layers and algorithms share it. */
#ifndef EXPERIMENTS_BENCH_CASE_SETUP_H
#define EXPERIMENTS_BENCH_CASE_SETUP_H

#include <stdbool.h>

#include "experiments/base/error.h"
#include "experiments/bench/case/sampled.h"
#include "experiments/bench/case/stack.h"
#include "kernels/blas/blas.h"
#include "kernels/blas/onednn.h"
#include "kernels/emit/layer_plans.h"
#include "kernels/plan/plan.h"
#include "kernels/ukr/f32_openblas.h"
#include "kernels/wisdom/wisdom.h"
#include "sim/machine/machine.h"

/* A plan's code, compiled from text (experiments/emit); filters are packed before if the plan packs filters ahead. */
typedef void (*exp_code_fn)(const float *input, const float *filter, float *packed_filter, float *packed_input,
                            float *output);

/* The compiler of generated code. */
struct exp_coder {
    const char *why; /* NULL: the coder can compile */
    /* Finds the plan's code; compiles the code the first time. Thread-safe. Returns 0 or -errno. */
    int (*find)(struct exp_coder *self, const struct conv_plan *plan, exp_code_fn *code);
};

/* Data shared by all layers of an experiment. */
struct exp_setup {
    struct sim_machine machine;    /* the simulated machine */
    struct sim_machine classified; /* the machine, with classified misses if classifies_misses */
    struct sim_machine alone;      /* the machine's caches alone; the machine if its caches are plain */
    struct csa_caches caches;      /* the machine's caches, as CSA sees them */
    enum conv_type type;           /* of all layers */
    const struct conv_ukr *ukr;    /* SConv's micro-kernel, of this type; may be openblas_ukr's */
    /* Given by the user or the machine; otherwise tuned SConv chooses per layer within ukr's instruction set. */
    bool is_ukr_given;
    const char *ukr_from, *core_from;  /* who chose ukr and core, a clause for exp_algos_describe */
    const struct conv_gemm_core *core; /* the replayed OpenBLAS core; NULL if its blocking is not on record */
    char why_no_core[160];
    struct conv_blas blas; /* the library that runs; handle NULL without a library */
    char why_no_blas[256];
    struct conv_onednn *onednn; /* products of the type, if not f32; NULL: why_no_onednn */
    char why_no_onednn[256];
    struct conv_blas_ukr openblas_ukr; /* the replayed core's micro-kernel */
    char why_no_openblas_ukr[256];     /* why openblas_ukr cannot run */
    const char *stack_path;            /* table of recorded stacks; NULL: of this build's code */
    struct exp_stacks stacks;          /* empty where the machine's file asks for no stacks, or without a table */
    char why_no_stacks[256];           /* why stacks is empty, if not by an error; "" otherwise */
    char why_no_cycles[256];           /* why the simulated core has no clock; "": there is a clock */
    double ran_at_ghz;                 /* the core's clock while cases were timed; 0: see the machine's file */
    struct conv_layer_plans plans;     /* plans of PLAN; exp_setup_release releases plans and wisdom */
    struct conv_wisdom *wisdom;        /* tuned plans found by timing; NULL: none */
    bool measures;                     /* times tuned plans that are not known */
    struct exp_coder *coder;           /* NULL: this program compiles no plans */
    bool packs_filters;                /* SConv packs its filters at run time */
    bool classifies_misses;            /* apart from the machine's file: see replay.h */
    struct exp_sampling sampling;      /* of replays; zeroed: exact */
};

/*
 * Chooses micro-kernel and OpenBLAS core for the machine in s (set before, like type, packs_filters, classifies_misses
 * and stack_path), loads OpenBLAS, fills the rest of s. ukr_name (a micro-kernel, an instruction set known to cpu_isa_find,
 * or "openblas": the OpenBLAS core's micro-kernel) and core_name override the machine's hints; NULL or "": no override.
 * A missing library is no error, only a reason. Returns 0, or -EINVAL with one line in why for an unknown name. s must
 * stay at its address.
 */
int exp_setup_init(struct exp_setup *s, const char *ukr_name, const char *core_name, struct exp_why *why);

/*
 * Lets tuned SConv take plans found by timing (kernels/wisdom/wisdom.h), from the file `path` unless "", and time
 * missing plans if measures is set. Returns 0, or the error of conv_wisdom_start.
 */
int exp_setup_wisdom(struct exp_setup *s, bool measures, const char *path, struct exp_why *why);
void exp_setup_release(struct exp_setup *s);

/* Tells whether SConv's micro-kernel is OpenBLAS's own. */
bool exp_setup_uses_openblas_ukr(const struct exp_setup *s);

/*
 * Returns the replayed OpenBLAS core, or any core when the real core is not on record: the tensors of a baseline run do
 * not depend on the core.
 */
const struct conv_gemm_core *exp_setup_core(const struct exp_setup *s);

#endif
