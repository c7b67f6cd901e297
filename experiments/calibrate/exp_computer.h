/*
 * A computer as a calibration sees it: what it can be made to do, and how long that takes. exp_computer_native is the
 * one that this runs on; tests make others up.
 */
#ifndef EXPERIMENTS_EXP_COMPUTER_H
#define EXPERIMENTS_EXP_COMPUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/host/ctr_pages.h"
#include "counters/perf/ctr_stream.h"
#include "experiments/base/exp_error.h"

/*
 * One look for one line. The ground from flush_first to flush_end is flushed, other pages are touched so that
 * prefetchers forget, the offsets are loaded, each load waiting for the one before and gap_ticks more, sweep_bytes of
 * other memory are read, and one load of the probed byte is timed.
 */
struct exp_look {
    const uint64_t *offset; /* [n] into the ground */
    size_t n;
    uint64_t flush_first, flush_end;
    uint64_t probed;
    uint64_t gap_ticks;
    size_t sweep_bytes;
    uint32_t seed; /* which other pages */
};

enum { EXP_GROUND_BYTES = 2 << 20 };

/*
 * Lines in random order, step_bytes apart as they lie, each holding the address of the next: every load waits for the
 * one before. First all are loaded; then they are flushed, or sweep_bytes of other memory are read, or neither; then
 * n_loads are timed, each of another line if n_loads is not more than n_lines.
 */
struct exp_ring {
    size_t n_lines, step_bytes, sweep_bytes, n_loads;
    bool is_flushed;
};

struct exp_computer {
    void *context;

    /* The ticks that the load took; what reading the clock costs is taken off. */
    double (*look)(void *context, const struct exp_look *l);

    /* The nanoseconds of a load of a ring. */
    double (*chase)(void *context, const struct exp_ring *r);

    /* Bytes per nanosecond of a loop over a working set; flushed: once, its lines come from memory. */
    double (*stream)(void *context, const struct ctr_stream *s, size_t bytes, bool flushed);

    /* The core's clock now, in GHz; 0 if nothing tells. */
    double (*clock)(void *context);
};

struct exp_native {
    struct exp_computer computer;
    struct ctr_pages ground, others, set; /* walked; to forget by, and to sweep; of the chase and the streams */
    double overhead_ticks, overhead_ns, ticks_per_ns;
};

/*
 * This computer, for working sets of up to set_bytes and sweeps of up to sweep_bytes. n must not move. Returns 0, or
 * -errno with one line in why: -ENOTSUP if this CPU family cannot flush lines or has no clock that is fine enough, or
 * this is an emulator; -ENOMEM.
 */
int exp_native_init(struct exp_native *n, size_t set_bytes, size_t sweep_bytes, struct exp_why *why);
void exp_native_release(struct exp_native *n); /* one that is all zeros is fine */

/* Says in words what its memory is made of: "2 MiB pages". */
void exp_native_describe_pages(const struct exp_native *n, char *text, size_t bytes);

#endif
