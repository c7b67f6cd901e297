/*
 * The simulator's speed, by stream and interface, beside the naive model of the tests: simbench [ROUNDS [NAIVE]].
 * NAIVE = 0 leaves the naive model out.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/programs/bench_sim.h"
#include "sim/cpu.h"
#include "tests/sim/sim_naive.h"

static const struct sim_stats *naive_stats(void *ctx)
{
    return sim_naive_stats(ctx);
}

static void naive_clear(void *ctx)
{
    sim_naive_clear(ctx);
}

int main(int argc, char **argv)
{
    unsigned n_rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 9;
    bool has_naive = argc < 3 || strcmp(argv[2], "0");
    const struct sim_machine m = sim_bench_machine();
    struct sim_naive *naive = has_naive ? sim_naive_new(&m) : NULL;
    struct sim_bench_reference reference = { "naive", NULL, naive, naive_stats, naive_clear };
    char why[160];
    int err;

    if (sim_cpu_check_limit(why, sizeof why)) {
        fprintf(stderr, "simbench: %s\n", why);
        return 2;
    }
    if (has_naive && !naive) {
        fprintf(stderr, "simbench: out of memory\n");
        return EXIT_FAILURE;
    }
    if (naive)
        reference.sink = sim_naive_sink(naive);
    printf("simulator, %s, LRU, 64-byte lines, one core, processor time, median of %u\n", m.name, n_rounds);
    err = sim_bench(stdout, &m, naive ? &reference : NULL, n_rounds);
    sim_naive_free(naive);
    if (err)
        fprintf(stderr, "simbench: %s\n", err == -EDOM ? "counts differ" : strerror(-err));
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
