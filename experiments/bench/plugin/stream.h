/* Converts a plug-in's recorded accesses into the simulator's accesses. */
#ifndef EXPERIMENTS_BENCH_PLUGIN_STREAM_H
#define EXPERIMENTS_BENCH_PLUGIN_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "counters/watch/recorder.h"
#include "kernels/shape/tensor.h"
#include "sim/base/access.h"

struct exp_plugin_stream;

/* Makes a stream, in phase CONV_PHASE_UKR, that hands accesses to sink. */
struct exp_plugin_stream *exp_plugin_stream_new(struct sim_sink *sink);
void exp_plugin_stream_free(struct exp_plugin_stream *s);

/* Tells the addresses of tensors and named regions, once and first; all further memory is the workspace. */
void exp_plugin_stream_place(struct exp_plugin_stream *s, const struct conv_recorder *shared);

/* Hands on records [n <= WATCH_RING_RECORDS], in order; repeated records become bursts. */
void exp_plugin_stream_records(struct exp_plugin_stream *s, const uint64_t *record, size_t n);

/* Returns the stored bytes of a tensor, to check that the recorded run did the work. */
uint64_t exp_plugin_stream_stored(const struct exp_plugin_stream *s, enum conv_tensor tensor);

#endif
