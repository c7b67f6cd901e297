/* Accesses of a plug-in as they were recorded, made into those that the simulator takes. */
#ifndef EXPERIMENTS_BENCH_PLUGIN_STREAM_H
#define EXPERIMENTS_BENCH_PLUGIN_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "counters/watch/recorder.h"
#include "kernels/shape/tensor.h"
#include "sim/base/access.h"

struct exp_plugin_stream;

/* Begins one, of phase CONV_PHASE_UKR, which hands accesses to sink. */
struct exp_plugin_stream *exp_plugin_stream_new(struct sim_sink *sink);
void exp_plugin_stream_free(struct exp_plugin_stream *s);

/* Tells where tensors and named regions are, once and first; all other memory is the workspace. */
void exp_plugin_stream_place(struct exp_plugin_stream *s, const struct conv_recorder *shared);

/* Hands on records [n <= WATCH_RING_RECORDS], in their order; what repeats itself becomes bursts. */
void exp_plugin_stream_records(struct exp_plugin_stream *s, const uint64_t *record, size_t n);

/* Returns how many bytes of a tensor were stored, to see that a plug-in did its work where it was seen. */
uint64_t exp_plugin_stream_stored(const struct exp_plugin_stream *s, enum conv_tensor tensor);

#endif
