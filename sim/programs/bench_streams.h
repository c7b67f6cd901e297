/* The streams of the simulator's benchmark, each as bursts and as equal records. */
#ifndef SIM_BENCH_STREAMS_H
#define SIM_BENCH_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/access.h"

enum { BENCH_MAX_RUNS = 2 };

struct bench_burst {
    struct sim_run run[BENCH_MAX_RUNS];
    size_t n_runs;
    uint64_t n_times;
};

struct bench_stream {
    const char *name;
    struct bench_burst *burst;
    uint64_t *record;
    size_t n_bursts, n_records;
};

/* The name of the i-th stream; NULL after the last. */
const char *bench_stream_name(size_t i);

/* Makes room for any stream. Returns 0 or -ENOMEM; either way bench_stream_release() may follow. */
int bench_stream_init(struct bench_stream *s);
void bench_stream_release(struct bench_stream *s);

/* Fills the stream with the i-th. */
void bench_stream_fill(struct bench_stream *s, size_t i);

#endif
