/*
 * A ruler beside each timing: four short loops of known length, before and after the timing. A neighbour on the core's
 * second hardware thread shows in no statistic of a virtual machine, but in the ruler.
 *
 *     clock   divisions, each waiting for the one before: they take cycles, and share little with a neighbour
 *     fma     independent multiply-adds on registers: they need the core's units that kernels need
 *     ghz     dependent additions, each of a cycle: the core's clock, which turns times into cycles; never compared
 *     loads   reading EXP_RULER_BYTES again and again: they need the load ports and the core's own caches
 *
 * A reading of a loop is the best of EXP_RULER_PIECES pieces of about 5 us, so that an interrupt does no harm; pieces
 * of clock and fma alternate, so that a frequency that falls when wide vectors begin falls for both. The reading of a
 * timing is the worse reading of before and after. A disturbed timing is repeated, at most EXP_RULER_MOST_AGAIN times.
 * `loads` changes the contents of the caches, so it runs before the preparation of a timing and after the end. `clock`
 * and `fma` touch no memory, so they run directly beside the timing.
 *
 * The comparison. The frequency of a core wanders, by 30 % in minutes on some machines; all loops and the timing wander
 * with the frequency. So a loop counts as slow only if slower than the best of the run by more than
 * EXP_RULER_MOST_PERCENT both in ns and in units of `clock`: slow in ns alone means a lower frequency, slow in units of
 * `clock` alone means a `clock` that was quick for once. The pairing handles the frequency: the contenders of a round
 * follow each other within seconds, and speed-ups are ratios of their times. (Measured on a virtual machine with
 * neighbours: without a neighbour fma / clock stayed within 0.2 % at frequencies 10 % apart; with a neighbour the ratio
 * was 1.1 to 1.8 times as large, while steal time was 0.) The best is the lowest value with a cluster of
 * EXP_RULER_GATHERED_PERCENT of the readings: odd readings are scattered.
 *
 * The ruler cannot see a neighbour that comes and goes within one timing, or a neighbour that stays as long as the run.
 *
 *     err = exp_ruler_new(&ruler, peak);                       on the thread that measures
 *     exp_ruler_limit(ruler, limit_ns);                        from now on; no timing is repeated afterwards
 *     watch = exp_ruler_watch(ruler);
 *     exp_bench_run(&(struct exp_bench){ ..., .watch = &watch, .mark = mark }, ...);
 *     exp_ruler_report_add(&report, &ruler->best, mark, n);    once for everything that was timed
 *     if (!exp_ruler_is_measured(&report)) ...
 *
 * A caller without marks uses ruler->kept, which counts as the timings go by. The functions on readings
 * (exp_ruler_best_add and later functions) read no clock.
 */
#ifndef EXPERIMENTS_BENCH_TIME_RULER_H
#define EXPERIMENTS_BENCH_TIME_RULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/base/stats.h"
#include "kernels/ukr/peak.h"

enum {
    EXP_RULER_PIECES = 4,
    EXP_RULER_BYTES = 128 << 10,
    EXP_RULER_MOST_PERCENT = 3,
    EXP_RULER_GATHERED_PERCENT = 2,
    EXP_RULER_MOST_AGAIN = 8,         /* repetitions of one timing */
    EXP_RULER_WAIT_MS = 100,          /* wait for a quiet moment before each repetition */
    EXP_RULER_MOST_LOST_PERCENT = 10, /* of the timed things may have too few undisturbed rounds */
    EXP_RULER_BINS = 4096,
};

/* The scales of the comparison. */
enum exp_ruler_scale {
    EXP_RULER_FMA,
    EXP_RULER_FMA_CYCLES,
    EXP_RULER_LOADS,
    EXP_RULER_LOADS_CYCLES,
    EXP_N_RULER_SCALES
};

/*
 * Histograms of all readings, in bins of half a per cent. Readings of loads count only beside a good reading of fma: a
 * neighbour that slows the clock makes loads look fast.
 */
struct exp_ruler_best {
    uint32_t n[EXP_N_RULER_SCALES];
    uint32_t bin[EXP_N_RULER_SCALES][EXP_RULER_BINS];
};

/* Quality of a measurement. A timed thing (a layer by an algorithm) has a timing in each round. */
struct exp_ruler_report {
    size_t n_timings, n_again, n_disturbed; /* timings; repeated timings; timings disturbed and still kept */
    size_t n_things, n_lost;                /* things; things with less than half of the rounds undisturbed */
    bool limit_ended;                       /* the time limit prevented repetitions */
};

struct exp_ruler {
    const struct conv_peak *peak; /* NULL: portable loops */
    float *data;                  /* EXP_RULER_BYTES */
    struct exp_ruler_best best;
    struct exp_ruler_report kept; /* of all turns that exp_bench kept, each judged at its time */
    uint64_t until_ns;            /* by ctr_now_ns */
    struct exp_mark before;
    volatile float sink;
};

