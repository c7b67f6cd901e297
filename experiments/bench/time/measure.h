/*
 * Runs the algorithms of an experiment on this computer: checks results first, then takes times and counts.
 *
 * Protocol. One thread, pinned to one core. Every algorithm has its own tensors for each layer, laid out as in the
 * replay. The algorithms take turns, round by round, after an untimed round. A pass over the model gives each layer a
 * few rounds, so the rounds of a layer lie seconds apart. Passes end when every algorithm's speed-up over the model is
 * stable (base/stats.h), the number of rounds reaches its limit, or the time limit is over.
 *
 * Cold (the default): before each run, all data of the run are removed from the caches (exp_cold), as in the replay.
 * Network: as cold, but then the input is written, as the layer before would do. Warm: one untimed run of the algorithm
 * directly before each timed run. Between the two, one line in 16 of the input gets new values and of the output NaN,
 * because a run must not find its result (plugin.h).
 *
 * Counters, where the machine has any, count separate runs, so that reading counters costs no time in the samples. The
 * clocks that separate packing from micro-kernels also have a separate run, step by step; the run is repeated at most
 * twice while it takes much longer than the samples. A ruler (ruler.h) stands beside each timing; a disturbed timing is
 * repeated until the time limit is over. Where the ruler stays slow beside the fastest rounds, intervals of speed-ups are
 * wider (exp_measured.slowed). If too many timings stay disturbed, exp_measure_info.busy tells how many; without rounds
 * enough for an interval, or without keeps_disturbed, no timing counts: exp_measured.why is set.
 */
#ifndef EXPERIMENTS_BENCH_TIME_MEASURE_H
#define EXPERIMENTS_BENCH_TIME_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/stats.h"
#include "experiments/base/error.h"
#include "experiments/base/progress.h"
#include "experiments/bench/time/cold.h"
#include "experiments/bench/time/ruler.h"
#include "experiments/bench/case/algo.h"
#include "experiments/bench/case/case.h"

struct exp_measure_options {
    struct exp_rounds rounds; /* of every layer */
    unsigned n_threads;       /* for the verification */
    bool plugins_only;        /* only plug-ins are verified */
    enum exp_cache_state cache;
    uint64_t ruler_ns;                          /* how long a ruler (ruler.h) has timings repeated; 0: no ruler */
    exp_ruler_maker *new_ruler;                 /* NULL: exp_ruler_new */
    bool keeps_disturbed;                       /* times of a busy computer count, with wider intervals */
    uint64_t (*now_ns)(void);                   /* the clock of the samples */
    const char *groups_dir;                     /* counters/groups */
    const struct ctr_source *source;            /* of the hardware counts; NULL: this computer's counters */
    void (*passed)(void *ctx, size_t n_rounds); /* called after each pass over the model; NULL: not */
    void *ctx;
    const char *uarch; /* the folder of the event groups; NULL: this computer's */
};

/* The counters of a group of events, or the reason why nothing counted. */
struct exp_measure_source {
    char name[96]; /* "perf_event clx/CACHE", or "" */
    char why[400];
};

/*
 * The instruments and conditions of a measurement, filled by exp_measure_all. A reason is "" if there is nothing to
 * explain.
 */
struct exp_measure_info {
    int core; /* the pinned core, -1 if pinning failed */
    char why_not_pinned[200];
    struct exp_measure_source hardware, common, software; /* common: of the common quantities */
    char counter_note[320];                               /* counters that do not count; "": all count */
    char why_not_counted[EXP_N_COUNTS][256];              /* in spite of counters */
    struct exp_why why_no_base_steps;
    size_t n_rounds;   /* of the layer with the fewest; 0: nothing was timed */
    enum exp_end end;  /* why the rounds ended */
    double ran_at_ghz; /* the core's clock, the faster of before and after; 0: not known */
    struct exp_disturbance disturbance;
    struct exp_ruler_report ruler; /* how many timings were repeated */
    char why_disturbed[160];       /* why no time counts; "": times count */
    char busy[160];                /* "on a busy computer: 161 of 520 timings ..."; "": quiet, or no time counts */
    char emptied[96];              /* how the caches were emptied; "" when warm */
};

/*
 * Verifies all cases against the naive convolution (every output element, exactly, on integer-valued tensors), distinct
 * shapes once and in parallel. Returns 0; -EILSEQ with one line that names layer, algorithm and element; -EINTR;
 * -ENOMEM.
 */
int exp_verify_all(struct exp_experiment *e, const struct exp_measure_options *o, struct exp_progress *progress,
                   struct exp_why *why);

/*
 * Refuses a plug-in's case. The reason gets the layer's name, unless the plug-in itself refuses the shape. If the
 * plug-in is wrong (EXP_PLUGIN_IS_WRONG), exp_experiment_condemn later refuses all its cases, once no thread works on
 * the cases.
 */
void exp_case_refuse(struct exp_case *c, const char *reason, enum exp_plugin_fault fault);
void exp_experiment_condemn(const struct exp_experiment *e);

/* Times and counts all cases that run here; call it after exp_verify_all. Returns 0, -EINTR, -ENOMEM, -errno. */
int exp_measure_all(struct exp_experiment *e, const struct exp_measure_options *o, struct exp_measure_info *info,
                    struct exp_progress *progress, struct exp_why *why);

/* Says how the timing went: "63 rounds: the ratios no longer changed; 2 of 90 timings were ...; quiet: ...". */
void exp_measure_say_rounds(const struct exp_measure_info *info, char *text, size_t bytes);

/* Tells whether the source's counters open and are proven: whether exp_measure_all would count. */
bool exp_measure_counts(const struct exp_measure_options *o);

/* Estimate the seconds of verifying a layer, and of rounds of all its cases, on a usual computer, for exp_progress. */
double exp_verify_seconds(const struct exp_case *first, size_t n_algos, unsigned n_threads);
double exp_measure_seconds(const struct exp_case *first, size_t n_algos, size_t n_rounds);

#endif
