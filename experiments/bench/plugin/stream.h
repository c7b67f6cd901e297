/* Converts a plug-in's recorded accesses into the simulator's accesses. */
#ifndef EXPERIMENTS_BENCH_PLUGIN_STREAM_H
#define EXPERIMENTS_BENCH_PLUGIN_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "counters/watch/recorder.h"
#include "experiments/bench/plugin/plugin.h"
#include "kernels/shape/tensor.h"
#include "sim/base/access.h"

struct exp_plugin_stream;

/*
 * Makes a stream that hands accesses to sink. The phase is the phase of the last mark. Before any mark, the phase of a
 * block of records is CONV_PHASE_PACK if the code stored to scratch memory, neither the output nor the stack, more often
 * than once in four multiply-adds; else CONV_PHASE_UKR. clock (may be NULL) gets the work of each block after the block's accesses.
 */
struct exp_plugin_stream *exp_plugin_stream_new(struct sim_sink *sink, const struct exp_plugin_clock *clock);
void exp_plugin_stream_free(struct exp_plugin_stream *s);

/* Tells the addresses of tensors and named regions, once and first; all further memory is the workspace. */
void exp_plugin_stream_place(struct exp_plugin_stream *s, const struct conv_recorder *shared);

/* Hands on the records of a block, in order; repeated records become bursts. */
void exp_plugin_stream_block(struct exp_plugin_stream *s, const struct watch_block *b);

/* Returns the stored bytes of a tensor, to check that the recorded run did the work. */
uint64_t exp_plugin_stream_stored(const struct exp_plugin_stream *s, enum conv_tensor tensor);

#endif