/*
 * Makes a ruler for the calling thread. peak may be NULL. Returns 0 or -ENOMEM. *r is NULL, "no ruler" for all
 * functions, if an emulator gives the times.
 */
typedef int exp_ruler_maker(struct exp_ruler **r, const struct conv_peak *peak);
exp_ruler_maker exp_ruler_new;
void exp_ruler_free(struct exp_ruler *r);

/* Returns the watch for exp_bench; r must stay at its address. Without a ruler use no watch. */
struct exp_watch exp_ruler_watch(struct exp_ruler *r);

/* Read fma, or loads, each with a clock; without a ruler, nothing. For timing without exp_bench. */
void exp_ruler_read_core(struct exp_ruler *r, struct exp_mark *m);
void exp_ruler_read_loads(struct exp_ruler *r, struct exp_mark *m);

/* Ends all repetitions after limit_ns from now. */
void exp_ruler_limit(struct exp_ruler *r, uint64_t limit_ns);

/*
 * Tells whether a disturbed timing may be repeated, after n_again repetitions; waits for a quiet moment before
 * returning true.
 */
bool exp_ruler_goes_on(struct exp_ruler *r, unsigned n_again);

/* ---- decisions ---- */

/* Returns the worse half of two readings, for each half: the reading with more units of its clock; the mean GHz. */
struct exp_mark exp_ruler_worse(struct exp_mark a, struct exp_mark b);

/* Adds a reading to the histograms; a reading of all 0 is no reading. */
void exp_ruler_best_add(struct exp_ruler_best *b, const struct exp_mark *m);

/*
 * Returns by how many per cent a reading is off, the worse of both halves; 0 up to EXP_RULER_MOST_PERCENT, and without
 * readings.
 */
double exp_ruler_off(const struct exp_ruler_best *b, const struct exp_mark *m);

/*
 * Returns by how much a ruler was slower than its best, as a share, beside the fastest quarter of n >= 1 timings: the mean
 * of exp_ruler_off, weighted by the times; 0: undisturbed. A neighbour that slows the ruler also slows a timing, by an
 * unknown share; exp_pair.slowed (base/stats.h) widens intervals for the error.
 */
double exp_ruler_slowed(const struct exp_ruler_best *b, const uint64_t *sample_ns, const struct exp_mark *mark,
                        size_t n);

/* Adds the marks of one thing timed in n >= 1 rounds. */
void exp_ruler_report_add(struct exp_ruler_report *r, const struct exp_ruler_best *b, const struct exp_mark *mark,
                          size_t n);
void exp_ruler_report_sum(struct exp_ruler_report *sum, const struct exp_ruler_report *x);

/*
 * Tells whether the times are the core's own. A time is the mean of the fastest quarter of the rounds, and at least
 * half of the rounds must be undisturbed: with a quarter, four sweeps gave tuned over Base 1.12 where quiet sweeps give
 * 1.14 to 1.16. EXP_RULER_MOST_LOST_PERCENT of the timed things may have fewer.
 */
bool exp_ruler_is_measured(const struct exp_ruler_report *r);

/*
 * Says the quality: "12 of 200 timings were taken again; 3 were disturbed and kept because the limit ended". No commas.
 */
void exp_ruler_say(const struct exp_ruler_report *r, char *text, size_t bytes);

/*
 * Disturbances of a measurement, as reported by the system: time taken by the hypervisor (steal), time in which the
 * measuring thread was ready and did not run, involuntary context switches, moves to another core, the core's FMA peak
 * before and after, and the distance of medians from the fastest rounds.
 *
 *     exp_disturbance_begin(&d, "/proc", peak);     on the thread that measures
 *     ...
 *     exp_disturbance_end(&d, "/proc", peak);
 *     d.median_percent = ...
 */

/* NaN: the system does not report the value, or nobody asked. */
struct exp_disturbance {
    double steal_percent;           /* of the time of all CPUs (/proc/stat) */
    double waited_percent;          /* of the time, ready but not running (/proc/thread-self/schedstat) */
    double switches;                /* involuntary (getrusage) */
    double migrations;              /* (/proc/thread-self/sched) */
    double peak_before, peak_after; /* GFLOP/s of the thread's own time */
    double median_percent;          /* of medians over the fastest rounds; set by the measurement */
    struct exp_disturbance_start {  /* readings at the beginning */
        double steal, cpu_time, waited, switches, migrations;
        uint64_t wall_ns;
    } start;
};

/* Starts to watch. proc is where the system's tables are; peak may be NULL. */
void exp_disturbance_begin(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak);
void exp_disturbance_end(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak);

/* Samples the bandwidth of reading memory, in GB/s; 0 without a loop. */
double exp_sample_read(const struct conv_peak *peak);

/* Says all known values in one line, beginning with "disturbed" or "quiet". */
void exp_disturbance_describe(const struct exp_disturbance *d, char *text, size_t bytes);

/* Tells whether a value is beyond the values of a quiet machine. */
bool exp_disturbance_is_large(const struct exp_disturbance *d);

#endif
