/*
 * Observed streams: layers run under emulation, every memory access watched and simulated as it happens, and held
 * against the replay of the same plan.
 *
 * What is emulated is a small program (main_guest.c) with the project's kernels and OpenBLAS's, built for the CPU
 * family of the simulated machine's micro-kernel: POWER10 by qemu-ppc64le, x86 with AVX2 by qemu-x86_64 (QEMU has no
 * AVX-512: a machine whose micro-kernel needs it is observed with the AVX2 one, and OpenBLAS's Haswell kernels, on the
 * same simulated caches). The replay beside it is of the very same plan, with the buffers where the program had them:
 * what differs is the stream, not the place. So replayed numbers may differ from those of layers.csv by what alignment
 * does.
 *
 * Observations are kept in RESULTS/.observed/, by everything that they depend on (programs, machine, shape, plan): a
 * second run, or another model with the same layer, finds them there.
 */
#ifndef EXPERIMENTS_EXP_OBSERVE_H
#define EXPERIMENTS_EXP_OBSERVE_H

#include "counters/observe/obs_result.h"
#include "experiments/setup/exp_case.h"
#include "experiments/setup/exp_options.h"
#include "experiments/base/exp_progress.h"

/* A way to run programs of a CPU family. */
struct exp_emulator {
    const char *arch;    /* of the guest program */
    const char *program; /* the emulator, and its CPU model */
    const char *cpu;
    enum cpu_isa isa;     /* the widest that it emulates */
    const char *ukr;      /* what is observed if the machine's own micro-kernel needs more, or is another family's */
    const char *core;     /* OpenBLAS's kernels on that CPU model */
    const char *coretype; /* what OPENBLAS_CORETYPE must be for that; NULL: nothing */
};

/* The emulator for a machine's micro-kernel, or NULL if there is none. */
const struct exp_emulator *exp_emulator_for(const struct conv_ukr *ukr);

/*
 * Whether to observe kernels of a micro-kernel's family. By itself (EXP_OBSERVE_AUTO) an experiment observes where no
 * counters of this computer count the machine, and only what it can: vector kernels of x86, on x86, and of POWER10.
 */
bool exp_observe_is_wanted(enum exp_observe_mode mode, const struct conv_ukr *ukr, bool is_counted);

/* One run of the guest program under observation. */
struct exp_guest_run {
    const struct exp_emulator *emulator;
    const char *observer, *guest; /* paths */
    const char *machine_path;     /* file of the simulated machine */
    const char *out;              /* gets the result (obs_result.h) */
    const char *trace;            /* gets every access to a tensor, as a binary trace; NULL: none */
    const struct conv_problem *problem;
    const char *algo, *ukr;
    bool packs_filters;
    bool verifies; /* the guest checks its output against plain loops: slow */
    unsigned limit_s;
};

/* Returns 0, or with one line in why -ENOENT for a missing emulator, -ETIMEDOUT, -EIO for a failed run, -ENOMEM;
 * -EINTR. */
int exp_guest_run(const struct exp_guest_run *run, char *why, size_t why_bytes);

struct exp_observation {
    char why_not[256]; /* "": observed */
    size_t same_as;    /* the case whose observation this shares; its own index if it was observed itself */
    bool was_kept;     /* found in RESULTS/.observed */
    bool is_left_out;  /* the time was over */
    struct obs_result *seen;
    struct sim_stats *replayed;
};

struct exp_observe_options {
    const char *observer; /* paths of the plugin and the guest program */
    const char *guest;
    const char *why_missing; /* why they could not be built; "" if they could */
    const char *results;     /* folder of all results */
    unsigned n_threads;
    unsigned limit_s; /* of EXP_OBSERVE_AUTO, but kept observations are always used */
};

struct exp_observed {
    const struct exp_emulator *emulator;
    struct exp_setup setup; /* the observed one: the experiment's machine, the emulator's kernels */
    struct exp_experiment experiment;
    struct exp_observation *observation; /* [experiment.n_cases]; NULL: nothing is observed */
    enum exp_observe_mode mode;
    const struct conv_ukr *unobserved_ukr; /* the machine's own, if another one is observed in its place; NULL */
    unsigned limit_s;                      /* 0: none */
    double spent_s;
};

/*
 * Plans what is to be observed; nothing for EXP_OBSERVE_NONE. setup and model outlive o. Returns 0, -ENOMEM or
 * -EOVERFLOW with one line in why.
 */
int exp_observe_plan(struct exp_observed *o, const struct exp_setup *setup, const struct exp_model *model,
                     unsigned algos, enum exp_observe_mode mode, char *why, size_t why_bytes);

/* What observing takes on a usual computer: announced to exp_progress. */
double exp_observe_seconds(const struct exp_observed *o, unsigned n_threads);

/* How many distinct shapes were to be observed (with EXP_OBSERVE_ALL: layers), and how many were, by every algorithm. */
size_t exp_observe_count(const struct exp_observed *o, size_t *n_observed);

/*
 * Observes, small layers first. A case that fails says so in why_not and, once each, through progress; the others go on. Returns 0, or
 * with one line in why -EINTR, -ENOMEM, or -errno of writing to RESULTS/.observed.
 */
int exp_observe_all(struct exp_observed *o, const struct exp_observe_options *options, struct exp_progress *progress,
                    char *why, size_t why_bytes);

void exp_observe_release(struct exp_observed *o); /* one that is all zeros is fine */

#endif
