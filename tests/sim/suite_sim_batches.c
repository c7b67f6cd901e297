/* Bursts of any reach, and batches of any size: the plain engine, on threads or not, against the full engine. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/record.h"
#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "tests/rng.h"
#include "tests/sim/machine_file.h"
#include "tests/suites.h"

static struct sim_machine machine(uint64_t n_sets)
{
    return (struct sim_machine){
        .name = "m",
        .n_levels = 2,
        .level = { LEVEL("L1", "lru", n_sets, 4, 64, 1), LEVEL("L2", "lru", 4 * n_sets, 8, 64, 9) },
        .memory_latency_cycles = 100,
    };
}

static bool count_the_same(struct sim_hierarchy *a, struct sim_hierarchy *b)
{
    const struct sim_cell x = sim_stats_total(sim_hierarchy_stats(a)), y = sim_stats_total(sim_hierarchy_stats(b));

    return !memcmp(&x, &y, sizeof x);
}

/* Distances around all limits: of lines, of regions, of addresses, of 64 bits. */
static int64_t any_distance(void)
{
    static const int64_t base[] = { 0,
                                    64,
                                    4096,
                                    (int64_t)1 << 31,
                                    (int64_t)1 << 56,
                                    (int64_t)1 << 57,
                                    (int64_t)1 << 58,
                                    (int64_t)1 << 62,
                                    INT64_MAX - 8,
                                    INT64_MIN + 8 };
    const int64_t distance = base[rng_below(COUNT(base))] + rng_range(-8, 8);

    return rng_below(2) ? distance : (int64_t) - (uint64_t)distance;
}

static void bursts_of_any_reach_count_as_in_the_full_engine(void)
{
    for (unsigned round = 0; round < test_rounds(60); round++) {
        const struct sim_machine m = machine((uint64_t)1 << rng_below(8));
        struct sim_hierarchy *plain, *full;

        CU_ASSERT_FATAL(!sim_engine_new(&plain, &sim_engine_plain, &m) && !sim_engine_new(&full, &sim_engine_full, &m));
        for (unsigned i = 0; i < 40; i++) {
            struct sim_run run[3];
            const size_t n = 1 + (size_t)rng_below(COUNT(run));
            const uint64_t times = 1 + rng_below(4);

            for (size_t k = 0; k < n; k++)
                run[k] = (struct sim_run){ .addr = rng_u64() >> rng_below(60),
                                           .stride_bytes = any_distance(),
                                           .step_bytes = any_distance(),
                                           .count = (uint32_t)rng_below(4),
                                           .access_bytes = 1 + (uint32_t)rng_below(100),
                                           .kind = (uint8_t)rng_below(SIM_N_KINDS) };
            sim_emit(sim_hierarchy_sink(plain), run, n, times);
            sim_emit(sim_hierarchy_sink(full), run, n, times);
            if (!test_check(count_the_same(plain, full), "round %u, burst %u differs", round, i))
                break;
        }
        sim_hierarchy_free(plain);
        sim_hierarchy_free(full);
    }
}

/* Single accesses to random regions: the compact words of the engine soon have no room for all regions. */
static void accesses_anywhere_count_as_in_the_full_engine(void)
{
    const struct sim_machine m = machine(16);
    struct sim_hierarchy *plain, *full;

    CU_ASSERT_FATAL(!sim_engine_new(&plain, &sim_engine_plain, &m) && !sim_engine_new(&full, &sim_engine_full, &m));
    for (unsigned i = 0; i < 3000; i++) {
        const struct sim_run run = { .addr = rng_u64(), .count = 1, .access_bytes = 8, .kind = (uint8_t)rng_below(2) };

        sim_emit(sim_hierarchy_sink(plain), &run, 1, 1);
        sim_emit(sim_hierarchy_sink(full), &run, 1, 1);
    }
    CU_ASSERT(count_the_same(plain, full));
    sim_hierarchy_free(plain);
    sim_hierarchy_free(full);
}

/* ---- threads ---- */

static void burst(struct sim_hierarchy *h[2], const struct sim_run *run, size_t n, uint64_t times)
{
    for (unsigned i = 0; i < 2; i++)
        sim_emit(sim_hierarchy_sink(h[i]), run, n, times);
}

/* More bursts, more runs, more repetitions, more accesses than a batch holds; nothing at all; and records. */
static void batches_may_have_any_size(void)
{
    enum { RUNS = 8, RECORDS = 300000 };
    const struct sim_machine m = machine(1024);
    const struct sim_run small = { .addr = 1 << 20, .stride_bytes = 64, .count = 3, .access_bytes = 8 };
    struct sim_run many[RUNS], most = { .stride_bytes = 8, .count = 4500000, .access_bytes = 8 }, none = small;
    uint64_t *record = malloc(RECORDS * sizeof *record);
    struct sim_hierarchy *h[2];

    CU_ASSERT_FATAL(record && !sim_hierarchy_new_threads(&h[0], &m, 16) && !sim_hierarchy_new(&h[1], &m));
    for (unsigned i = 0; i < RUNS; i++)
        many[i] =
            (struct sim_run){ .addr = i << 16, .stride_bytes = 4, .step_bytes = 640, .count = 2, .access_bytes = 4 };
    none.count = 0;
    burst(h, &none, 1, 5);
    for (unsigned i = 0; i < 5000; i++)
        burst(h, &small, 1, 1);
    CU_ASSERT(count_the_same(h[0], h[1]));
    for (unsigned i = 0; i < 1200; i++)
        burst(h, many, RUNS, 2);
    burst(h, many, RUNS, 40000);
    burst(h, &small, 1, 1);
    CU_ASSERT(count_the_same(h[0], h[1]));
    burst(h, &most, 1, 1); /* more accesses than a batch: in pieces */
    most.count = 2500000;
    burst(h, &most, 1, 1);
    burst(h, &most, 1, 1);
    CU_ASSERT(count_the_same(h[0], h[1]));
    for (unsigned i = 0; i < RECORDS; i++)
        record[i] = sim_record(rng_below(1 << 22), 8, rng_below(2) ? SIM_LOAD : SIM_STORE, 0, 0);
    for (unsigned i = 0; i < 2; i++)
        sim_hierarchy_records(h[i], record, RECORDS);
    CU_ASSERT(count_the_same(h[0], h[1]) && !sim_hierarchy_error(h[0]));
    for (unsigned i = 0; i < 2; i++) {
        sim_hierarchy_clear_stats(h[i]);
        CU_ASSERT(sim_stats_total(sim_hierarchy_stats(h[i])).loads == 0);
    }
    burst(h, &small, 1, 3);
    CU_ASSERT(count_the_same(h[0], h[1]) && sim_stats_total(sim_hierarchy_stats(h[0])).loads == 9);
    for (unsigned i = 0; i < 2; i++)
        sim_hierarchy_clear(h[i]);
    burst(h, &small, 1, 1);
    CU_ASSERT(count_the_same(h[0], h[1]) && sim_stats_total(sim_hierarchy_stats(h[0])).memory_read_lines == 3);
    for (unsigned i = 0; i < 2; i++)
        sim_hierarchy_free(h[i]);
    free(record);
}

static const struct test_case cases[] = {
    { "bursts of any reach count as in the full engine", bursts_of_any_reach_count_as_in_the_full_engine },
    { "accesses anywhere count as in the full engine", accesses_anywhere_count_as_in_the_full_engine },
    { "batches may have any size", batches_may_have_any_size },
    { NULL, NULL },
};

const struct test_suite suite_sim_batches = { "sim_batches", cases };
