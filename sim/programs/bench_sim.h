/*
 * How fast the simulator is, on three streams that other simulators were measured on too: a GEMM micro-kernel's, an
 * im2col's, and uniformly random loads and stores over 64 MiB.
 */
#ifndef SIM_BENCH_SIM_H
#define SIM_BENCH_SIM_H

#include <stdio.h>

#include "sim/access.h"
#include "sim/machine/machine.h"
#include "sim/stats.h"

/* Another simulator, to compare speed and counts with. */
struct sim_bench_reference {
    const char *name;
    struct sim_sink *sink;
    void *ctx;
    const struct sim_stats *(*stats)(void *ctx);
    void (*clear)(void *ctx);
};

/* The geometry of the published comparisons: 32 KiB / 8, 1 MiB / 16, 11 MiB / 11 ways, 64-byte lines. */
struct sim_machine sim_bench_machine(void);

/*
 * Simulates each stream from empty caches through each interface: single records (record.h), bursts (access.h), and the
 * records with the engine's portable variant. All take turns, n_rounds times; the reference, if there is one, runs once
 * per stream. Writes a table of million accesses per second (medians), spread (slowest over fastest round) and ratios
 * to the reference. One thread; whoever wants it pinned pins before.
 *
 * Returns 0; -EINVAL for a machine that does not validate or needs more than the plain engine; -ENOMEM; -EDOM if two
 * interfaces or the reference disagree in any count, after saying so in the table; -EIO.
 */
int sim_bench(FILE *out, const struct sim_machine *m, const struct sim_bench_reference *reference, unsigned n_rounds);

#endif
