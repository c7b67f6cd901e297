/*
 * A ruler beside each timing: three short loops whose time is known to be the core's alone, before the timing and after
 * it. A neighbour on the core's other hardware thread shows in no statistic of a virtual machine; it shows here.
 *
 *     clock   divisions, each of which waits for the one before: they take cycles, and little of what a neighbour wants
 *     fma     independent multiply-adds on registers: they want what the kernels want of the core
 *     loads   reading EXP_RULER_BYTES again and again: they want the loads' ports and the core's own caches
 *
 * Each is the best of EXP_RULER_PIECES pieces of some 5 us, so that an interrupt does no harm; pieces of clock and fma
 * alternate, so that a frequency that falls when wide vectors begin is the same for both. The reading of a timing is
 * the worse one of the two around it. What is off is taken again, EXP_RULER_MOST_AGAIN times at most. `loads` stands
 * before the preparation of a timing and behind its end: it changes what caches hold. `clock` and `fma` touch no
 * memory, so they stand directly beside the timing.
 *
 * What is compared. The frequency of a core wanders, by 30 % in minutes on some machines; all loops and the timing
 * wander with it. So a loop counts as slow only if it is slower than the best of the run by more than
 * EXP_RULER_MOST_PERCENT both in ns and in units of `clock`: in ns alone that would be a lower frequency, in units of
 * `clock` alone a `clock` that was quicker for once. The frequency itself is left to the pairing: the contenders of a
 * round follow each other within seconds, and speed-ups are ratios of their times. (Measured on a virtual machine with
 * neighbours: without them fma / clock stayed within 0.2 % at frequencies 10 % apart; with one it was 1.1 to 1.8 times
 * as much, while steal time was 0.) The best is the lowest value that EXP_RULER_GATHERED_PERCENT of the readings
 * gather at: odd ones are scattered.
 *
 * What the ruler cannot see: a neighbour that comes and goes within one timing, or one that stays as long as the run.
 *
 *     err = exp_ruler_new(&ruler, peak);                       on the thread that measures
 *     exp_ruler_limit(ruler, limit_ns);                        from now on; nothing is taken again afterwards
 *     watch = exp_ruler_watch(ruler);
 *     exp_bench_run(&(struct exp_bench){ ..., .watch = &watch, .mark = mark }, ...);
 *     exp_ruler_report_add(&report, &ruler->best, mark, n);    once for everything that was timed
 *     if (!exp_ruler_is_measured(&report)) ...
 *
 * Who keeps no marks has ruler->kept, which counts as the timings go by. The functions on readings (exp_ruler_best_add
 * and those after it) read no clock.
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
    EXP_RULER_MOST_AGAIN = 8,         /* times that one timing is taken again */
    EXP_RULER_WAIT_MS = 100,          /* that a quiet moment is waited for before each */
    EXP_RULER_MOST_LOST_PERCENT = 10, /* of what was timed may have too few undisturbed rounds */
    EXP_RULER_BINS = 4096,
};

/* Lists the scales that are compared. */
enum exp_ruler_scale {
    EXP_RULER_FMA,
    EXP_RULER_FMA_CYCLES,
    EXP_RULER_LOADS,
    EXP_RULER_LOADS_CYCLES,
    EXP_N_RULER_SCALES
};

/*
 * All readings so far: how many fell into which of the bins, each half a per cent wide. Of loads only those whose fma
 * is not off: a neighbour that slows the clock makes loads look fast.
 */
struct exp_ruler_best {
    uint32_t n[EXP_N_RULER_SCALES];
    uint32_t bin[EXP_N_RULER_SCALES][EXP_RULER_BINS];
};

/* Says how a measurement went. A thing that is timed (a layer by an algorithm) has a timing in each round. */
struct exp_ruler_report {
    size_t n_timings, n_again, n_disturbed; /* timings; those taken again; those disturbed and kept all the same */
    size_t n_things, n_lost;                /* things; those of whose rounds less than half was undisturbed */
    bool limit_ended;                       /* the time limit kept timings from being taken again */
};

struct exp_ruler {
    const struct conv_peak *peak; /* NULL: portable loops */
    float *data;                  /* EXP_RULER_BYTES */
    struct exp_ruler_best best;
    struct exp_ruler_report kept; /* of all turns that exp_bench kept, each judged when it was */
    uint64_t until_ns;            /* by ctr_now_ns */
    struct exp_mark before;
    volatile float sink;
};

