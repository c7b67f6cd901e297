/*
 * Progress for the person who waits:
 *
 *     [ 42 %] conv2_1  replaying  12 s elapsed, about 17 s left
 *
 * On a terminal it is one line that rewrites itself, at most ten times a second; elsewhere (a log file) a plain line
 * when another kind of work begins and every ten seconds. The percentage is of the time and never falls.
 *
 * The estimate. Each kind of work announces how many seconds it would take on a usual computer, and says what of these
 * is done. How long such a second really takes is learned, kind by kind, as the work goes on: the time spent on the
 * kind, over what is done of it, with the guess as if 2 % had been done at its pace. The guess for a kind that has not
 * begun is the pace of all that is done. The estimate appears when it has something to stand on (two seconds, or a
 * twentieth of the work); beyond two minutes, with the time of day when it ends. Thread-safe.
 */
#ifndef EXPERIMENTS_BASE_PROGRESS_H
#define EXPERIMENTS_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Kinds of work; of one kind at a time, though maybe on several threads. */
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
 * Starts the clock. seconds[] is what exp_progress_step will report in all, per kind of work; NULL means no estimates.
 */
struct exp_progress *exp_progress_new(FILE *out, bool is_terminal, const double seconds[EXP_N_WORKS],
                                      uint64_t (*now_ns)(void));

/*
 * Prints what is due by itself from now on, twice a second, on a thread of its own that takes no signals: however long
 * a piece of work is, the line lives. Without it, or where no thread starts, what is due is printed when something is
 * reported.
 */
void exp_progress_live(struct exp_progress *p);

/*
 * Says what is worked on now: something of this kind, a layer say, and what is done to it, "replaying". Strings are
 * copied.
 */
void exp_progress_begin(struct exp_progress *p, enum exp_work work, const char *name, const char *step);

/* Says that so many of the announced seconds are done. */
void exp_progress_step(struct exp_progress *p, enum exp_work work, double seconds);

/* Says that so many of the announced seconds will not be needed. */
void exp_progress_drop(struct exp_progress *p, enum exp_work work, double seconds);

/* Says that this kind of work ends after so many real seconds from now, however much of it is left. */
void exp_progress_limit(struct exp_progress *p, enum exp_work work, double seconds);

/* Returns the seconds left by the estimate; a negative number if there is nothing to go by. */
double exp_progress_left(struct exp_progress *p);

/* Prints a line of its own, above the progress line. */
void exp_progress_note(struct exp_progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Clears the progress line and frees. p may be NULL. */
void exp_progress_free(struct exp_progress *p);

/* Sums up what is announced of many layers (or traces), and which of them asks for most. */
struct exp_forecast {
    double seconds, most;
    const char *name; /* of the one that asks for most; kept by the caller */
};

void exp_forecast_add(struct exp_forecast *f, const char *name, const double seconds[EXP_N_WORKS]);

/* Prints one line before work that takes ten minutes or more on a usual computer; nothing for less. */
void exp_forecast_print(const struct exp_forecast *f, FILE *out);

#endif
