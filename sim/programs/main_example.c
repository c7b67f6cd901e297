/*
 * How often does summing a 512 x 512 matrix of floats by columns, then by rows, miss the caches of this computer?
 *
 * To feed a loop nest of your own, replace its innermost loop by the loop's accesses, in the order of its instructions.
 * A matrix product's dot product, for (k = 0; k < K; k++) sum += A[i][k] * B[k][j], is two runs of a single access,
 * which advance by their step in each of K repetitions:
 *
 *     struct sim_run body[] = {
 *         { .addr = (uintptr_t)&A[i][0], .step_bytes = sizeof(float),     .count = 1, .access_bytes = 4, .tag = 0 },
 *         { .addr = (uintptr_t)&B[0][j], .step_bytes = N * sizeof(float), .count = 1, .access_bytes = 4, .tag = 1 },
 *     };
 *     sim_emit(sink, body, 2, K);
 *
 * A value in a register is no access. Addresses need not exist: 0x10000000 + i * 4 does as well as a pointer, and
 * repeats from run to run. The longer a burst, the cheaper an access: repetitions within the touched lines are
 * multiplied, not simulated. To see the accesses of a nest, send them to the writer of trace/trace.h.
 */
#include <stdio.h>

#include "sim/hierarchy.h"

int main(void)
{
    static float matrix[512][512];
    struct sim_machine machine;
    struct sim_hierarchy *caches;
    char why[256] = "out of memory";

    if (sim_machine_host(&machine, why, sizeof why) || sim_hierarchy_new(&caches, &machine))
        return fprintf(stderr, "example: %s\n", why), 1;
    for (int i = 0; i < 512; i++) {
        struct sim_run column = { (uintptr_t)&matrix[0][i], sizeof matrix[0], 0, 512, sizeof(float), SIM_LOAD, 0, 0 };
        sim_emit(sim_hierarchy_sink(caches), &column, 1, 1);
    }
    for (int i = 0; i < 512; i++) {
        struct sim_run row = { (uintptr_t)matrix[i], sizeof(float), 0, 512, sizeof(float), SIM_LOAD, 1, 0 };
        sim_emit(sim_hierarchy_sink(caches), &row, 1, 1);
    }
    for (unsigned tag = 0; tag < 2; tag++) {
        struct sim_cell c = sim_stats_tag(sim_hierarchy_stats(caches), tag);
        printf("%s: %llu loads", tag ? "rows" : "columns", (unsigned long long)c.loads);
        for (size_t k = 0; k < machine.n_levels; k++)
            printf(", %llu miss %s", (unsigned long long)c.level[k].load_misses, machine.level[k].name);
        printf("\n");
    }
    sim_hierarchy_free(caches);
    return 0;
}
