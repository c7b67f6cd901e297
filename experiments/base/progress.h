/*
 * Progress for the person who waits:
 *
 *     [ 42 %] conv2_1  replaying  12 s elapsed, about 17 s left
 *
 * On a terminal the progress is one line, rewritten at most ten times a second; elsewhere (a log file) a plain line
 * at the start, and after 20 s, 60 s, 180 s, ..., at least every ten minutes; and no sooner in the last 5 s, as
 * estimated. The percentage is of the time and never falls.
 *
 * The estimate. Each kind of work announces its seconds on a usual computer, and reports the finished part of the
 * announced seconds. The progress learns the real length of an announced second, kind by kind: the time spent on the
 * kind, divided by the finished part; the guess counts as 2 % of the work done at the guessed pace. The guess for a
 * kind that has not begun is the pace of all finished work. The estimate appears after two seconds or a twentieth of
 * the work; beyond two minutes, with the time of day of the end. Thread-safe.
 */
#ifndef EXPERIMENTS_BASE_PROGRESS_H
#define EXPERIMENTS_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Kinds of work; one kind at a time, perhaps on several threads. */
enum exp_work {
    EXP_WORK_VERIFY,
    EXP_WORK_ROUNDS,
    EXP_WORK_PHASES,
    EXP_WORK_REPLAY,
    EXP_WORK_OBSERVE,
    EXP_WORK_ANALYSE,
    EXP_N_WORKS
};

struct exp_progress;

/* Tells whether a stream is a terminal that can rewrite a line (TERM=dumb cannot). */
bool exp_progress_is_terminal(FILE *out);

/*
 * Starts the clock. seconds[] is the sum of all later reports of exp_progress_step, per kind of work; NULL means no
 * estimates.
 */
struct exp_progress *exp_progress_new(FILE *out, bool is_terminal, const double seconds[EXP_N_WORKS],
                                      uint64_t (*now_ns)(void));

/*
 * Prints due lines from now on, twice a second, on a thread that takes no signals, however long a piece of work is.
 * Without this function, or where no thread starts, a due line is printed at the next report.
 */
void exp_progress_live(struct exp_progress *p);

/*
 * The next functions, up to exp_progress_drop, do nothing without a progress (NULL): work inside of other work reports nothing itself.
 *
 * Names the present work: an object of this kind, for example a layer, and the step, "replaying". Strings are copied.
 */
void exp_progress_begin(struct exp_progress *p, enum exp_work work, const char *name, const char *step);

/* Shows first results in the line of a terminal, in place of object and step; elsewhere nothing. "": none. */
void exp_progress_so_far(struct exp_progress *p, const char *text);

/* Reports that `seconds` of the announced seconds are done. */
void exp_progress_step(struct exp_progress *p, enum exp_work work, double seconds);

/* Reports that `seconds` of the announced seconds are not needed. */
void exp_progress_drop(struct exp_progress *p, enum exp_work work, double seconds);

/*
 * Reports that this kind of work ends after `seconds` real seconds from now, finished or not. But the next `least` of
 * the announced seconds are done in any case.
 */
void exp_progress_limit(struct exp_progress *p, enum exp_work work, double seconds, double least);

/* Returns the estimated seconds left; a negative number without an estimate. */
double exp_progress_left(struct exp_progress *p);

/* Prints a line of its own, above the progress line. */
void exp_progress_note(struct exp_progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Clears the progress line and frees. p may be NULL. */
void exp_progress_free(struct exp_progress *p);

/* The announced seconds of many layers (or traces), and the most expensive layer. */
struct exp_forecast {
    double seconds, most;
    const char *name; /* of the most expensive one; kept by the caller */
};

void exp_forecast_add(struct exp_forecast *f, const char *name, const double seconds[EXP_N_WORKS]);

/* Prints one line before work of ten minutes or more on a usual computer; nothing before shorter work. */
void exp_forecast_print(const struct exp_forecast *f, FILE *out);

#endif
