/* An experiment in the formats of two viewers. Both files have the numbers of layers.csv and traffic.csv. */
#ifndef EXPERIMENTS_SHOW_WAYS_OUT_H
#define EXPERIMENTS_SHOW_WAYS_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/show/report.h"

#define EXP_TRACE_FILE "trace.json"
#define EXP_CALLGRIND_FILE "callgrind.out." /* followed by the algorithm */

/*
 * Writes trace.json, in Chrome's trace event format, for chrome://tracing and Perfetto. Each process is a source of
 * times, each thread an algorithm, each event a phase of a layer:
 *   estimated   the cycles that layers.csv estimates if all loads wait, at the machine's clock; load misses and
 *               memory's lines of each layer are counters beside the events
 *   measured    a layer's time, divided by the phases of the step-by-step run; whole without phases
 * "otherData" says why a process or a part of a process is missing. Returns 0, or -errno with one line in why.
 */
int exp_trace_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/*
 * Writes callgrind.out.<algorithm> for each algorithm with a replayed layer, for callgrind_annotate and KCachegrind.
 * The model calls the layers; a layer has a function for every phase and tensor, which has the costs; the objects are
 * the tensors, and the source is the layer table. Returns 0, or -errno with one line in why.
 */
int exp_callgrind_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Tells whether exp_callgrind_write has written a file for the i-th algorithm of the experiment. */
bool exp_callgrind_has(const struct exp_experiment *e, size_t i);

#endif
