/*
 * Progress for the person who waits:
 *
 *     [ 3/13] conv2_1  timing sconv_ws  12 s elapsed, about 40 s left
 *
 * On a terminal it is one line that rewrites itself, at most ten times a second; elsewhere (a log file) one plain line
 * when a layer begins, and nothing for its steps. The estimate compares the weight done with the weight of all; it
 * appears when it has something to stand on (two seconds, or a twentieth of the work). Thread-safe.
 */
#ifndef EXPERIMENTS_EXP_PROGRESS_H
#define EXPERIMENTS_EXP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct exp_progress;

/* Whether a stream is a terminal that can rewrite a line (TERM=dumb cannot). */
bool exp_progress_is_terminal(FILE *out);

/*
 * Starts the clock. total_weight is the sum of all weights that exp_progress_step will report, in any unit that goes
 * with time (multiply-adds, say); 0 means no estimates. Returns 0 or -ENOMEM.
 */
int exp_progress_new(struct exp_progress **p, FILE *out, bool is_terminal, size_t n_layers, double total_weight,
                     uint64_t (*now_ns)(void));

/* Layer number `layer` (from 1) now does `step`, e.g. "timing sconv_ws". Strings are copied. */
void exp_progress_begin(struct exp_progress *p, size_t layer, const char *name, const char *step);

/* A part of the work is done. */
void exp_progress_step(struct exp_progress *p, double weight);

/* Prints a line of its own, above the progress line. */
void exp_progress_note(struct exp_progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Clears the progress line and frees. p may be NULL. */
void exp_progress_free(struct exp_progress *p);

#endif
