/*
 * Memory accesses as the simulator takes them, and the sinks that take accesses.
 *
 * An access is the touch of memory by a load or store instruction: an address and a width in bytes. The unit of a
 * stream is not the access but the burst: an ordered list of runs, repeated n_times.
 *
 *     for (t = 0; t < n_times; t++)
 *         for (r = 0; r < n_runs; r++)
 *             for (i = 0; i < run[r].count; i++)
 *                 access(run[r].addr + t * run[r].step_bytes + i * run[r].stride_bytes, run[r].access_bytes)
 *
 * Kernels have this shape: a micro-kernel's k loop is a single burst, a load of the input panel, then n_f broadcasts of
 * the filter panel, repeated k times. So a burst of a few dozen bytes stands for thousands of accesses.
 *
 * Address arithmetic wraps, and addresses count modulo 2^SIM_ADDRESS_BITS: more than the 57 bits of any CPU's virtual
 * addresses, and few enough to leave room beside a line number in a word of the simulator.
 *
 * Tags and phases are small numbers. The caller gives the numbers a meaning (a tensor, a part of the algorithm); the
 * simulator only keeps its counts apart by tag and phase. A simulation is made for a number of tags: few tags fit
 * beside a line's number in half a word, and the simulation is fastest (hierarchy.h).
 */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The kind of an access. The last two kinds have an effect only on machines with the key (machine.h):
 *
 *   SIM_PREFETCH   a prefetch instruction: asks for the covered lines without waiting for them. A machine without
 *                  software_prefetch ignores the instruction, whatever the instruction covers
 *   SIM_STORE_NT   a non-temporal store: goes past the caches through write-combining buffers. On a machine without
 *                  combining_buffers the store is an ordinary store
 */
enum sim_kind {
    SIM_LOAD,
    SIM_STORE,
    SIM_PREFETCH,
    SIM_STORE_NT,
    SIM_N_KINDS,
};

enum {
    SIM_MAX_TAGS = 64,
    SIM_USUAL_TAGS = 8, /* tags that a simulation tells apart unless the caller asks for more */
    SIM_MAX_PHASES = 8,
    SIM_MAX_BURST_RUNS = 64, /* no burst holds more runs than this */
    SIM_ADDRESS_BITS = 58,
};

struct sim_run {
    uint64_t addr;         /* byte address of the first access of the first repetition */
    int64_t stride_bytes;  /* between neighbouring accesses of a repetition; any sign, may be 0 */
    int64_t step_bytes;    /* between neighbouring repetitions; any sign, may be 0 */
    uint32_t count;        /* accesses per repetition; 0 makes the run empty */
    uint32_t access_bytes; /* width of each access, at least 1; an access may straddle lines */
    uint8_t kind;          /* enum sim_kind */
    uint8_t tag;           /* below the simulation's number of tags, SIM_MAX_TAGS at most */
    uint8_t phase;         /* < SIM_MAX_PHASES */
};

/*
 * A consumer of bursts: the simulator, a trace writer, a test that counts. Embed the sink as a member and recover the
 * enclosing object in accept(). run[] belongs to the caller and may change after accept() returns.
 */
struct sim_sink {
    void (*accept)(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times);
};

static inline void sim_emit(struct sim_sink *sink, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    sink->accept(sink, run, n_runs, n_times);
}

#endif
