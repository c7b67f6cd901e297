/*
 * Writes a file in Chrome's trace event format, for chrome://tracing and Perfetto: rows of times, counters, and texts
 * about both. JSON values are Jansson's; each function takes over the reference of its argument.
 */
#ifndef EXPERIMENTS_SHOW_TRACE_EVENTS_H
#define EXPERIMENTS_SHOW_TRACE_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct exp_trace {
    FILE *out;
    size_t n; /* events so far */
    bool failed;
};

/* A row of a viewer: a process, from 1, and a thread of the process; thread numbers are unique among all processes. */
struct exp_trace_row {
    size_t process, thread;
};

/* ---- values; where there is no memory, the program ends ---- */

json_t *exp_trace_made(json_t *value); /* the value, which is not NULL */
void exp_trace_set(json_t *object, const char *key, json_t *value);
void exp_trace_append(json_t *array, json_t *value);
json_t *exp_trace_text(const char *s); /* '?' stands for non-ASCII characters, if the text is not UTF-8 */
json_t *exp_trace_number(uint64_t n);
json_t *exp_trace_digits(uint64_t n); /* a number as a text, as ONNX Runtime writes numbers */
json_t *exp_trace_numbers(const size_t *n, size_t count);

/* ---- events ---- */

/* Names a process ("process_name") or a thread ("thread_name"). */
void exp_trace_put_name(struct exp_trace *t, const char *kind, const char *name, struct exp_trace_row row);

/* Puts an event of `us` microseconds, and moves the time behind the event. */
void exp_trace_put_time(struct exp_trace *t, const char *name, struct exp_trace_row row, double *at_us, double us,
                        json_t *args);

/* Puts counters, whose names and values are args. */
void exp_trace_put_counter(struct exp_trace *t, struct exp_trace_row row, const char *algo, const char *what,
                           double at_us, json_t *args);

/* ---- the file ---- */

void exp_trace_begin(struct exp_trace *t, FILE *out);

/* Ends the file with the texts about all events. Returns 0 or -EIO. */
int exp_trace_end(struct exp_trace *t, json_t *other);

#endif
