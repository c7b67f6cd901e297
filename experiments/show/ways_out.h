/*
 * An experiment in the formats of other programs' viewers. Both files say what layers.csv and traffic.csv say.
 */
#ifndef EXPERIMENTS_SHOW_WAYS_OUT_H
#define EXPERIMENTS_SHOW_WAYS_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "experiments/base/error.h"
#include "experiments/base/outdir.h"
#include "experiments/show/report.h"

#define EXP_TRACE_FILE "trace.json"
#define EXP_CALLGRIND_FILE "callgrind.out." /* and the algorithm */

/*
 * Writes trace.json, in Chrome's trace event format, which chrome://tracing and Perfetto open. Each process is a source
 * of times, each thread an algorithm, each event a phase of a layer:
 *   estimated   the cycles that layers.csv estimates if all loads wait, at the machine's clock; load misses and
 *               memory's lines of each layer are counters beside them
 *   measured    a layer's time, divided as the phases of its run step by step were; whole where that is not known
 * "otherData" says why a process is missing, and what of it is. Returns 0, or -errno with one line in why.
 */
int exp_trace_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/*
 * Writes callgrind.out.<algorithm> for each algorithm of which a layer was replayed, for callgrind_annotate and
 * KCachegrind. The model calls its layers, each of them a function for every phase and tensor, which has the costs; the
 * objects are the tensors, and the source is the layer table. Returns 0, or -errno with one line in why.
 */
int exp_callgrind_write(const struct exp_report *r, const struct exp_outdir *dir, struct exp_why *why);

/* Tells whether the second has written a file for an algorithm of the experiment, the i-th one. */
bool exp_callgrind_has(const struct exp_experiment *e, size_t i);

#endif