/*
 * Makes a ruler for the calling thread. peak may be NULL. Returns 0 or -ENOMEM. *r is NULL, which all functions take
 * for "no ruler", where times are an emulator's.
 */
typedef int exp_ruler_maker(struct exp_ruler **r, const struct conv_peak *peak);
exp_ruler_maker exp_ruler_new;
void exp_ruler_free(struct exp_ruler *r);

/* Returns what exp_bench calls; r stays where it is. Without a ruler use no watch. */
struct exp_watch exp_ruler_watch(struct exp_ruler *r);

/* Read fma, or loads, each with its clock; without a ruler, nothing. For those that time without exp_bench. */
void exp_ruler_read_core(struct exp_ruler *r, struct exp_mark *m);
void exp_ruler_read_loads(struct exp_ruler *r, struct exp_mark *m);

/* Ends what may be taken again after so much time from now. */
void exp_ruler_limit(struct exp_ruler *r, uint64_t limit_ns);

/*
 * Tells whether something disturbed may be taken again, after n_again times; waits for a quiet moment before it says
 * so.
 */
bool exp_ruler_goes_on(struct exp_ruler *r, unsigned n_again);

/* ---- decisions ---- */

/* Returns the worse one of two readings, for each half: that which took more units of its clock. */
struct exp_mark exp_ruler_worse(struct exp_mark a, struct exp_mark b);

/* Adds a reading to those that the best is found among; one that is all 0 is none. */
void exp_ruler_best_add(struct exp_ruler_best *b, const struct exp_mark *m);

/*
 * Returns by how many per cent a reading is off, the worse of its halves; 0 up to EXP_RULER_MOST_PERCENT, and without
 * readings.
 */
double exp_ruler_off(const struct exp_ruler_best *b, const struct exp_mark *m);

/* Adds the marks of one thing that was timed in n rounds, n >= 1. */
void exp_ruler_report_add(struct exp_ruler_report *r, const struct exp_ruler_best *b, const struct exp_mark *mark,
                          size_t n);
void exp_ruler_report_sum(struct exp_ruler_report *sum, const struct exp_ruler_report *x);

/*
 * Tells whether the times are the core's own. A time is the mean of the fastest quarter of the rounds, out of a half at
 * least that is undisturbed: with a quarter, four sweeps gave tuned over Base 1.12 where quiet ones give 1.14 to 1.16.
 * Of what was timed, EXP_RULER_MOST_LOST_PERCENT may lack that.
 */
bool exp_ruler_is_measured(const struct exp_ruler_report *r);

/* Says it: "12 of 200 timings were taken again; 3 were disturbed and kept because the limit ended". No commas. */
void exp_ruler_say(const struct exp_ruler_report *r, char *text, size_t bytes);

/*
 * Gathers what disturbed a measurement, as the system tells it: time that the hypervisor took (steal), time in which
 * the measuring thread was ready and did not run, involuntary context switches, moves to another core, the core's FMA
 * peak before and after, and how far medians lie above the fastest rounds.
 *
 *     exp_disturbance_begin(&d, "/proc", peak);     on the thread that measures
 *     ...
 *     exp_disturbance_end(&d, "/proc", peak);
 *     d.median_percent = ...
 */

/* NaN: the system does not tell, or nobody asked. */
struct exp_disturbance {
    double steal_percent;           /* of the time of all CPUs (/proc/stat) */
    double waited_percent;          /* of the time, ready but not running (/proc/thread-self/schedstat) */
    double switches;                /* involuntary ones (getrusage) */
    double migrations;              /* (/proc/thread-self/sched) */
    double peak_before, peak_after; /* GFLOP/s of the thread's own time */
    double median_percent;          /* that medians are above the fastest; the measurement's to fill in */
    struct exp_disturbance_start {  /* readings at the beginning */
        double steal, cpu_time, waited, switches, migrations;
        uint64_t wall_ns;
    } start;
};

/* Starts to watch. proc is where the system's tables are; peak may be NULL. */
void exp_disturbance_begin(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak);
void exp_disturbance_end(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak);

/* Says all that is known in one line, beginning with "disturbed" or "quiet". */
void exp_disturbance_describe(const struct exp_disturbance *d, char *text, size_t bytes);

/* Tells whether any of it is beyond what a quiet machine shows. */
bool exp_disturbance_is_large(const struct exp_disturbance *d);

#endif
